"""Rooms, and what is written in them."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import Annotated

from pydantic import StringConstraints

from keyfold import Page, Timestamp, add, check, create, delete, missing, new_ulid, remove
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    itself,
    moderator,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold_systems.gg_core.entities import Group, Role, User
from keyfold_systems.gg_core.operations.access import (
    Part,
    admin_of_room,
    blocks_between,
    group_member,
    id_of,
    in_room,
    registered,
    writer,
)
from keyfold_systems.gg_core.operations.people import person_view
from keyfold_systems.gg_core.patterns import chat_history, rooms_of_group, rooms_of_user
from keyfold_systems.gg_core.payloads import Hours, MessageView, NewRoom, RoomView
from keyfold_systems.gg_core.rooms import MOST_MEMBERS_OF_A_ROOM, Message, Room, RoomMark

MessageText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)
]

NAMED = 5
"""So many of the others in a room are named in a list."""
_ROOM = {"room_id", "scope", "group_id", "last_text", "last_by", "last_at"}
_MESSAGE = {"room_id", "message_id", "user_id", "text", "created_at", "expires_at"}


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
        """Open a room with others, or for a group that you are an admin of.

        Two people have one room for their direct conversation: they get the one that is there.
        """
        members = await self._members(input, caller.id)
        if input.scope == "dm":
            return await self._conversation(*sorted(members))
        room = Room(room_id=new_ulid(), scope=input.scope, members=members, group_id=input.group_id)
        return await self.db.create(room)

    @query("/rooms/{room_id}", allow=in_room)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[RoomView]:
        """The rooms that name you; those of your groups are listed with the groups."""
        found = await rooms_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        rooms = await self.db.get_many([Room.key(room_id=one.room_id) for one in found])
        return Page(await self._views([one for one in rooms if one], user_id), found.cursor)

    @query("/groups/{group_id}/rooms", allow=group_member)
    async def group_rooms(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[RoomView]:
        """The rooms of a group that you are in."""
        found = await rooms_of_group.after(page.cursor)(self.db, group_id, limit=page.limit)
        return Page(await self._views(list(found), caller.id), found.cursor)

    @mutation("/rooms/{room_id}/members/{user_id}", name="addToRoom", method="PUT", allow=in_room)
    async def add_to_room(self, room_id: str, user_id: str, caller: Identity) -> Room:
        """Bring somebody into a room."""
        room = await self._open_room(room_id)
        await self.present(user_id)
        await self.refuse_blocked(caller.id, {user_id})
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
        allow=in_room & registered,
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
        room = await self.db.get(Room.key(room_id=room_id))
        if room.scope == "dm" and room.members == {caller.id}:
            raise Conflict("Nobody else is here any more.", code="ALONE")
        if len(room.members) == 2:
            await self.refuse_blocked(caller.id, room.members)
        now = self.db.context.now()
        mark = RoomMark(user_id=caller.id, room_id=room_id, read_at=now)
        if await self.db.find(mark.ref()) is None:
            # It also says where somebody wrote, for when they leave.
            await self.db.put(mark)
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
    async def messages(
        self, room_id: str, page: PageRequest, caller: Identity
    ) -> Page[MessageView]:
        """A room's messages, newest first."""
        found = await chat_history.after(page.cursor)(self.db, room_id, limit=page.limit)
        people = await self.users(one.user_id for one in found)
        rows = [
            MessageView(
                author_name=people[one.user_id].full_name if one.user_id in people else None,
                mine=one.user_id == caller.id,
                **one.model_dump(include=_MESSAGE),
            )
            for one in found
        ]
        return Page(rows, found.cursor)

    @mutation(
        "/rooms/{room_id}/messages/{message_id}",
        name="deleteMessage",
        method="DELETE",
        allow=writer | admin_of_room | moderator,
    )
    async def delete_message(
        self, room_id: str, message_id: str, created_at: Timestamp, caller: Identity
    ) -> None:
        """Take a message back, or out of a room that you are to keep in order."""
        ref = Message.key(room_id=room_id, message_id=message_id, created_at=created_at)
        message = await self.db.find(ref)
        if message is None:
            raise Missing.of("message", message_id)
        entry = self.audited(caller, "remove", f"message {room_id}/{message_id}")
        decided = [] if message.user_id == caller.id else [entry]
        await self.db.transact(delete(ref), *decided)

    @mutation("/rooms/{room_id}/read", name="readRoom", method="PUT", allow=in_room)
    async def read_room(self, room_id: str, caller: Identity) -> None:
        """You have read what is in a room until now."""
        now = self.db.context.now()
        await self.db.put(RoomMark(user_id=caller.id, room_id=room_id, read_at=now))

    async def _conversation(self, one: str, other: str) -> Room:
        """The room of two people: its id follows from who they are, so that there is one."""
        await self.refuse_blocked(one, {other})
        room = Room(room_id=id_of("dm", one, other), scope="dm", members={one, other})
        guards = [
            check(block, where=lambda b: missing(b.user_id)) for block in blocks_between(one, other)
        ]
        try:
            made: Room = (await self.db.transact(create(room), *guards))[0]
        except AlreadyExists:
            found = await self.db.get(room.ref())
            if found.members == room.members:
                return found
            # Who left for good and came back is let in again.
            return await self.db.update(room.ref(), members=add(room.members))
        except ConditionFailed:
            raise NotAllowed("One of you blocked the other.", code="BLOCKED") from None
        return made

    async def _views(self, rooms: list[Room], user_id: str) -> list[RoomView]:
        """Rooms as a list shows them: three requests, however many they are."""
        marks = await self.db.get_many(
            [RoomMark.key(user_id=user_id, room_id=room.room_id) for room in rooms]
        )
        others = {room.room_id: sorted(room.members - {user_id})[:NAMED] for room in rooms}
        people = await self.users(chain(*others.values(), (room.last_by for room in rooms)))
        ids = sorted({room.group_id for room in rooms if room.group_id is not None})
        groups = await self.db.get_many([Group.key(group_id=one) for one in ids])
        names = {group.group_id: group.name for group in groups if group is not None}
        views = []
        for room, mark in zip(rooms, marks, strict=True):
            known = [people[one] for one in others[room.room_id] if one in people]
            title = ", ".join(one.full_name for one in known)
            speaker = people.get(room.last_by or "")
            read = mark is not None and room.last_at is not None and mark.read_at >= room.last_at
            views.append(
                RoomView(
                    title=names.get(room.group_id or "", title),
                    people=[person_view(one) for one in known],
                    last_by_name=None if speaker is None else speaker.full_name,
                    unread=room.last_at is not None and room.last_by != user_id and not read,
                    **room.model_dump(include=_ROOM),
                )
            )
        return views

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
        if len(members) == 1:
            raise Invalid("members", "name somebody else")
        if len(members) > MOST_MEMBERS_OF_A_ROOM:
            raise Invalid("members", f"a room has at most {MOST_MEMBERS_OF_A_ROOM} members")
        named = sorted(members)
        found = await self.db.get_many([User.key(id=one) for one in named])
        pairs = zip(named, found, strict=True)
        if unknown := [one for one, user in pairs if user is None or user.leaving]:
            raise Invalid("members", f"unknown: {', '.join(unknown)}")
        await self.refuse_blocked(user_id, members)
        return members

    async def _open_room(self, room_id: str) -> Room:
        """A room whose members come and go one by one."""
        room = await self.db.get(Room.key(room_id=room_id))
        if room.scope == "dm" or room.group_id is not None:
            raise Conflict("The members of this room do not change here.", code="FIXED_MEMBERS")
        return room
