"""Rooms, and what is said in them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from keyfold import Page, create, new_ulid
from keyfold.errors import AlreadyExists
from keyfold.streams import Change
from keyfold_systems.gg_core import patterns
from keyfold_systems.gg_core.entities import Message, Room, RoomOfUser
from keyfold_systems.gg_core.operations.access import Part, in_room, profile_of
from keyfold_systems.gg_core.views import Hours, MessageView, NewRoom, RoomView, Said
from keyfold_web import (
    Identity,
    Invalid,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
    subscription,
)


class Chat(Part):
    """Asynchronous chat."""

    @mutation("/rooms", allow=authenticated, status=201)
    async def create_room(self, input: NewRoom, caller: Identity) -> Room:
        """Open a room with others; two users have one room, whoever opens it."""
        members = list(dict.fromkeys([caller.id, *input.members]))
        if len(members) < 2:
            raise Invalid("members", "name somebody else")
        direct = len(members) == 2
        room_id = room_of_two(members) if direct else new_ulid()
        room = Room(room_id=room_id, scope="dm" if direct else "group", members=members)
        listed = [create(RoomOfUser(user_id=one, room_id=room_id)) for one in members]
        with suppress(AlreadyExists):  # then it is there, with the same two
            await self.db.transact(create(room), *listed, *map(profile_of, members))
        return await self.db.get(room.ref())

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[RoomView]:
        """Your rooms."""
        found = await page.read(self.db, patterns.rooms_of_user, user_id)
        rooms = await self.db.get_many([Room.key(room_id=one.room_id) for one in found])
        there = [one for one in rooms if one is not None]
        people = await self.people(member for one in there for member in one.members)
        return Page(
            [
                RoomView.of(one, people=[people[m] for m in one.members if m in people])
                for one in there
            ],
            found.cursor,
        )

    @mutation("/rooms/{room_id}/messages", allow=in_room, status=201)
    async def send_message(
        self, room_id: str, text: Said, caller: Identity, hours: Hours | None = None
    ) -> MessageView:
        """Send a message to a room; with `hours`, it expires."""
        now = self.db.context.now()
        new = Message(
            room_id=room_id,
            message_id=new_ulid(),
            user_id=caller.id,
            text=text,
            created_at=now,
            expires_at=None if hours is None else now + timedelta(hours=hours),
        )
        [view] = await self._messages([await self.db.put(new)])
        return view

    @query("/rooms/{room_id}/messages", allow=in_room)
    async def history(self, room_id: str, page: PageRequest) -> Page[MessageView]:
        """The messages of a room, newest first."""
        found = await page.read(self.db, patterns.history, room_id)
        return Page(await self._messages(found.items), found.cursor)

    @subscription(Message, allow=in_room)
    async def message_sent(self, change: Change[Message], room_id: str) -> MessageView | None:  # noqa: ARG002
        """What is said in a room, as it is said."""
        if change.new is None or change.old is not None:
            return None
        [view] = await self._messages([change.new])
        return view

    async def _messages(self, found: Sequence[Message]) -> list[MessageView]:
        names = await self.names(one.user_id for one in found)
        return [MessageView.of(one, user_name=names.get(one.user_id, "")) for one in found]


def room_of_two(members: Sequence[str]) -> str:
    """The id of the room of two users, which follows from theirs."""
    return hashlib.sha256("#".join(sorted(members)).encode()).hexdigest()[:32]
