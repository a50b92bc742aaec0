"""Leaving: what somebody did here goes with them, step by step, from the stream.

Each step takes away a page of what is left and moves the departure on, in one transaction; the
change of the departure brings the next step. What remains to be done is what is there, so a
consumer that dies goes on, and what is added meanwhile is found too. The profile goes last, with
all that hangs on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from keyfold import Entity, Id, Key, Pointer, Timestamp, add, delete, exists, remove, update
from keyfold.errors import CursorRefused
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.gg_core import departure_types as typed
from keyfold_systems.gg_core.entities import (
    Activity,
    Follow,
    Group,
    GroupMember,
    Promotion,
    Role,
    User,
    design,
    home,
    table,
)
from keyfold_systems.gg_core.rooms import Message, Room, RoomMark, UserRoom

AT_ONCE: Final = 10
"""Things that go in a step: with all that follows from each, a transaction holds them."""
POSTS_AT_ONCE: Final = 1
"""One post alone is written to every replica of the removed list."""
MESSAGES_AT_ONCE: Final = 50
RANKS: Final = (Role.OWNER, Role.ADMIN, Role.MEMBER)
"""In this order others get a group that is left; among equals, who is in it the longest."""


def _in_a_group(activity: Activity) -> object:
    return exists(activity.group_id)


class GroupPost(
    typed.GroupPost,
    Pointer[Activity],
    table=table,
    sync="stream",
    when=_in_a_group,
    silence=(("W8", "it goes with its activity"),),
):
    """What somebody wrote in a group, as one of their things."""

    author_id: Id
    actor_id: Id
    activity_id: Id
    created_at: Timestamp

    key = Key("USER#{author_id}", "POSTED#{created_at:iso}#{activity_id}")


class Departure(typed.Departure, Entity, table=table):
    """Somebody is leaving."""

    user_id: Id
    asked_at: Timestamp
    steps: int = 0
    room_id: Id | None = None
    """The room whose messages are gone through, and how far that has come."""
    cursor: str | None = None

    key = Key("USER#{user_id}", "DEPARTURE#{user_id}")


@design.on(Departure, "insert", name="begin_departure")
async def begin_departure(_: None, new: Departure, delivery: Delivery) -> list[Intent]:
    """The first step."""
    return await _step(new, delivery)


@design.on(Departure, "modify", name="go_on_departing")
async def go_on_departing(_: Departure, new: Departure, delivery: Delivery) -> list[Intent]:
    """The next step."""
    return await _step(new, delivery)


async def _step(departure: Departure, delivery: Delivery) -> list[Intent]:
    for stage in STAGES:
        writes = await stage(departure, delivery)
        if writes:
            return writes
    return [
        delete(User.key(id=departure.user_id)),
        delete(Promotion.key(user_id=departure.user_id)),
        delete(departure.ref()),
        *home.forgetting(departure.user_id),
    ]


def _on(departure: Departure, *writes: Intent) -> list[Intent]:
    """Writes, and the departure one step further; none where there is nothing to write."""
    return [*writes, update(departure.ref(), steps=add(1))] if writes else []


async def _leave_groups(departure: Departure, delivery: Delivery) -> list[Intent]:
    """A group stays and gets another owner, if anybody else is in it."""
    user_id = departure.user_id
    for member, group in await _memberships(user_id, delivery):
        kept = member.role != Role.OWNER or group.owners > 1
        if kept and group.owner_id != user_id:
            return _on(departure, _out(member), home.hiding(user_id, group.group_id))
        members = await delivery.read(GroupMember.key.query(group_id=group.group_id).limit(100))
        others = [other for other in members if other.user_id != user_id]
        if not others:
            return _on(departure, delete(group.ref()))
        heir = min(others, key=lambda other: (RANKS.index(other.role), other.joined_at))
        owned = update(group.ref(), owner_id=heir.user_id)
        promoted = [] if heir.role == Role.OWNER else [update(heir.ref(), role=Role.OWNER)]
        return _on(departure, owned, *promoted)
    return []


async def _memberships(user_id: str, delivery: Delivery) -> list[tuple[GroupMember, Group]]:
    """Some groups that somebody is in; an index that is behind lists some that they left."""
    query, cursor = GroupMember.by_user.query(user_id=user_id).limit(AT_ONCE), None
    while True:
        page = await delivery.read(query, cursor=cursor)
        members = [await delivery.find(one.ref()) for one in page]
        groups = [await delivery.find(Group.key(group_id=one.group_id)) for one in page]
        pairs = zip(members, groups, strict=True)
        found = [(member, group) for member, group in pairs if member and group]
        cursor = page.cursor
        if found or cursor is None:
            return found


def _out(member: GroupMember) -> Intent:
    """Taken out, unless the role became another meanwhile."""
    return delete(member.ref(), where=lambda m: m.role == member.role)


async def _leave_rooms(departure: Departure, delivery: Delivery) -> list[Intent]:
    """Those who stay keep their rooms."""
    listed = await delivery.read(UserRoom.key.query(user_id=departure.user_id).limit(AT_ONCE))
    rooms = [await delivery.find(Room.key(room_id=one.room_id)) for one in listed]
    left = [room.ref() for room in rooms if room is not None]
    return _on(departure, *(update(ref, members=remove({departure.user_id})) for ref in left))


async def _take_back_messages(departure: Departure, delivery: Delivery) -> list[Intent]:
    """A mark says in which rooms somebody wrote; it goes when their messages there are gone."""
    user_id, room_id = departure.user_id, departure.room_id
    if room_id is None:
        marks = await delivery.read(RoomMark.key.query(user_id=user_id).limit(1))
        if not marks.items:
            return []
        room_id = marks[0].room_id
    wanted = Message.key.query(room_id=room_id).where(lambda m: m.user_id == user_id)
    try:
        page = await delivery.read(wanted.limit(MESSAGES_AT_ONCE), cursor=departure.cursor)
    except CursorRefused:
        # One that is too old, or of another room: what is gone is not found again.
        page = await delivery.read(wanted.limit(MESSAGES_AT_ONCE))
    gone: list[Intent] = [delete(message.ref()) for message in page]
    if page.cursor is None:
        gone.append(delete(RoomMark.key(user_id=user_id, room_id=room_id)))
    place = room_id if page.cursor is not None else None
    moved = update(departure.ref(), steps=add(1), room_id=place, cursor=page.cursor)
    return [*gone, moved]


async def _take_back_posts(departure: Departure, delivery: Delivery) -> list[Intent]:
    posts = GroupPost.key.query(author_id=departure.user_id).limit(POSTS_AT_ONCE)
    pointed = [
        Activity.key(actor_id=one.actor_id, activity_id=one.activity_id, created_at=one.created_at)
        for one in await delivery.read(posts)
    ]
    there = [post for ref in pointed if (post := await delivery.find(ref)) is not None]
    if not there:
        own = Activity.key.query(actor_id=departure.user_id).limit(POSTS_AT_ONCE)
        there = list(await delivery.read(own.consistent()))
    return _on(departure, *(write for post in there for write in home.removing(post)))


async def _unfollow(departure: Departure, delivery: Delivery) -> list[Intent]:
    follows = Follow.key.query(follower_id=departure.user_id).limit(AT_ONCE).consistent()
    edges = await delivery.read(follows)
    return _on(departure, *(write for edge in edges for write in home.unfollowing(edge)))


Stage = Callable[[Departure, Delivery], Awaitable[list[Intent]]]
STAGES: Final[tuple[Stage, ...]] = (
    _leave_groups,
    _leave_rooms,
    _take_back_messages,
    _take_back_posts,
    _unfollow,
)
