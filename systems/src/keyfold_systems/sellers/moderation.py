"""What people report, and what moderators do about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from keyfold import check, new_ulid, put, update
from keyfold_web import (
    Arguments,
    Identity,
    Missing,
    Removed,
    Subject,
    Suspensions,
    Trail,
    authenticated,
    rule,
)
from keyfold.runtime import Intent
from keyfold_systems.sellers.access import access
from keyfold_systems.sellers.catalogs import delete_unused
from keyfold_systems.sellers.entities import Account, Catalog, Notice, Profile
from keyfold_systems.sellers.oversight import Suspension, trail
from keyfold_systems.sellers.parts import Part, names
from keyfold_systems.sellers.personal_data import PersonalDataOperations
from keyfold_systems.sellers.profiles import delete_profile


@rule
async def reader(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """Who may read a profile."""
    try:
        return bool((await access(service.db, arguments["profile_id"], caller)).permissions)
    except Missing:
        return False


def hide(catalog: Catalog) -> list[Intent]:
    """Nobody finds it any more."""
    return [update(catalog.ref(), is_public=False)]


def stays(item: Profile | Account) -> list[Intent]:
    """It is there until everything in it is gone."""
    return [check(item.ref())]


async def drop(service: Part, catalog: Catalog, _: Identity) -> None:
    """One from which seasons sell stays, private."""
    await delete_unused(service.db, catalog)


async def close(service: Part, profile: Profile, _: Identity) -> None:
    await delete_profile(service.db, profile.profile_id)


async def expel(service: PersonalDataOperations, account: Account, caller: Identity) -> None:
    await service.delete_account(account.account_id, caller)


class ModerationOperations(Suspensions, Part):
    """Catalogs, profiles and accounts can be reported by those who see them."""

    trail: ClassVar[Trail] = trail
    suspension = Suspension
    people_kind = "account"
    while_suspended = Suspensions.while_suspended | {"deleteMyAccount"}
    subjects = {
        "catalog": Subject(
            Catalog,
            ["catalog_id"],
            allow=authenticated,
            owner="owner_account_id",
            shown="catalog_name",
            remove=hide,
            finish=drop,
        ),
        "profile": Subject(
            Profile,
            ["profile_id"],
            allow=reader,
            owner="owner_account_id",
            shown="seller_name",
            remove=stays,
            finish=close,
        ),
        "account": Subject(
            Account,
            ["account_id"],
            allow=authenticated,
            owner="account_id",
            shown="given_name",
            remove=stays,
            finish=expel,
            by_admin=True,
        ),
    }

    async def removal_notice(self, removed: Removed) -> Intent | None:
        owner = await self.db.find(Account.key(account_id=removed.owner_id))
        if owner is None or owner.deleting_since is not None:
            return None
        notice = Notice(
            user_id=removed.owner_id,
            notice_id=new_ulid(),
            kind="removed",
            text=f"{removed.title}: {removed.reason}",
            created_at=self.db.context.now(),
        )
        return put(notice)

    async def names_of(self, ids: Collection[str]) -> Mapping[str, str]:
        found = await names(self.db, ids)
        return {one: account.given_name for one, account in found.items()}
