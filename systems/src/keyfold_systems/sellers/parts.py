"""What the parts of the service share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from keyfold import AsyncDb, check
from keyfold.conditions import exists, missing
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.sellers.entities import Account, Profile, Season
from keyfold_web import Missing

T = TypeVar("T")


class Part:
    """Operations on one kind of thing."""

    db: AsyncDb


def existing(found: T | None, kind: str, id: str) -> T:
    if found is None:
        raise Missing.of(kind, id)
    return found


def profile_stays(profile_id: str) -> Intent:
    """A check that nobody deletes the profile meanwhile."""
    ref = Profile.key(profile_id=profile_id)
    return check(ref, where=lambda p: exists(p.created_at) & missing(p.deleting_since))


def season_stays(season_id: str) -> Intent:
    """A check that nobody deletes the season meanwhile."""
    ref = Season.key(season_id=season_id)
    return check(ref, where=lambda s: exists(s.created_at) & missing(s.deleting_since))


async def write_checked(db: AsyncDb, *intents: Any) -> Any:
    """The first intent's item; a failed check means that what it belongs to is being deleted."""
    try:
        return (await db.transact(*intents))[0]
    except (ConditionFailed, NotFound):
        raise Missing("What this belongs to is not there any more.") from None


async def names(db: AsyncDb, account_ids: Iterable[str | None]) -> dict[str, Account]:
    """Accounts by their ids, read at once."""
    wanted = sorted({one for one in account_ids if one})
    found = await db.get_many([Account.key(account_id=one) for one in wanted])
    return {one.account_id: one for one in found if one is not None}
