"""Who may do what; people, rooms, what is said in them, and what changes."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from keyfold import (
    Page,
    Timestamp,
    check,
    create,
    delete,
    new_ulid,
    update,
)
from keyfold.errors import AlreadyExists
from keyfold.runtime import Intent
from keyfold.streams import Change
from keyfold_systems.search_room import patterns
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    Activity,
    CombinedCriteria,
    Compatibility,
    Listing,
    Member,
    Person,
    Role,
    Room,
    Sender,
    UserCriteria,
    UserRoom,
)
from keyfold_systems.search_room.views import (
    ActivityView,
    Changed,
    MemberView,
    Message,
    NewRoom,
    RoomCard,
    RoomChange,
    Stated,
    changes_of,
    show_activities,
    show_members,
    show_rooms,
)
from keyfold_web import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    Service,
    authenticated,
    itself,
    mutation,
    query,
    rule,
    subscription,
)

COPILOT: Final = "ai_copilot"
"""The group of tokens that copilots have; they are members like others."""


@rule
async def member(service: RoomOperations, caller: Identity, arguments: Arguments) -> bool:
    """A member of the room, by the membership itself and not by an index."""
    return await patterns.membership(service.db, arguments["room_id"], caller.id) is not None


@rule
async def owner(service: RoomOperations, caller: Identity, arguments: Arguments) -> bool:
    found = await patterns.membership(service.db, arguments["room_id"], caller.id)
    return found is not None and found.role == Role.OWNER


class RoomOperations(Service):
    """People, rooms and activities."""

    # People

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in keeps the name that the token says."""
        name = str(caller.claims.get("name") or "").strip()[:120]
        if name:
            with suppress(AlreadyExists):
                await self.db.create(Person(user_id=caller.id, name=name))

    @mutation("/users/{user_id}", method="PUT", allow=itself("user_id"))
    async def save_name(self, user_id: str, name: Stated) -> Person:
        """Set your name."""
        return await self.db.put(Person(user_id=user_id, name=name))

    # Rooms

    @mutation("/rooms", allow=authenticated, status=201)
    async def create_room(self, input: NewRoom, caller: Identity) -> Room:
        """Create a room; you own it."""
        new = Room(room_id=new_ulid(), created_by_user_id=caller.id, **dict(input))
        first = Member(room_id=new.room_id, user_id=caller.id, role=Role.OWNER)
        note = self._note(new.room_id, "RoomCreated", caller, new.name)
        made: Room = (await self.db.transact(create(new), create(first), create(note)))[0]
        return made

    @query("/rooms/{room_id}", allow=member)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[RoomCard]:
        """Your rooms."""
        found = await page.read(self.db, patterns.user_rooms, user_id)
        return Page(await show_rooms(self.db, found.items), found.cursor)

    @mutation("/rooms/{room_id}", method="PATCH", allow=owner)
    async def update_room(
        self,
        room_id: str,
        input: RoomChange,
        caller: Identity,
        expected_version: int | None = None,
    ) -> Room:
        """Change a room's name, search type or context."""
        found = await self.room(room_id)
        changes = changes_of(found, input.given())
        if not changes:
            return found
        note = self._note(room_id, "RoomChanged", caller, changes.get("name", found.name))
        change = update(found, **changes, expected_version=expected_version)
        changed: Room = (await self._written(caller, room_id, change, create(note)))[0]
        return changed

    @mutation("/rooms/{room_id}", method="DELETE", allow=owner)
    async def delete_room(self, room_id: str) -> None:
        """Delete a room with everything in it and every member's entry."""
        await self.db.delete(Room.key(room_id=room_id), must_exist=True)

    @query("/rooms/{room_id}/members", allow=member)
    async def members(self, room_id: str) -> list[MemberView]:
        """The members of a room."""
        found = await patterns.room_members(self.db, room_id)
        return await show_members(self.db, found.items)

    @mutation("/rooms/{room_id}/members", allow=owner, status=201)
    async def add_member(self, room_id: str, user_id: str, caller: Identity) -> MemberView:
        """Add a user who has signed in before."""
        if await self.db.find(Person.key(user_id=user_id)) is None:
            raise Invalid("userId", f"no user {user_id}")
        if len(await patterns.room_members(self.db, room_id)) >= MOST_MEMBERS:
            raise Conflict(f"A room has at most {MOST_MEMBERS} members.", code="FULL")
        twice = Conflict("They are a member already.", code="ALREADY_MEMBER")
        new = create(Member(room_id=room_id, user_id=user_id), refuse=twice)
        note = self._note(room_id, "MemberJoined", caller, user_id)
        made, *_ = await self._written(caller, room_id, new, create(note))
        return (await show_members(self.db, [made]))[0]

    @mutation(
        "/rooms/{room_id}/members/{user_id}", method="DELETE", allow=itself("user_id") | owner
    )
    async def leave(self, room_id: str, user_id: str, caller: Identity) -> None:
        """Leave a room, or remove a member; an owner can only delete the room."""
        found = await patterns.membership(self.db, room_id, user_id)
        found = Missing.unless(found, "member", user_id)
        if found.role == Role.OWNER:
            raise Conflict("The owner stays; delete the room instead.", code="OWNER")
        note = self._note(room_id, "MemberLeft", caller, user_id)
        await self.db.transact(delete(found.ref(), must_exist=True), create(note))

    # Activities

    @mutation("/rooms/{room_id}/messages", allow=member, status=201)
    async def say(self, room_id: str, text: Message, caller: Identity) -> ActivityView:
        """Send a message to a room, as yourself or as its copilot."""
        new = self._note(room_id, "ChatMessage", caller, text, system=False)
        [made, *_] = await self._written(caller, room_id, create(new))
        return (await show_activities(self.db, [made]))[0]

    @query("/rooms/{room_id}/activities", allow=member)
    async def activities(
        self, room_id: str, page: PageRequest, since: Timestamp | None = None
    ) -> Page[ActivityView]:
        """Activities: newest first, or those after a timestamp, oldest first."""
        if since is None:
            found = await page.read(self.db, patterns.room_activities, room_id)
        else:
            found = await page.read(self.db, patterns.activities_after, room_id, since)
        return Page(await show_activities(self.db, found.items), found.cursor)

    # What changes meanwhile

    @subscription(
        Room, Member, Listing, UserCriteria, CombinedCriteria, Compatibility, Activity, allow=member
    )
    async def room_changed(self, change: Change[Any], room_id: str) -> Changed:
        """A room and everything in it."""
        return Changed(room_id=room_id, kind=type(change.new or change.old).__name__)

    @subscription(UserRoom, allow=itself("user_id"))
    async def rooms_changed(self, change: Change[UserRoom], user_id: str) -> Changed:  # noqa: ARG002
        """Your list of rooms."""
        found = change.new or change.old
        return Changed(room_id=found.room_id if found else "", kind="UserRoom")

    # What several of them need

    async def _written(self, caller: Identity, room_id: str, *writes: Intent) -> list[Any]:
        """Writes of a member, all or none: who leaves at the same time leaves nothing behind."""
        gone = NotAllowed("You are not in this room any more.")
        there = check(Member.key(room_id=room_id, user_id=caller.id), refuse=gone)
        _, *made = await self.db.transact(there, *writes)
        return made

    def _now(self) -> datetime:
        """This moment, as exact as it is stored."""
        now = self.db.context.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def _note(
        self, room_id: str, kind: str, caller: Identity, text: str, *, system: bool = True
    ) -> Activity:
        sender: Sender = "system" if system else "user"
        if not system and COPILOT in caller.groups:
            sender = COPILOT
        return Activity(
            room_id=room_id,
            activity_id=new_ulid(),
            type=kind,
            created_at=self._now(),
            sender_type=sender,
            sender_id=caller.id,
            text=text,
        )
