"""Uses that both type checkers accept."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel

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
    Projected,
    Query,
    Timestamp,
    Version,
    collection,
    each,
    get,
    merge,
)
from keyfold.conditions import begins_with
from keyfold.vectors import Nearest, Neighbour, Vector, nearest

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


class Heading(BaseModel):
    hangout_id: str
    title: str


@design.pattern(requests=1)
def titles_only(group_id: str) -> Projected[Heading]:
    return HangoutPointer.key.query(group_id=group_id).only(Heading)


def use(db: Db) -> str | None:
    page: Page[HangoutPointer] = feed(db, "g1", limit=20)
    titles: list[str] = [pointer.title for pointer in page]
    more: Page[HangoutPointer] = feed.after(page.cursor)(db, "g1")
    found: Hangout | None = hangout(db, "h1")
    made: Hangout = db.create(Hangout(hangout_id="h", title=titles[0], starts_at=more[0].starts_at))
    renamed: Hangout = db.update(made, title="x", where=lambda h: h.going == 0)
    together: Collected = db.read(collection(Hangout, Rsvp, hangout_id="h"))
    replies: list[Rsvp] = together.of(Rsvp)
    headings: Page[Heading] = titles_only(db, "g1")
    pages: list[Page[HangoutPointer]] = list(feed.pages(db, "g1", limit=5))
    first: Heading = next(db.iterate(HangoutPointer.key.query(group_id="g").only(Heading)))
    named = first.title if headings.items and pages else None
    return renamed.note if found and replies else named


async def use_async(db: AsyncDb) -> Page[HangoutPointer]:
    page: Page[HangoutPointer] = await feed(db, "g1")
    item: Hangout = await db.get(Hangout.key(hangout_id="h1"))
    async for one in feed.pages(db, "g1"):
        following: Page[HangoutPointer] = one
        assert following.items
    return await upcoming(db, [item.title], item.starts_at) if page.items else page


class Note(Entity, table=table):
    note_id: Id
    embedding: Annotated[list[float], Vector(3, "cosine")]
    key = Key("NOTE#{note_id}", "NOTE")


class NoteId(BaseModel):
    note_id: str


@design.pattern()
def similar(vector: list[float], limit: int = 3) -> Nearest[Note]:
    return nearest(Note, vector).limit(limit)


@design.pattern()
def similar_ids(vector: list[float]) -> Nearest[NoteId]:
    return nearest(Note, vector).only(NoteId)


def search(db: Db) -> float:
    found: list[Neighbour[Note]] = similar(db, [1.0, 0.0, 0.0], limit=2)
    ids: list[Neighbour[NoteId]] = similar_ids(db, [1.0, 0.0, 0.0])
    return found[0].score + found[0].item.embedding[0] + len(ids[0].item.note_id)
