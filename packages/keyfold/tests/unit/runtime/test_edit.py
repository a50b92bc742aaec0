"""Edit blocks: what is done to a draft is written as one update, with its guards."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Version
from keyfold.errors import ConditionFailed, NotFound, PlanError, ValueRefused, VersionConflict

design = Design("edits")
table = design.table("main", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Address(BaseModel):
    city: str
    zip: str | None = None


class Hangout(Entity, table=table):
    hangout_id: Id
    title: Annotated[str, Field(min_length=1)] = "a"
    note: str | None = None
    seats: int = 10
    price: Decimal = Decimal("1.50")
    score: float = 0.5
    tags: set[str] = set()
    log: list[str] = []
    settings: dict[str, int] = {}
    address: Address = Address(city="Bergen")
    guests: Annotated[int, Counter("Guest")] = 0
    key = Key("EVENT#{hangout_id}", "EVENT")
    by_title = On("GSI1", "TITLE#{title}", "{hangout_id}")


class Guest(Entity, table=table):
    hangout_id: Id
    guest_id: Id
    key = Key("EVENT#{hangout_id}", "GUEST#{guest_id}")


class Room(Entity, table=table):
    room_id: Id
    name: str
    seats: int = 0
    version: Annotated[int, Version()] = 0
    key = Key("ROOM#{room_id}", "ROOM")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


@pytest.fixture
def hangout(db: Db) -> Hangout:
    return db.create(
        Hangout(hangout_id="h", note="n", tags={"x", "old"}, log=["one"], settings={"a": 1, "b": 2})
    )


def stored(db: Db) -> Hangout:
    return db.get(Hangout.key(hangout_id="h"))


def test_everything_done_to_the_draft_is_written_in_one_request(db: Db, hangout: Hangout) -> None:
    with db.work("edit") as work, db.edit(hangout) as draft:
        draft.title = "b"
        draft.note = None
        draft.seats -= 2
        draft.seats += 5
        draft.price += Decimal("0.25")
        draft.score += 0.25
        draft.tags.add("y")
        draft.log.append("two")
        draft.settings["c"] = 3
        del draft.settings["a"]
        draft.address.city = "Oslo"
    found = stored(db)
    assert (found.title, found.note, found.seats) == ("b", None, 13)
    assert (found.price, found.score) == (Decimal("1.75"), 0.75)
    assert (found.tags, found.log) == ({"x", "old", "y"}, ["one", "two"])
    assert (found.settings, found.address.city) == ({"b": 2, "c": 3}, "Oslo")
    assert work.usage["update Hangout"].requests == 1
    assert [one.title for one in db.read(Hangout.by_title.query(title="b"))] == ["b"]


def test_the_draft_is_the_entity_and_shows_what_was_written(db: Db, hangout: Hangout) -> None:
    with db.edit(hangout) as draft:
        assert isinstance(draft, Hangout)
        draft.seats += 1
    assert draft.seats == 11
    assert hangout.seats == 10
    assert type(draft.seats) is int


def test_sums_sets_and_appends_meet_what_others_wrote_meanwhile(db: Db, hangout: Hangout) -> None:
    with db.edit(hangout) as draft:
        draft.seats += 1
        draft.tags.add("y")
        draft.log.append("mine")
        db.update(hangout, seats=20, tags={"z"}, log=["theirs"])
    found = stored(db)
    assert (found.seats, found.tags, found.log) == (21, {"z", "y"}, ["theirs", "mine"])


def test_a_value_that_somebody_else_replaced_meanwhile_is_a_conflict(
    db: Db, hangout: Hangout
) -> None:
    with pytest.raises(VersionConflict), db.edit(hangout) as draft:  # noqa: PT012
        draft.title = "mine"
        db.update(hangout, title="theirs")
    assert stored(db).title == "theirs"


def test_a_version_guards_the_whole_item(db: Db) -> None:
    room = db.create(Room(room_id="r", name="a"))
    with pytest.raises(VersionConflict), db.edit(room) as draft:  # noqa: PT012
        draft.seats += 1
        db.update(room, name="theirs")
    with db.edit(db.get(room.ref())) as again:
        again.seats += 1
    assert (again.seats, again.version) == (1, 3)


def test_a_set_with_elements_put_in_and_taken_out_is_replaced(db: Db, hangout: Hangout) -> None:
    with db.edit(hangout) as draft:
        draft.tags.add("y")
        draft.tags.discard("old")
    assert stored(db).tags == {"x", "y"}


def test_a_number_that_is_assigned_is_a_value_and_no_sum(db: Db, hangout: Hangout) -> None:
    with pytest.raises(VersionConflict), db.edit(hangout) as draft:  # noqa: PT012
        draft.seats = 4
        db.update(hangout, seats=20)
    assert stored(db).seats == 20


def test_a_block_that_changes_nothing_sends_nothing(db: Db, hangout: Hangout) -> None:
    with db.work("edit") as work, db.edit(hangout) as draft:
        draft.title = "a"
        draft.seats += 1
        draft.seats -= 1
    assert work.usage == {}


def test_a_block_that_raises_writes_nothing(db: Db, hangout: Hangout) -> None:
    with pytest.raises(KeyError), db.edit(hangout) as draft:  # noqa: PT012
        draft.title = "b"
        raise KeyError
    assert stored(db) == hangout


def test_what_follows_from_the_item_follows_from_an_edit(db: Db, hangout: Hangout) -> None:
    db.create(Guest(hangout_id="h", guest_id="g"))
    with db.edit(stored(db)) as draft:
        draft.seats += 1
    assert stored(db).guests == 1


def test_a_condition_is_checked_in_the_same_request(db: Db, hangout: Hangout) -> None:
    with (
        pytest.raises(ConditionFailed),
        db.edit(hangout, where=lambda h: h.seats > 20) as draft,
    ):
        draft.seats += 1
    assert stored(db).seats == 10


def assigned(name: str, value: Any) -> Any:
    return lambda draft: setattr(draft, name, value)


@pytest.mark.parametrize("by_address", [False, True])
@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (assigned("title", ""), ValueRefused, "at least 1"),
        (assigned("title", None), PlanError, "not optional"),
        (assigned("hangout_id", "i"), PlanError, "primary key"),
        (assigned("guests", 3), PlanError, "is a counter"),
        (assigned("titel", "x"), PlanError, "no field 'titel'"),
    ],
)
def test_wrong_assignments_are_refused_where_they_stand(
    db: Db, hangout: Hangout, by_address: bool, wrong: Any, kind: type[Exception], words: str
) -> None:
    edit = db.edit(hangout.ref() if by_address else hangout)
    with edit as draft, pytest.raises(kind, match=words):
        wrong(draft)
    assert stored(db) == hangout


def test_a_wrong_element_is_refused_when_the_block_ends(db: Db, hangout: Hangout) -> None:
    with pytest.raises(ValueRefused), db.edit(hangout) as draft:
        draft.log.append(3)  # type: ignore[arg-type]
    assert stored(db) == hangout


def test_outside_a_block_items_stay_values(hangout: Hangout) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        hangout.title = "b"


def test_the_draft_of_an_address_records_without_reading(db: Db, hangout: Hangout) -> None:
    with db.work("edit") as work, db.edit(hangout.ref(), where=lambda h: h.seats > 0) as draft:
        draft.note = None
        draft.seats += 1
        draft.seats -= 3
        draft.tags.add("y")
        draft.tags |= {"z"}
        draft.log.append("two")
        draft.log += ["three"]
    found = stored(db)
    assert (found.note, found.seats) == (None, 8)
    assert (found.tags, found.log) == ({"x", "old", "y", "z"}, ["one", "two", "three"])
    assert work.usage["update Hangout"].requests == 1


def test_a_draft_that_was_not_read_refuses_to_be_looked_at(db: Db, hangout: Hangout) -> None:
    with db.edit(hangout.ref()) as draft:
        with pytest.raises(PlanError, match=r"seats of Hangout.* was not read"):
            assert draft.seats > 3
        with pytest.raises(PlanError, match=r"address of .* was not read"):
            draft.address.city = "Oslo"
        with pytest.raises(PlanError, match=r"seats of .* was not read"):
            draft.title = draft.seats  # type: ignore[assignment]


def test_two_operations_that_no_request_can_join_are_refused(db: Db, hangout: Hangout) -> None:
    with db.edit(hangout.ref()) as draft:
        draft.tags.add("y")
        with pytest.raises(PlanError, match="in two ways"):
            draft.tags.discard("x")


def test_an_address_without_an_item_is_not_found(db: Db) -> None:
    with pytest.raises(NotFound), db.edit(Hangout.key(hangout_id="none")) as draft:
        draft.title = "b"


async def test_the_same_when_awaited() -> None:
    async with await design.open_async(":memory:") as db:
        made = await db.create(Hangout(hangout_id="h"))
        async with db.edit(made) as draft:
            draft.title = "b"
            draft.seats += 1
        found = await db.get(made.ref())
        assert (found.title, found.seats) == ("b", 11)
        assert draft.model_dump() == found.model_dump()
