"""Who may do what, and what all operations share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keyfold import check
from keyfold.runtime import Intent
from keyfold_systems.gg_core.entities import Group, GroupMember, Role, Room, User
from keyfold_systems.gg_core.views import Person
from keyfold_web import Arguments, Identity, Service, rule


class Part(Service):
    """Some operations over the one database."""

    async def role(self, group_id: str, user_id: str) -> Role | None:
        """A user's role in a group."""
        member = await self.db.find(GroupMember.key(group_id=group_id, user_id=user_id))
        return member.role if member is not None else None

    async def people(self, ids: Iterable[str]) -> dict[str, Person]:
        """Users by id, in one batch."""
        refs = [User.key(user_id=one) for one in sorted(set(ids))]
        found = await self.db.get_many(refs)
        return {one.user_id: Person.of(one) for one in found if one is not None}

    async def names(self, actors: Iterable[str]) -> dict[str, str]:
        """What users and groups are called, in one batch."""
        wanted = sorted(set(actors))
        refs: list[Any] = [User.key(user_id=one) for one in wanted]
        refs += [Group.key(group_id=one) for one in wanted]
        found = [one for one in await self.db.get_many(refs) if one is not None]
        users = {one.user_id: one.full_name for one in found if isinstance(one, User)}
        groups = {one.group_id: one.name for one in found if isinstance(one, Group)}
        return {**groups, **users}


def profile_of(user_id: str) -> Intent:
    """The condition that a user has a profile."""
    return check(User.key(user_id=user_id))


@rule
async def group_member(service: Part, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) is not None


@rule
async def in_room(service: Part, caller: Identity, arguments: Arguments) -> bool:
    room = await service.db.find(Room.key(room_id=arguments["room_id"]))
    return room is not None and caller.id in room.members
