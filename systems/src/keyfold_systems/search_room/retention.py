"""The scheduled clean-up: criteria that are not somebody's latest get an end.

`save_criteria` does this for every new statement. A table that was filled without it needs a pass,
and so does one after the migration; what somebody left behind before leaving took it along goes,
too. It can be stopped and repeated at any time.

    python -m keyfold_systems.search_room.retention rooms.db
    python -m keyfold_systems.search_room.retention dynamodb://eu-west-1 --daily

In AWS, `handler` is for a rule of EventBridge with `SCHEDULE`; the variable KEYFOLD_BACKEND says
where the table is.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from keyfold import AsyncDb, check, create, delete, missing, update
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    SUPERSEDED_CRITERIA_DAYS,
    LatestCriteria,
    Member,
    UserCriteria,
)
from keyfold_systems.search_room.patterns import (
    latest_user_criteria,
    membership,
    user_criteria_history,
)

EVERY = timedelta(days=1)
SCHEDULE = "rate(1 day)"
BACKEND = "KEYFOLD_BACKEND"


async def tidy(db: AsyncDb) -> int:
    """Give each member the latest of their criteria and all others an end; gives how many."""
    done = Pass(db)
    async for latest in db.scan(LatestCriteria):
        if await membership(db, latest.room_id, latest.user_id) is None:
            await done.take_away(latest)
    async for one in db.scan(UserCriteria):
        await done.look(one)
    return done.ended


@dataclass
class Pass:
    """One pass over a table; it holds what it knows of one member at a time."""

    db: AsyncDb
    ended: int = 0
    _of: tuple[str, str] = ("", "")
    _latest: LatestCriteria | None = None

    async def look(self, one: UserCriteria) -> None:
        """Give criteria an end, unless they have one or are the latest."""
        if one.expires_at is not None:
            return
        if self._of != (one.room_id, one.user_id):
            self._of = one.room_id, one.user_id
            self._latest = await self._latest_of(one.room_id, one.user_id)
        if self._latest is not None and _statement(one) == _statement(self._latest):
            return
        end = self.db.context.now() + timedelta(days=SUPERSEDED_CRITERIA_DAYS)
        ended = update(one.ref(), expires_at=end, where=lambda c: missing(c.expires_at))
        # What is said at this moment is the latest, though it was not when this was read.
        at, said = _statement(one)
        other = check(
            LatestCriteria.key(room_id=one.room_id, user_id=one.user_id),
            where=lambda c: missing(c.user_id) | (c.criteria_id != said) | (c.timestamp != at),
        )
        try:
            await self.db.transact(ended, other)
        except (ConditionFailed, NotFound):
            return
        self.ended += 1

    async def take_away(self, latest: LatestCriteria) -> None:
        """What somebody looked for who is not in the room any more."""
        said = latest.criteria_id
        outside = check(
            Member.key(room_id=latest.room_id, user_id=latest.user_id),
            where=lambda m: missing(m.user_id),
        )
        gone = delete(latest.ref(), where=lambda c: c.criteria_id == said)
        try:
            await self.db.transact(gone, outside)
        except (ConditionFailed, NotFound):
            return

    async def _latest_of(self, room_id: str, user_id: str) -> LatestCriteria | None:
        latest = await latest_user_criteria(self.db, room_id, user_id)
        if latest is not None:
            return latest
        newest = await user_criteria_history(self.db, room_id, user_id, limit=1)
        return await self._fill(newest.items)

    async def _fill(self, newest: Sequence[UserCriteria]) -> LatestCriteria | None:
        """Make the newest of a member's criteria their latest; who left has none."""
        if not newest:
            return None
        (one,) = newest
        latest = LatestCriteria.model_validate(one.model_dump(exclude={"expires_at"}))
        try:
            await self.db.transact(create(latest), check(one.ref()))
        except AlreadyExists:
            return await latest_user_criteria(self.db, one.room_id, one.user_id)
        except NotFound:
            return None
        return latest


def _statement(one: UserCriteria | LatestCriteria) -> tuple[datetime, str]:
    """What tells criteria apart: those from before had no ids of their own."""
    return one.timestamp, one.criteria_id


def handler(_event: object, _context: object) -> dict[str, int]:
    """One pass, for AWS Lambda."""
    return {"ended": asyncio.run(run(os.environ.get(BACKEND, "dynamodb://")))}


async def run(backend: str, *, daily: bool = False) -> int:
    """One pass, or one every day until stopped; gives how many criteria got an end."""
    async with await design.open_async(backend, create_tables=False) as db:
        while True:
            ended = await tidy(db)
            if not daily:
                return ended
            await asyncio.sleep(EVERY.total_seconds())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m keyfold_systems.search_room.retention", description=_first_line()
    )
    parser.add_argument("backend", help="a file, or an address such as dynamodb://eu-west-1")
    parser.add_argument("--daily", action="store_true", help="go on, once a day")
    given: Any = parser.parse_args(arguments)
    ended = asyncio.run(run(given.backend, daily=given.daily))
    print(f"{ended} criteria got an end, {SUPERSEDED_CRITERIA_DAYS} days from now")


def _first_line() -> str:
    return (__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    main()
