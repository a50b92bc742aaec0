"""Rooms, and what is written in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import StringConstraints

from keyfold import Page, add, new_ulid, remove
from keyfold.api import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    PageRequest,
    itself,
    mutation,
    query,
)
from keyfold_systems.gg_core.entities import (
    MOST_MEMBERS_OF_A_ROOM,
    Message,
    Role,
    Room,
    User,
    UserRoom,
)
from keyfold_systems.gg_core.operations.access import Part, group_member, in_room, registered
from keyfold_systems.gg_core.patterns import chat_history, rooms_of_group, rooms_of_user
from keyfold_systems.gg_core.payloads import Hours, NewRoom

MessageText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)
]


class Chat(Part):
    """Asynchronous chat."""

    @mutation(
        "/rooms",
        name="createRoom",
        allow=registered,
        status=201,
        example={"input": {"scope": "dm", "members": ["userId"]}},
    )
    async def create_room(self, input: NewRoom, caller: Identity) -> Room:
        """Open a room with others, or for a group that you are an admin of."""
        members = await self._members(input, caller.id)
        return await self.db.create(
            Room(
                room_id=new_ulid(),
                scope=input.scope,
                members=members,
                group_id=input.group_id,
            )
        )

    @query("/rooms/{room_id}", allow=in_room)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[UserRoom]:
        """The rooms that name you; those of your groups are listed with the groups."""
        return await rooms_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/groups/{group_id}/rooms", allow=group_member)
    async def group_rooms(self, group_id: str, page: PageRequest) -> Page[Room]:
        """The rooms of a group that you are in."""
        return await rooms_of_group.after(page.cursor)(self.db, group_id, limit=page.limit)

    @mutation("/rooms/{room_id}/members/{user_id}", name="addToRoom", method="PUT", allow=in_room)
    async def add_to_room(self, room_id: str, user_id: str) -> Room:
        """Bring somebody into a room."""
        room = await self._open_room(room_id)
        await self.db.get(User.key(id=user_id))
        if len(room.members | {user_id}) > MOST_MEMBERS_OF_A_ROOM:
            raise Invalid("userId", f"a room has at most {MOST_MEMBERS_OF_A_ROOM} members")
        return await self.db.update(room, members=add({user_id}))

    @mutation("/rooms/{room_id}/membership", name="leaveRoom", method="DELETE", allow=in_room)
    async def leave_room(self, room_id: str, caller: Identity) -> None:
        """Leave a room."""
        room = await self._open_room(room_id)
        await self.db.update(room, members=remove({caller.id}))

    @mutation(
        "/rooms/{room_id}/messages",
        name="sendMessage",
        allow=in_room,
        status=201,
        example={"text": "See you at six?"},
    )
    async def send_message(
        self,
        room_id: str,
        text: MessageText,
        caller: Identity,
        hours: Hours | None = None,
    ) -> Message:
        """Write something in a room, for good or for some hours."""
        now = self.db.context.now()
        message = Message(
            room_id=room_id,
            message_id=new_ulid(),
            user_id=caller.id,
            text=text,
            created_at=now,
            expires_at=None if hours is None else now + timedelta(hours=hours),
        )
        return await self.db.create(message)

    @query("/rooms/{room_id}/messages", allow=in_room)
    async def messages(self, room_id: str, page: PageRequest) -> Page[Message]:
        """A room's messages, newest first."""
        return await chat_history.after(page.cursor)(self.db, room_id, limit=page.limit)

    async def _members(self, input: NewRoom, user_id: str) -> set[str]:
        if input.group_id is not None:
            if input.scope != "group" or input.members:
                raise Invalid("members", "a group's room is for all of the group")
            if await self.role(input.group_id, user_id) not in (Role.OWNER, Role.ADMIN):
                raise NotAllowed("Only an admin of the group may open a room for it.")
            return set()
        members = input.members | {user_id}
        if input.scope == "dm" and len(members) != 2:
            raise Invalid("members", "a direct conversation has two people")
        if len(members) > MOST_MEMBERS_OF_A_ROOM:
            raise Invalid("members", f"a room has at most {MOST_MEMBERS_OF_A_ROOM} members")
        named = sorted(members)
        found = await self.db.get_many([User.key(id=one) for one in named])
        unknown = [one for one, user in zip(named, found, strict=True) if user is None]
        if unknown:
            raise Invalid("members", f"there is no {', '.join(unknown)}")
        return members

    async def _open_room(self, room_id: str) -> Room:
        """A room whose members come and go one by one."""
        room = await self.db.get(Room.key(room_id=room_id))
        if room.scope == "dm" or room.group_id is not None:
            raise Conflict("The members of this room do not change here.", code="FIXED_MEMBERS")
        return room
