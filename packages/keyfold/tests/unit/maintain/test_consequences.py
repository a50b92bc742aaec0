"""What follows from a write follows always: items made by a count, joined checks, overflow."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Counter, Design, Entity, Id, Key, Pointer, check, create, delete
from keyfold.errors import DeclarationError, NotFound, PlanError
from keyfold.maintain import rebuild, verify
from keyfold.streams import Consumer
from keyfold.structures import Cascade
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine


class Counting(EmbeddedClient):
    """A client that notes the writes of transactions."""

    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.written: list[str] = []

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            self.written += [next(iter(one)) for one in request["TransactItems"]]
        return super().call(operation, request)


def _tags() -> tuple[Design, Any, Any, Any]:
    design = Design("tags")
    table = design.table("Tags")

    class Tag(Entity, table=table):
        tag: Id
        uses: Annotated[int, Counter("Use", creates=True)] = 0
        key = Key("TAG#{tag}", "TAG")

    class TagInList(Pointer[Tag], table=table):
        tag: Id
        uses: int
        key = Key("TAGS", "TAG#{tag}")

    class Use(Entity, table=table):
        tag: Id
        use: Id
        key = Key("TAG#{tag}", "USE#{use}")

    return design, Tag, TagInList, Use


def test_a_holder_that_the_first_count_makes_has_its_pointers() -> None:
    design, _, listed, use = _tags()
    with design.open(":memory:") as db:
        db.create(use(tag="x", use="1"))
        assert [one.uses for one in db.scan(listed)] == [1]
        db.create(use(tag="x", use="2"))
        assert [one.uses for one in db.scan(listed)] == [2]
        db.transact(create(use(tag="y", use="1")), create(use(tag="y", use="2")))
        assert {one.tag: one.uses for one in db.scan(listed)} == {"x": 2, "y": 2}
        assert verify(db).clean


def test_two_first_counts_that_meet_make_the_holder_once() -> None:
    design, tag, listed, use = _tags()

    class Meddling(EmbeddedClient):
        meddle: Any = None

        def call(self, operation: str, request: Any) -> dict[str, Any]:
            if operation == "TransactWriteItems" and self.meddle is not None:
                meddle, self.meddle = self.meddle, None
                meddle()
            return super().call(operation, request)

    client = Meddling(Engine.open(":memory:"))
    with design.open(client) as db:
        client.meddle = lambda: db.create(use(tag="x", use="first"))
        db.create(use(tag="x", use="second"))
        assert db.get(tag.key(tag="x")).uses == 2
        assert [one.uses for one in db.scan(listed)] == [2]


def test_a_holder_that_lacks_a_value_is_not_made_by_a_count() -> None:
    design = Design("shelves")
    table = design.table("Shelves")

    class Shelf(Entity, table=table):
        shelf: Id
        room: str
        books: Annotated[int, Counter("Book", creates=True)] = 0
        key = Key("SHELF#{shelf}", "SHELF")

    class ShelfInRoom(Pointer[Shelf], table=table):
        shelf: Id
        room: str
        key = Key("ROOM#{room}", "SHELF#{shelf}")

    class Book(Entity, table=table):
        shelf: Id
        book: Id
        key = Key("SHELF#{shelf}", "BOOK#{book}")

    with design.open(":memory:") as db:
        with pytest.raises(PlanError, match="room has no default"):
            db.create(Book(shelf="s", book="b"))
        db.create(Shelf(shelf="s", room="r"))
        db.create(Book(shelf="s", book="b"))
        assert verify(db).clean


def test_an_item_is_not_added_to_a_parent_that_only_its_own_count_would_make() -> None:
    design = Design("boxes")
    table = design.table("Boxes")

    class Box(Entity, table=table):
        box: Id
        things: Annotated[int, Counter("Thing", creates=True)] = 0
        key = Key("BOX#{box}", "BOX")
        all_things = Cascade("Thing")

    class Thing(Entity, table=table):
        box: Id
        thing: Id
        key = Key("BOX#{box}", "THING#{thing}")

    with design.open(":memory:") as db:
        with pytest.raises(NotFound, match=r"Box.* does not exist"):
            db.create(Thing(box="b", thing="1"))
        db.create(Box(box="b"))
        db.create(Thing(box="b", thing="1"))
        assert db.get(Box.key(box="b")).things == 1
        assert verify(db).clean


def _rooms() -> tuple[Design, Any, Any]:
    design = Design("rooms")
    table = design.table("Rooms")

    class Room(Entity, table=table):
        room: Id
        key = Key("ROOM#{room}", "ROOM")
        members = Cascade("Member")

    class Member(Entity, table=table):
        room: Id
        user: Id
        key = Key("ROOM#{room}", "MEMBER#{user}")

    return design, Room, Member


def test_a_parent_is_not_deleted_while_a_child_comes_in_the_same_transaction() -> None:
    design, room, member = _rooms()
    with design.open(":memory:") as db:
        db.create(room(room="r"))
        with pytest.raises(PlanError, match=r"deletes Room\(room='r'\) and adds an item to it"):
            db.transact(delete(room.key(room="r")), create(member(room="r", user="u")))
        assert db.get(room.key(room="r")) is not None
        assert verify(db).clean


def test_a_parent_and_its_child_come_together() -> None:
    design, room, member = _rooms()
    with design.open(":memory:") as db:
        db.transact(create(room(room="r")), create(member(room="r", user="u")))
        assert verify(db).clean


def test_a_check_of_what_is_deleted_asks_that_it_is_there() -> None:
    design, _, member = _rooms()
    ref = member.key(room="r", user="u")
    with design.open(":memory:") as db, pytest.raises(NotFound):
        db.transact(check(ref), delete(ref))


def _posts(stream: str | None = "NEW_AND_OLD_IMAGES") -> tuple[Design, Any, Any]:
    design = Design("posts")
    table = design.table("Posts", stream=stream, ttl="ttl")  # type: ignore[arg-type]

    class Post(Entity, table=table):
        post: Id
        title: str = ""
        groups: set[str] = set()
        key = Key("POST#{post}", "POST")

    class PostIn(Pointer[Post], table=table, each="groups", overflow="stream"):
        group: str
        post: Id
        title: str
        key = Key("GROUP#{group}", "POST#{post}")

    return design, Post, PostIn


def test_pointers_cannot_overflow_to_a_stream_that_is_not_there() -> None:
    with pytest.raises(DeclarationError, match="which has none"):
        _posts(stream=None)


def test_pointers_that_the_transaction_wrote_are_not_written_again_by_the_consumer() -> None:
    design, post, pointer = _posts()
    client = Counting()
    with design.open(client) as db:
        db.create(post(post="p", groups={"a", "b"}))
        db.update(post.key(post="p"), title="new")
        client.written.clear()
        Consumer(db).drain()
        assert {"Put", "Update", "Delete"}.isdisjoint(client.written)
        assert {one.title for one in db.scan(pointer)} == {"new"}


def test_pointers_that_overflow_are_written_by_the_consumer() -> None:
    design, post, pointer = _posts()
    with design.open(":memory:") as db:
        db.create(post(post="p", title="one", groups={f"g{n}" for n in range(150)}))
        Consumer(db).drain()
        assert len(list(db.scan(pointer))) == 150
        db.update(post.key(post="p"), groups={f"g{n}" for n in range(100, 260)})
        Consumer(db).drain()
        assert verify(db).clean


def test_a_pointer_keeps_attributes_that_nobody_declared() -> None:
    design, post, pointer = _posts()
    client = Counting()
    with design.open(client) as db:
        db.create(post(post="p", groups={"a"}))
        key = pointer.key(group="a", post="p").wire()
        client.call(
            "UpdateItem",
            {
                "TableName": "Posts",
                "Key": key,
                "UpdateExpression": "SET mine = :x",
                "ExpressionAttributeValues": {":x": {"S": "x"}},
            },
        )
        db.update(post.key(post="p"), title="new")
        item = client.call("GetItem", {"TableName": "Posts", "Key": key})["Item"]
        assert item["mine"] == {"S": "x"}
        assert item["title"] == {"S": "new"}


def test_a_pointer_that_is_missing_comes_back_with_the_next_change() -> None:
    design, post, pointer = _posts()
    with design.open(":memory:") as db:
        db.create(post(post="p", title="old", groups={"a"}))
        lost = pointer.key(group="a", post="p")
        name = pointer.__table__.name
        db.client.call("DeleteItem", {"TableName": name, "Key": lost.wire()})
        db.update(post.key(post="p"), title="new")
        assert db.get(pointer.key(group="a", post="p")) == pointer(group="a", post="p", title="new")
        assert verify(db).clean


def test_a_rebuild_of_one_structure_reads_the_tables_of_that_one() -> None:
    design = Design("shelves")
    shelves, others = design.table("Shelves"), design.table("Others")

    class Shelf(Entity, table=shelves):
        shelf_id: Id
        books: Annotated[int, Counter("Book")] = 0
        key = Key("SHELF#{shelf_id}", "SHELF")

    class Book(Entity, table=shelves):
        shelf_id: Id
        book_id: Id
        key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")

    class Other(Entity, table=others):
        other_id: Id
        key = Key("OTHER#{other_id}", "OTHER")

    with design.open(":memory:") as db:
        db.transact(create(Shelf(shelf_id="s")), create(Book(shelf_id="s", book_id="b")))
        db.client.call("DeleteTable", {"TableName": "Others"})
        assert rebuild(db, ["counter Shelf.books"]).scanned == 2
