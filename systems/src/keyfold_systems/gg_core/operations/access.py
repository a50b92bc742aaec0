"""Who may do what, and what all operations share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from keyfold_web import Arguments, Identity, Missing, NotAllowed, Service, Trail, rule
from keyfold.runtime import Intent
from keyfold_systems.gg_core.entities import Activity, Block, Group, GroupMember, Role, User
from keyfold_systems.gg_core.oversight import AuditEntry, Report
from keyfold_systems.gg_core.patterns import audit_trail, reports_by_status
from keyfold_systems.gg_core.rooms import Message, Room

trail = Trail(Report, AuditEntry, reports_by_status, audit_trail)


class Part(Service):
    """Some operations over the one database."""

    async def role(self, group_id: str, user_id: str) -> Role | None:
        """A user's role in a group."""
        member = await self.db.find(GroupMember.key(group_id=group_id, user_id=user_id))
        return member.role if member is not None else None

    async def is_group(self, actor_id: str) -> bool:
        return await self.db.find(Group.key(group_id=actor_id)) is not None

    async def users(self, ids: Iterable[str | None]) -> dict[str, User]:
        """Profiles by id, in one request; who is gone is left out."""
        wanted = sorted({one for one in ids if one is not None})
        found = await self.db.get_many([User.key(id=one) for one in wanted])
        return {user.id: user for user in found if user is not None}

    async def present(self, user_id: str) -> User:
        """Somebody with a profile who is not leaving."""
        user = await self.db.find(User.key(id=user_id))
        if user is None or user.leaving:
            raise Missing.of("user", user_id)
        return user

    async def sees(self, actor_id: str, caller: Identity) -> bool:
        """Whether somebody sees what a user or a group does."""
        if await self.role(actor_id, caller.id) is not None:
            return True
        return not await self.is_group(actor_id) and not await self.are_apart(actor_id, [caller.id])

    async def are_apart(self, one: str, others: Iterable[str]) -> bool:
        """Whether somebody blocked one of the others, or was blocked by one."""
        refs = [ref for other in others if other != one for ref in blocks_between(one, other)]
        return any(block is not None for block in await self.db.get_many(refs))

    async def refuse_blocked(self, one: str, others: Iterable[str]) -> None:
        if await self.are_apart(one, others):
            raise NotAllowed("One of you blocked the other.", code="BLOCKED")

    def audited(self, caller: Identity, action: str, subject: str, note: str = "") -> Intent:
        """The write that keeps what was decided; it goes into the transaction of the decision."""
        return trail.note(self.db, caller, action, subject, note)


def blocks_between(one: str, other: str) -> list[Any]:
    return [
        Block.key(user_id=one, blocked_id=other),
        Block.key(user_id=other, blocked_id=one),
    ]


def id_of(*parts: str) -> str:
    """An id that follows from what it is about, so that there is one of it."""
    return hashlib.sha256("#".join(parts).encode()).hexdigest()[:32]


@rule
async def registered(service: Part, caller: Identity, _: Arguments) -> bool:
    """Somebody with a profile who is not leaving."""
    user = await service.db.find(User.key(id=caller.id))
    return user is not None and not user.leaving


@rule
async def group_member(service: Part, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) is not None


@rule
async def group_admin(service: Part, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) in (Role.OWNER, Role.ADMIN)


@rule
async def group_owner(service: Part, caller: Identity, arguments: Arguments) -> bool:
    return await service.role(arguments["group_id"], caller.id) == Role.OWNER


@rule
async def admin_of_actor(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """An admin of the group that an activity is of."""
    return await service.role(arguments["actor_id"], caller.id) in (Role.OWNER, Role.ADMIN)


@rule
async def author(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """Who wrote an activity, be it their own or a group's."""
    names = ("actor_id", "activity_id", "created_at")
    activity = await service.db.find(Activity.key(**{name: arguments[name] for name in names}))
    return activity is not None and activity.author_id == caller.id


@rule
async def in_room(service: Part, caller: Identity, arguments: Arguments) -> bool:
    room = await service.db.find(Room.key(room_id=arguments["room_id"]))
    if room is None:
        return False
    if room.group_id is not None:
        return await service.role(room.group_id, caller.id) is not None
    return caller.id in room.members


@rule
async def writer(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """Who wrote a message."""
    names = ("room_id", "message_id", "created_at")
    message = await service.db.find(Message.key(**{name: arguments[name] for name in names}))
    return message is not None and message.user_id == caller.id


@rule
async def admin_of_room(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """An admin of the group whose room it is."""
    room = await service.db.find(Room.key(room_id=arguments["room_id"]))
    if room is None or room.group_id is None:
        return False
    return await service.role(room.group_id, caller.id) in (Role.OWNER, Role.ADMIN)
