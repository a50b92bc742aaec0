"""Uses that type checkers refuse where types are written: every line marked `refused`."""

from __future__ import annotations

from datetime import datetime

from keyfold import AsyncDb, Db, add, check, create, remove, update

from .entities import (
    GroupHangout,
    Hangout,
    Membership,
    Response,
    User,
)
from .right import coming


def wrong(db: Db, h: Hangout, p: GroupHangout, m: Membership, now: datetime) -> None:
    db.update(h, titel="y")  # refused: no such field
    db.update(h, title=3)  # refused: a number for text
    db.update(h, starts_at=3)  # refused: a number for a time
    db.update(h, title=None)  # refused: the field is not optional
    db.update(h, going=4)  # refused: a counter is counted, not written
    db.update(h, hangout_id="x")  # refused: part of the primary key
    db.update(h, group_ids=add({3}))  # refused: numbers into a set of texts
    db.update(h, title=remove({"x"}))  # refused: text is no set
    db.update(h, title=add("x"))  # refused: text is no number
    db.update(Response.key(hangout_id="h", user_id="u"), answer=7)  # refused: by address
    db.update(h, title="y", where=lambda h: h.titel == "x")  # refused: condition
    db.update(p, title="x")  # refused: a pointer follows its canonical item
    db.move(m, user="v")  # refused: no such field
    db.move(m, user_id=3)  # refused: a number for text
    Hangout.key(hangout="x")  # refused: no such key field
    Membership.key(group_id="g")  # refused: half a key
    Hangout.key(hangout_id=7)  # refused: a number for text
    GroupHangout.by_time.query(town="x")  # refused: no such key field
    GroupHangout.by_time.query(group_id="g").since(starts=now)  # refused: range, name
    GroupHangout.by_time.query(group_id="g").since(starts_at=3)  # refused: range, type
    Hangout.key.query(hangout_id="h").since(starts_at=now)  # refused: no sort field left
    db.transact(update(h, titel="y"))  # refused: inside a transaction
    made, _ = db.transact(create(User(user_id="u", name="n")), check(User.key(user_id="v")))
    print(made.title)  # refused: the result is a User
    changed, _ = db.transact(update(h.ref(), title="y"), check(User.key(user_id="v")))
    print(changed.title)  # refused: by address among several it may be None
    print(db.delete(h, returning=True).title)  # refused: it may not have been there
    coming(db, 7, now)  # refused: a pattern's argument
    Membership.key.query(group_id="g").begins_with(user_id=3)  # refused: the beginning is text
    GroupHangout.by_time.query(group_id="g").begins_with(starts_at="2")  # refused: no text
    found, _ = db.get_together(h.ref(), User.key(user_id="u"))
    print(found.title)  # refused: it may be missing


async def wrong_async(db: AsyncDb, h: Hangout, now: datetime) -> None:
    await db.update(h, titel="y")  # refused: no such field
    await db.update(h, title=3)  # refused: a number for text
    await db.transact(update(h.ref(), starts_at=3))  # refused: a number for a time
    coming(db, "g", now)  # refused: a forgotten await
    db.update(h, title="y")  # refused: a forgotten await
