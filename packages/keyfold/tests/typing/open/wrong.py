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


def edits(db: Db, h: Hangout) -> None:
    with db.edit(h) as draft:
        draft.titel = "y"  # refused: no such field
        draft.title = 3  # refused: a number for text
        draft.starts_at = 3  # refused: a number for a time
        draft.title = None  # refused: the field is not optional
        draft.group_ids.add(3)  # refused: a number into a set of texts
        draft.title.add("x")  # refused: text is no set
        draft.version += "x"  # refused: text onto a number
    with db.edit(Hangout.key(hangout_id="h")) as unread:
        unread.titel = "y"  # refused: by address
        unread.title = 3  # refused: by address
    with db.edit(h, where=lambda h: h.titel == "x"):  # refused: condition
        pass
    with db.edit("h"):  # refused: no item
        pass


async def edits_async(db: AsyncDb, h: Hangout) -> None:
    async with db.edit(h) as draft:
        draft.titel = "y"  # refused: no such field
    with db.edit(h):  # refused: it must be `async with`
        pass


def search(db: Db) -> None:
    similar(db, "tea")  # refused: text for a vector
    print(similar(db, [1.0])[0].title)  # refused: the item is inside the neighbour
    print(similar_ids(db, [1.0])[0].item.embedding)  # refused: the field was not asked for
