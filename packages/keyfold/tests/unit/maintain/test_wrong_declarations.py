"""A structure that could never be right is refused where it is declared, in words."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Normalised,
    On,
    Unique,
    each,
    merge,
)
from keyfold.errors import DeclarationError, PlanError
from keyfold.maintain import rebuild, repair, verify
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.structures import Cascade, Latest


def declare(counter: Any, default: Any = 0) -> None:
    """A room that counts its messages in this way."""
    design = Design("rooms")
    table = design.table("rooms")
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {"room_id": Id, "number": Annotated[int, counter]},
        "key": Key("ROOM#{room_id}", "ROOM"),
    }
    if default is not ...:
        namespace["number"] = default
    meta: Any = type(Entity)
    meta("Room", (Entity,), namespace, table=table)

    class Message(Entity, table=table):
        room_id: Id
        message_id: Id
        key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")

    design.complete()


def test_a_counter_begins_with_nothing() -> None:
    declare(Counter("Message"))
    with pytest.raises(DeclarationError, match=r"has the default 5.*Give it the default 0"):
        declare(Counter("Message"), 5)
    with pytest.raises(DeclarationError, match=r"has no default.*Give it the default 0"):
        declare(Counter("Message"), ...)


def test_a_counter_maps_only_fields_of_its_holders_key() -> None:
    with pytest.raises(DeclarationError, match=r"room is not in the key of Room.*room_id"):
        declare(Counter("Message", via={"room": "room_id"}))


def test_the_number_of_shards_is_a_whole_number() -> None:
    shards: Any = "8"
    with pytest.raises(DeclarationError, match="shards must be at least 1, not '8'"):
        Counter("Message", shards=shards)


def test_a_condition_is_a_function_of_one_item() -> None:
    two: Any = lambda item, other: item.room_id == other  # noqa: E731
    with pytest.raises(DeclarationError, match=r"is not a condition.*where=lambda item"):
        declare(Counter("Message", where=two))


def test_a_set_is_no_unique_value() -> None:
    table = Design("tags").table("tags")
    with pytest.raises(DeclarationError, match="tags, which is of kind string_set"):

        class Tagged(Entity, table=table):
            tagged_id: Id
            tags: set[str]
            key = Key("TAGGED#{tagged_id}", "TAGGED")
            one = Unique("tags")


def test_what_is_shown_is_of_the_kind_that_shows_it() -> None:
    design = Design("chat")
    table = design.table("chat")

    class Room(Entity, table=table):
        room_id: Id
        last: int | None = None
        moves: int = 0
        key = Key("ROOM#{room_id}", "ROOM")
        latest = Latest("Message", by="message_id", shows={"last": "message_id"}, moves="moves")

    class Message(Entity, table=table):
        room_id: Id
        message_id: Id
        key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")

    with pytest.raises(DeclarationError, match="last is of kind integer, and shows message_id"):
        design.complete()
    shows: Any = ["last"]
    with pytest.raises(DeclarationError, match="names no field of the owner"):
        Latest("Message", by="message_id", shows=shows, moves="moves")


def shelves(**options: Any) -> list[str]:
    """The labels of what follows from a shelf that takes its books with it in this way."""
    design = Design("shelves")
    indexes = [Index("GSI1", "gsi1pk", "gsi1sk"), Index("GSI2", "gsi2pk", "gsi2sk")]
    table = design.table("shelves", indexes=indexes)

    class Shelf(Entity, table=table):
        shelf_id: Id
        key = Key("SHELF#{shelf_id}", "SHELF")
        books = Cascade("Book", **options)

    class Book(Entity, table=table):
        book_id: Id
        shelf_id: Id
        place: str
        key = Key("BOOK#{book_id}", "BOOK")
        by_shelf = On("GSI1", "SHELF#{shelf_id}", "BOOK#{book_id}")
        by_place = On("GSI2", "PLACE#{place}", "BOOK#{book_id}")

    design.complete()
    return [one.label for one in design.maintainers]


def test_a_structure_finds_its_items_by_a_key_that_its_holder_knows() -> None:
    with pytest.raises(DeclarationError, match="looks through 'by_title', which Book does not"):
        shelves(through="by_title")
    with pytest.raises(DeclarationError, match="the partition of 'by_place' needs 'place'"):
        shelves(through="by_place")
    with pytest.raises(DeclarationError, match="the partition of 'key' needs 'book_id'"):
        shelves()
    with pytest.raises(DeclarationError, match="it has no field 'shelf'"):
        shelves(through="by_shelf", via={"shelf_id": "shelf"})


def test_what_an_index_shows_late_is_looked_for_later() -> None:
    assert "cascade Shelf.books late orphans" in shelves(through="by_shelf")
    assert "cascade Shelf.books late orphans" not in shelves(through="by_shelf", sync="stream")


def test_what_is_shown_has_no_form_of_its_own() -> None:
    design = Design("forms")
    table = design.table("forms")

    class Team(Entity, table=table):
        team_id: Id
        name: str = ""
        key = Key("TEAM#{team_id}", "TEAM")

    class Member(Entity, table=table):
        team_id: Id
        user_id: Id
        team_name: Annotated[str, Copied("Team", "name"), Normalised(str.upper)] = ""
        key = Key("TEAM#{team_id}", "MEMBER#{user_id}")

    with pytest.raises(DeclarationError, match="team_name normalises what it shows of name"):
        design.complete()


def test_a_merge_needs_queries_and_each_needs_a_list() -> None:
    query: Any = "rooms"
    with pytest.raises(DeclarationError, match="'rooms' is not a query"):
        merge(query)
    with pytest.raises(DeclarationError, match="a merge has no query"):
        merge()
    with pytest.raises(PlanError, match="each character as a value"):
        each("abc")


def test_one_structure_can_be_named_without_a_list() -> None:
    design = Design("one")
    table = design.table("one")

    class Shelf(Entity, table=table):
        shelf_id: Id
        books: Annotated[int, Counter("Book")] = 0
        key = Key("SHELF#{shelf_id}", "SHELF")

    class Book(Entity, table=table):
        shelf_id: Id
        book_id: Id
        key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")

    with design.open(":memory:") as db:
        assert verify(db, only="counter Shelf.books").clean
        assert rebuild(db, "counter Shelf.books").clean
        report = DriftReport(drifts=[Drift("key", "key Shelf", "one", {}, None, None)])
        with pytest.raises(PlanError, match="per_second must be greater than 0, not 0"):
            repair(db, report, per_second=0)


def node(**declared: Any) -> Design:
    """A tree whose nodes declare these besides."""
    design = Design("tree")
    marks = {name: mark for name, mark in declared.items() if isinstance(mark, Counter | Copied)}
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {
            "tree_id": Id,
            "node_id": Id,
            "parent_id": str | None,
            "title": str,
            "number": Annotated[int, marks.get("number")],
            "above": Annotated[str, marks.get("above")],
        },
        "parent_id": None,
        "title": "",
        "number": 0,
        "above": "",
        "key": Key("TREE#{tree_id}", "NODE#{node_id}"),
        **{name: one for name, one in declared.items() if name not in marks},
    }
    meta: Any = type(Entity)
    meta("Node", (Entity,), namespace, table=design.table("tree"))
    return design


@pytest.mark.parametrize(
    "declared",
    [
        {"number": Counter("Node")},
        {"number": Counter("Node", sync="stream", via={"node_id": "node_id"})},
        {"nodes": Cascade("Node")},
        {"nodes": Cascade("Node", sync="stream")},
        {"above": Copied("Node", "title")},
    ],
)
def test_a_structure_over_its_own_entity_needs_the_item_above(declared: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="every item would only belong to itself") as refused:
        node(**declared).complete()
    assert "test_wrong_declarations.py:" in str(refused.value)


def test_a_counter_that_decides_by_itself_is_refused() -> None:
    via = {"node_id": "parent_id"}
    counter = Counter("Node", via=via, where=lambda one: one.number == 0)
    with pytest.raises(DeclarationError, match=r"counter Node\.number depends on its own value"):
        node(number=counter).complete()
    with pytest.raises(DeclarationError, match=r"counter Node\.number depends on its own value"):
        node(number=Counter("Node", via=via, sums="number")).complete()
    node(number=Counter("Node", via=via)).complete()


def test_counters_that_decide_by_each_other_are_refused() -> None:
    design = Design("shops")
    table = design.table("shops")

    class Shop(Entity, table=table):
        shop_id: Id
        best_id: str = ""
        sold: Annotated[int, Counter("Article", sums="sold")] = 0
        key = Key("SHOP#{shop_id}", "SHOP")

    class Article(Entity, table=table):
        shop_id: Id
        article_id: Id
        sold: Annotated[
            int, Counter("Shop", via={"article_id": "best_id"}, where=lambda shop: shop.sold > 3)
        ] = 0
        key = Key("SHOP#{shop_id}", "ARTICLE#{article_id}")

    with pytest.raises(DeclarationError, match=r"its own value, through counter Shop\.sold"):
        design.complete()
