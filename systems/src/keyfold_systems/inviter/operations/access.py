"""Who may do what, and what all operations share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from keyfold import AsyncDb, exists, not_
from keyfold_web import Arguments, Identity, Missing, Service, rule
from keyfold_systems.inviter.entities import Group, Hangout, Membership, User
from keyfold_systems.inviter.patterns import membership


class Part(Service):
    """Some operations over the one database."""

    async def person(self, user_id: str) -> User:
        """Somebody with a profile who is not leaving."""
        user = await self.db.find(User.key(user_id=user_id))
        if user is None or user.leaving:
            raise Missing.of("user", user_id)
        return user

    async def names_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """What people are called; who is gone is left out."""
        found = await self.db.get_many([User.key(user_id=one) for one in sorted(ids)])
        return {one.user_id: one.name for one in found if one is not None}


@rule
async def member(service: Part, caller: Identity, arguments: Arguments) -> bool:
    return await membership(service.db, arguments["group_id"], caller.id) is not None


@rule
async def group_owner(service: Part, caller: Identity, arguments: Arguments) -> bool:
    group = await service.db.find(Group.key(group_id=arguments["group_id"]))
    return group is not None and group.owner_id == caller.id


@rule
async def host(service: Part, caller: Identity, arguments: Arguments) -> bool:
    hangout = await service.db.find(Hangout.key(hangout_id=arguments["hangout_id"]))
    return hangout is not None and hangout.host_id == caller.id


@rule
async def guest(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """The host, somebody invited, or a member of an invited group."""
    hangout = await service.db.find(Hangout.key(hangout_id=arguments["hangout_id"]))
    if hangout is None:
        return False
    if caller.id == hangout.host_id or caller.id in hangout.user_ids:
        return True
    return await group_of(service.db, hangout, caller.id) is not None


async def group_of(db: AsyncDb, hangout: Hangout, user_id: str) -> str | None:
    """An invited group that a user is in; a host on the list needs none, and stays without it."""
    if user_id == hangout.host_id and user_id in hangout.user_ids:
        return None
    keys = [Membership.key(group_id=one, user_id=user_id) for one in sorted(hangout.group_ids)]
    return next((one.group_id for one in await db.get_many(keys) if one is not None), None)


def is_open(group: Any) -> Any:
    """The condition that a group is there and not being closed."""
    return exists(group.group_id) & not_(group.closing)


def stays(user: Any) -> Any:
    """The condition that a user is there and not leaving."""
    return exists(user.user_id) & not_(user.leaving)
