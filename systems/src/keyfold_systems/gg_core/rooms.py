"""Where people write to each other: rooms, what is written in them, and who has read it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from keyfold import (
    AtMost,
    Cascade,
    Created,
    Entity,
    Id,
    Key,
    Latest,
    On,
    Pointer,
    Timestamp,
    Ttl,
    Version,
    delete,
)
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.gg_core import rooms_types as typed
from keyfold_systems.gg_core.entities import design, table

MOST_MEMBERS_OF_A_ROOM: Final = 50


class Room(typed.Room, Entity, table=table):
    """Where people write to each other: those named in it, or all of a group."""

    room_id: Id
    scope: Literal["dm", "group"]
    members: Annotated[set[str], AtMost(MOST_MEMBERS_OF_A_ROOM)] = set()
    group_id: Id | None = None
    last_id: Id | None = None
    last_at: Timestamp | None = None
    last_by: Id | None = None
    last_text: str | None = None
    message_changes: int = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("ROOM#{room_id}", "ROOM#{room_id}")
    by_group = On("GSI1", "GROUP#{group_id}", "ENTITY#Room#{room_id}", when="group_id")
    messages = Cascade("Message", sync="stream")
    last = Latest(
        "Message",
        by="created_at",
        shows={
            "last_id": "message_id",
            "last_at": "created_at",
            "last_by": "user_id",
            "last_text": "text",
        },
        moves="message_changes",
        sync="stream",
    )


class UserRoom(typed.UserRoom, Pointer[Room], table=table, each="members"):
    """A room as one of a user's rooms."""

    user_id: Id
    room_id: Id
    scope: Literal["dm", "group"]

    key = Key("USER#{user_id}", "ROOM#{room_id}")


class RoomMark(typed.RoomMark, Entity, table=table):
    """How far somebody has read in a room."""

    user_id: Id
    room_id: Id
    read_at: Timestamp

    key = Key("USER#{user_id}", "READ#{room_id}")


class Message(typed.Message, Entity, table=table):
    """Something written in a room."""

    room_id: Id
    message_id: Id
    user_id: Id
    text: Annotated[str, Field(min_length=1, max_length=4000)]
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl()] = None

    key = Key("ROOM#{room_id}", "MSG#{created_at:iso}#{message_id}")


@design.on(Room, "modify", name="close_room")
async def close_room(_: Room, new: Room, delivery: Delivery) -> list[Intent]:
    """A room that nobody is in goes with what is written in it."""
    if new.members or new.group_id is not None:
        return []
    room = await delivery.find(new.ref())
    return [delete(room)] if room is not None and not room.members else []
