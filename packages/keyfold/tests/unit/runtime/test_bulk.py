"""Bulk writes: thousands in groups, each with what follows from it, resumable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer, Unique, delete, put, update
from keyfold.errors import AlreadyExists, PlanError, UniqueTaken
from keyfold.maintain.verify import verify
from keyfold.runtime.bulk import BulkReport, BulkWrite

design = Design("bulk")
table = design.table("bulk")


class Group(Entity, table=table):
    group_id: Id
    members: Annotated[int, Counter("Member")] = 0
    key = Key("GROUP#{group_id}", "GROUP")


class Member(Entity, table=table):
    member_id: Id
    group_id: Id
    email: str
    tags: set[str] = set()
    key = Key("MEMBER#{member_id}", "MEMBER")
    one_email = Unique("email")


class Tagged(Pointer[Member], table=table, each="tags"):
    tag: str
    member_id: Id
    email: str
    key = Key("TAG#{tag}", "{member_id}")


def members(count: int) -> list[Member]:
    return [
        Member(member_id=str(n), group_id=f"g{n % 3}", email=f"{n}@x", tags={"new"})
        for n in range(count)
    ]


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.bulk([Group(group_id=f"g{n}") for n in range(3)])
        yield opened


def test_structures_are_right_after_many_writes_of_all_kinds(db: Db) -> None:
    told: list[int] = []
    report = db.bulk(members(45), progress=lambda one: told.append(one.position))
    assert (report.written, report.position, report.failures) == (45, 45, [])
    assert told == [10, 20, 30, 40, 45]
    more: list[BulkWrite] = [
        *(delete(Member.key(member_id=str(n))) for n in range(20)),
        *(update(Member.key(member_id=str(n)), tags={"old"}) for n in range(20, 25)),
        put(Member(member_id="30", group_id="g0", email="new@x")),
    ]
    assert db.bulk(more).written == 26
    assert sum(db.get(Group.key(group_id=f"g{n}")).members for n in range(3)) == 25
    assert len(db.read(Tagged.key.query(tag="old"))) == 5
    assert verify(db).clean


def test_groups_take_fewer_requests_than_items(db: Db) -> None:
    with db.work("bulk") as work:
        db.bulk(members(30))
    sent = sum(one.requests for one in work.usage.values())
    assert sent < 30


def test_a_failure_is_that_of_its_own_write_and_the_rest_is_made(db: Db) -> None:
    given = members(12)
    given[4] = given[4].model_copy(update={"email": "3@x"})
    report = db.bulk(given, on_failure="collect")
    [failed] = report.failures
    assert (failed.place, report.written) == (4, 11)
    assert isinstance(failed.problem, UniqueTaken)
    assert verify(db).clean


def test_what_was_stopped_goes_on_from_where_it_was(db: Db) -> None:
    seen: list[int] = []

    def stop(report: BulkReport) -> None:
        seen.append(report.position)
        if report.position >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.bulk(iter(members(33)), progress=stop)
    # The last report may be lost: what was made already is met again, and is as it should be.
    report = db.bulk(iter(members(33)), start=seen[0])
    assert (report.position, report.present, report.written) == (33, 10, 13)
    assert verify(db).clean
    with pytest.raises(AlreadyExists):
        db.bulk([members(1)[0].model_copy(update={"tags": {"other"}})])


def test_a_failure_that_raises_says_where_to_go_on(db: Db) -> None:
    seen: list[int] = []
    given = members(12)
    given[4] = given[4].model_copy(update={"email": "3@x"})
    with pytest.raises(UniqueTaken):
        db.bulk(given, progress=lambda one: seen.append(one.position))
    assert seen == [4]
    given[4] = members(5)[4]
    assert db.bulk(given, start=4).written == 8


def test_one_item_twice_is_written_in_order(db: Db) -> None:
    one, two = members(2)
    db.bulk([one, update(one.ref(), email="z@x"), two])
    assert db.get(one.ref()).email == "z@x"


def test_wrong_arguments_are_refused(db: Db) -> None:
    with pytest.raises(PlanError, match="is not a write"):
        db.bulk(["x"])  # type: ignore[list-item]
    with pytest.raises(PlanError, match="start must be at least 0"):
        db.bulk([], start=-1)


async def test_on_an_async_handle() -> None:
    async with await design.open_async(":memory:") as handle:
        assert (await handle.bulk([Group(group_id="g")])).written == 1
