"""What an editor knows about right uses: each has exactly this type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_type

from keyfold import AsyncDb, Db, Page, Ref
from tests.typing.hangouts import GroupHangout, Hangout, design, feed, one_hangout


def sync(db: Db) -> None:
    assert_type(design.open("hangouts.db"), Db)
    assert_type(feed(db, "oslo"), Page[GroupHangout])
    assert_type(feed(db, "oslo", limit=5).items, list[GroupHangout])
    assert_type(feed.after("cursor")(db, group_id="oslo"), Page[GroupHangout])
    assert_type(one_hangout(db, "h1"), Hangout | None)
    assert_type(Hangout.key(hangout_id="h1"), Ref[Hangout])
    hangout = db.get(Hangout.key(hangout_id="h1"))
    assert_type(hangout, Hangout)
    assert_type(db.find(hangout.ref()), Hangout | None)
    assert_type(db.update(hangout, title="Hike"), Hangout)
    assert_type(db.create(hangout), Hangout)
    assert_type(db.get_many([hangout.ref()]), list[Hangout | None])
    assert_type(hangout.notes, str | None)
    db.update(hangout, title="Hike", where=lambda one: one.starts_at > datetime.now(UTC))


async def asynchronous(db: AsyncDb) -> None:
    assert_type(await design.open_async("hangouts.db"), AsyncDb)
    assert_type(await feed(db, "oslo"), Page[GroupHangout])
    assert_type(await one_hangout(db, "h1"), Hangout | None)
    assert_type(await db.get(Hangout.key(hangout_id="h1")), Hangout)
