"""Who may do what, and what all operations share."""

from __future__ import annotations

from keyfold import AsyncDb
from keyfold.api import Arguments, Identity, Service, rule
from keyfold_systems.gg_core.entities import Activity, GroupMember, Role, Room, User


class Part(Service):
    """Some operations over the one database."""

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def role(self, group_id: str, user_id: str) -> Role | None:
        """A user's role in a group."""
        member = await self.db.find(GroupMember.key(group_id=group_id, user_id=user_id))
        return member.role if member is not None else None


@rule
async def registered(service: Part, caller: Identity, _: Arguments) -> bool:
    """Somebody with a profile."""
    return await service.db.find(User.key(id=caller.id)) is not None


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
