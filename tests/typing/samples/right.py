"""Uses that both type checkers accept."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from keyfold import (
    AsyncDb,
    Collected,
    Counter,
    Db,
    Design,
    Entity,
    Get,
    Id,
    Index,
    Key,
    Merge,
    On,
    Page,
    Pointer,
    Query,
    Timestamp,
    Version,
    begins_with,
    collection,
    each,
    get,
    merge,
)

design = Design("sample")
table = design.table("main", indexes=[Index("ByTime", "GSI1PK", "startTimestamp", sort_type="N")])


class Hangout(Entity, table=table):
    hangout_id: Id
    title: str
    starts_at: Timestamp
    group_ids: set[str] = set()
    note: str | None = None
    going: Annotated[int, Counter("Rsvp", where=lambda r: r.going)] = 0
    version: Annotated[int, Version()] = 0
    key = Key("EVENT#{hangout_id}", "METADATA")


class Rsvp(Entity, table=table):
    hangout_id: Id
    user_id: Id
    going: bool = True
    key = Key("EVENT#{hangout_id}", "RSVP#{user_id}")


class HangoutPointer(Pointer[Hangout], table=table, each="group_ids"):
    group_id: str
    hangout_id: Id
    title: str
    starts_at: Timestamp
    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")
    by_time = On("ByTime", "GROUP#{group_id}", "{starts_at:epoch_ms}")


@design.pattern(requests=1)
def hangout(hangout_id: str) -> Get[Hangout]:
    return get(Hangout.key(hangout_id=hangout_id))


@design.pattern(requests=1)
def feed(group_id: str, limit: int = 50) -> Query[HangoutPointer]:
    query = HangoutPointer.key.query(group_id=group_id)
    return query.where(lambda p: begins_with(p.title, "A")).limit(limit)


@design.pattern()
def upcoming(group_ids: list[str], now: datetime, limit: int = 50) -> Merge[HangoutPointer]:
    query = HangoutPointer.by_time.query(group_id=each(group_ids)).after(starts_at=now)
    return merge(query, unique="hangout_id").limit(limit)


def use(db: Db) -> str | None:
    page: Page[HangoutPointer] = feed(db, "g1", limit=20)
    titles: list[str] = [pointer.title for pointer in page]
    more: Page[HangoutPointer] = feed.after(page.cursor)(db, "g1")
    found: Hangout | None = hangout(db, "h1")
    made: Hangout = db.create(Hangout(hangout_id="h", title=titles[0], starts_at=more[0].starts_at))
    renamed: Hangout = db.update(made, title="x", where=lambda h: h.going == 0)
    together: Collected = db.read(collection(Hangout, Rsvp, hangout_id="h"))
    replies: list[Rsvp] = together.of(Rsvp)
    return renamed.note if found and replies else None


async def use_async(db: AsyncDb) -> Page[HangoutPointer]:
    page: Page[HangoutPointer] = await feed(db, "g1")
    item: Hangout = await db.get(Hangout.key(hangout_id="h1"))
    return await upcoming(db, [item.title], item.starts_at) if page.items else page
