"""Criteria from before: the cleanup that puts an end to versions that are not the latest.

`save_criteria` does this for every new statement. A table that was filled without it needs one
pass, and so does one after the migration. It can be repeated at any time.
"""

from __future__ import annotations

from datetime import timedelta

from keyfold import AsyncDb, check, create
from keyfold.errors import AlreadyExists, NotFound
from keyfold_systems.search_room.entities import (
    SUPERSEDED_CRITERIA_DAYS,
    LatestCriteria,
    Member,
    UserCriteria,
)


async def tidy(db: AsyncDb) -> int:
    """Give each member the latest of their criteria and all others an end; gives how many."""
    newest: dict[tuple[str, str], UserCriteria] = {}
    superseded = []
    async for one in db.scan(UserCriteria):
        known = newest.setdefault((one.room_id, one.user_id), one)
        older, newer = sorted((known, one), key=lambda c: (c.timestamp, c.criteria_id))
        newest[one.room_id, one.user_id] = newer
        if older is not newer and older.expires_at is None:
            superseded.append(older)
    for one in newest.values():
        await _fill_latest(db, one)
    end = db.context.now() + timedelta(days=SUPERSEDED_CRITERIA_DAYS)
    for one in superseded:
        await db.update(one.ref(), expires_at=end)
    return len(superseded)


async def _fill_latest(db: AsyncDb, newest: UserCriteria) -> None:
    latest = LatestCriteria.model_validate(newest.model_dump(exclude={"expires_at"}))
    member = check(Member.key(room_id=newest.room_id, user_id=newest.user_id))
    try:
        await db.transact(create(latest), member)
    except (AlreadyExists, NotFound):
        return  # said since then, or not in the room any more
