"""Filters and what has expired: few requests a page, and no budget broken."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import (
    Db,
    Design,
    Entity,
    Exists,
    First,
    Id,
    Index,
    Key,
    Merge,
    On,
    Query,
    Timestamp,
    Ttl,
    each,
    merge,
)
from keyfold.testing import Sandbox

design = Design("filtered")
table = design.table("filtered", ttl="ttl", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Event(Entity, table=table):
    group_id: Id
    number: int
    past: bool = False
    text: str = ""
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("GROUP#{group_id}", "EVENT#{number:06d}")
    by_number = On("GSI1", "NUMBER#{number:06d}", "{group_id}")


@design.pattern(requests=1)
def events(group_id: str, limit: int = 10) -> Query[Event]:
    return Event.key.query(group_id=group_id).limit(limit)


@design.pattern()
def upcoming(group_id: str, limit: int = 10) -> Query[Event]:
    return Event.key.query(group_id=group_id).where(lambda e: e.past == False).limit(limit)  # noqa: E712


@design.pattern(requests=1)
def upcoming_at_once(group_id: str, limit: int = 10) -> Query[Event]:
    return Event.key.query(group_id=group_id).where(lambda e: e.past == False).limit(limit)  # noqa: E712


@design.pattern()
def upcoming_of(group_ids: list[str], limit: int = 10) -> Merge[Event]:
    wanted = Event.key.query(group_id=each(group_ids)).where(lambda e: e.past == False)  # noqa: E712
    return merge(wanted).limit(limit)


@design.pattern(requests=1)
def numbered(number: int) -> First[Event]:
    return Event.by_number.query(number=number).first()


@design.pattern(requests=1)
def latest(group_id: str) -> First[Event]:
    return Event.key.query(group_id=group_id).descending().first()


@design.pattern(requests=1)
def is_used(group_id: str) -> Exists[Event]:
    return Event.key.query(group_id=group_id).exists()


@pytest.fixture
def db() -> Iterator[Db]:
    with Sandbox() as sandbox, sandbox.open(design) as handle:
        yield handle


def fill(db: Db, group: str, past: int, live: int, **more: Any) -> None:
    made = [Event(group_id=group, number=n, past=n < past, **more) for n in range(past + live)]
    db.put_many(made)


def requests(db: Db, read: Any, *args: Any, **kwargs: Any) -> tuple[Any, int]:
    with db.work("count") as work:
        found = read(db, *args, **kwargs)
    return found, work.total.requests


@pytest.mark.parametrize("limit", [1, 5, 7, 20, 200])
@pytest.mark.parametrize("past", [0, 3, 100, 400])
def test_a_filtered_page_takes_three_requests_at_most(db: Db, past: int, limit: int) -> None:
    fill(db, "g", past, 30)
    fill(db, "h", past, 3)
    seen: list[int] = []
    cursor = None
    while True:
        page, count = requests(db, upcoming.after(cursor), "g", limit=limit)
        assert count <= 3
        assert len(page) == min(limit, 30 - len(seen))
        seen += [event.number for event in page]
        cursor = page.cursor
        if cursor is None or not page:
            break
    assert seen == list(range(past, past + 30))
    merged, count = requests(db, upcoming_of, ["g", "h"], limit=limit)
    assert count <= 2 * 3
    assert len(merged) == min(limit, 33)


@pytest.mark.parametrize("limit", [1, 10])
def test_a_filtered_page_keeps_its_budget_and_is_short_instead(db: Db, limit: int) -> None:
    fill(db, "g", 100, 5)
    page, count = requests(db, upcoming_at_once, "g", limit=limit)
    assert (len(page), count) == (min(limit, 5), 1)
    fill(db, "h", 10, 5, text="x" * 150_000)
    page, count = requests(db, upcoming_at_once, "h", limit=limit)
    assert (len(page), count) == (0, 1)
    rest = list(upcoming_at_once.after(page.cursor).pages(db, "h", limit=5))
    assert [e.number for one in rest for e in one] == [10, 11, 12, 13, 14]


@pytest.mark.parametrize("expired", [1, 40, 200])
def test_what_has_expired_breaks_no_budget(db: Db, expired: int) -> None:
    gone = db.context.now() - timedelta(days=1)
    fill(db, "g", 0, expired, expires_at=gone)
    assert events(db, "g").items == []
    assert numbered(db, 0) is None
    assert latest(db, "g") is None
    assert is_used(db, "g") is False
    live = db.create(Event(group_id="g", number=900_000))
    assert [e for page in events.pages(db, "g") for e in page] == [live]
    assert is_used(db, "g") is True
    assert Event.key.query(group_id="g").first() is not None
    db.create(Event(group_id="z", number=0))
    found = numbered(db, 0)
    assert found is not None
    assert found.group_id == "z"
