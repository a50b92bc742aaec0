"""Uses that both type checkers refuse: every line marked `refused`."""

from __future__ import annotations

from datetime import datetime

from keyfold import AsyncDb, Db

from .right import (
    Hangout,
    HangoutPointer,
    feed,
    hangout,
    similar,
    similar_ids,
    titles_only,
    upcoming,
)


def wrong(db: Db, now: datetime) -> None:
    feed(db, 7)  # refused: a number for a text parameter
    feed(db, group="g1")  # refused: no such parameter
    feed(db)  # refused: a parameter is missing
    upcoming(db, "g1", now)  # refused: text for a list
    Hangout(hangout_id="h", title=3, starts_at=now)  # refused: a number for a text field
    HangoutPointer.key.query(group_id="g").where(lambda p: p.titel == "x")  # refused: a typo
    print(feed(db, "g1").items[0].going)  # refused: the field is the canonical's only
    print(titles_only(db, "g1").items[0].starts_at)  # refused: the field was not asked for
    list(hangout.pages(db, "h1"))  # refused: one item has no pages
    db.get("h1")  # refused: no reference
    db.create("h1")  # refused: no entity
    found = hangout(db, "h1")
    print(found.title)  # refused: it may be missing


async def unawaited(db: AsyncDb) -> str:
    page = feed(db, "g1")
    return page.items[0].title  # refused: not awaited


def search(db: Db) -> None:
    similar(db, "tea")  # refused: text for a vector
    print(similar(db, [1.0])[0].title)  # refused: the item is inside the neighbour
    print(similar_ids(db, [1.0])[0].item.embedding)  # refused: the field was not asked for
