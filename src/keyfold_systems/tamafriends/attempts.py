"""Wrong passwords in a row: each makes the next one wait, and many lock for a while."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import partial
from math import ceil

from keyfold import AsyncDb
from keyfold.api import TooMany
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold_systems.tamafriends.entities import Attempts

FREE = 2
"""So many typing errors cost nothing."""
MOST = 10
LOCKED = timedelta(minutes=15)
_RACES = 5


def delay(failures: int) -> timedelta:
    """How long to wait after so many failures."""
    if failures >= MOST:
        return LOCKED
    return timedelta(seconds=2 ** (failures - FREE - 1)) if failures > FREE else timedelta()


async def count(db: AsyncDb, subject: str) -> None:
    """Count an attempt before the password is looked at, so that many at once gain nothing."""
    ref = Attempts.key(subject=subject)
    for _ in range(_RACES):
        known, now = await db.find(ref), db.context.now()
        failures = known.failures if known is not None else 0
        if known is not None and now < known.not_before:
            raise TooMany(
                "Too many wrong passwords; try again later.",
                code="LOCKED" if failures >= MOST else "TRY_LATER",
                retry_after=ceil((known.not_before - now).total_seconds()),
            )
        new = Attempts(subject=subject, failures=failures + 1, not_before=now + delay(failures + 1))
        try:
            if known is None:
                await db.create(new)
            else:
                await db.put(new, where=partial(_unchanged, failures))
        except (AlreadyExists, ConditionFailed):
            continue
        return
    raise TooMany(code="TRY_LATER")


def _unchanged(failures: int, attempts: Attempts) -> object:
    return attempts.failures == failures


async def forget(db: AsyncDb, subject: str) -> None:
    """The password was right."""
    await db.delete(Attempts.key(subject=subject))


def of_account(user_id: str) -> str:
    return f"user:{user_id}"


def of_login(login: str) -> str:
    """A login that nobody has is counted too: from outside both look alike."""
    return f"login:{hashlib.sha256(login.casefold().encode()).hexdigest()}"
