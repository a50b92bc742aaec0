"""What is said and what happens in a room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import StringConstraints

from keyfold import AsyncDb, Page, Ref, Timestamp, check, create, new_ulid
from keyfold_web import Identity, NotAllowed, PageRequest, mutation, query
from keyfold.errors import NotFound
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import copilot, member, reader
from keyfold_systems.search_room.entities import Activity, Listing, Member, Notification, Person
from keyfold_systems.search_room.patterns import activities_after, membership, room_activities
from keyfold_systems.search_room.people import PeopleOperations

CHAT = "ChatMessage"
ADVICE = "CopilotMessage"
ABOUT_PEOPLE = {"MemberInvited", "InvitationWithdrawn", "RoleChanged", "MemberRemoved"}
"""Types of activities about somebody; others are about a listing, if about anything."""
Message = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


Told = TypeVar("Told", Activity, Notification)


class ActivityOperations(PeopleOperations):
    """Messages, and notes of what others did."""

    @mutation(
        "/rooms/{room_id}/messages",
        allow=member,
        status=201,
        example={"text": "Shall we look at it on Sunday?"},
    )
    async def say(self, room_id: str, text: Message, caller: Identity) -> Activity:
        """Say something in a room."""
        said = self._activity(room_id, CHAT, caller.id, text, sender_type="user")
        made: Activity = (await self._written(room_id, caller, create(said)))[0]
        return (await with_names(self.db, [made]))[0]

    @mutation(
        "/rooms/{room_id}/copilot-messages",
        allow=copilot,
        status=201,
        example={"text": "Three of these have a balcony and fit the budget."},
    )
    async def advise(
        self, room_id: str, text: Message, caller: Identity, about: str | None = None
    ) -> Activity:
        """Say something as the room's copilot, about a listing or in general."""
        said = self._activity(room_id, ADVICE, caller.id, text, about, sender_type="ai_copilot")
        writes: list[Intent] = [create(said)]
        if about is not None:
            writes.append(check(Listing.key(room_id=room_id, listing_id=about)))
        made: Activity = (await self.db.transact(*writes))[0]
        return (await with_names(self.db, [made]))[0]

    @query("/rooms/{room_id}/activities", allow=reader)
    async def activities(
        self, room_id: str, page: PageRequest, since: Timestamp | None = None
    ) -> Page[Activity]:
        """What happened: newest first, or what came after a moment, in order."""
        if since is None:
            newest = room_activities.after(page.cursor)
            found = await newest(self.db, room_id, limit=page.limit)
        else:
            later = activities_after.after(page.cursor)
            found = await later(self.db, room_id, since, limit=page.limit)
        return Page(await with_names(self.db, found.items), found.cursor)

    async def _written(self, room_id: str, caller: Identity, *writes: Intent) -> list[Any]:
        """Writes of a member, all or none: who leaves at the same time leaves nothing behind."""
        there = check(Member.key(room_id=room_id, user_id=caller.id))
        try:
            return list(await self.db.transact(*writes, there))
        except NotFound:
            if await membership(self.db, room_id, caller.id) is None:
                raise NotAllowed("You are not in this room any more.") from None
            raise

    def _now(self) -> datetime:
        """This moment, as exact as it is stored."""
        now = self.db.context.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def _activity(
        self,
        room_id: str,
        kind: str,
        sender_id: str,
        text: str = "",
        about: str | None = None,
        sender_type: Literal["user", "ai_copilot", "system"] = "system",
    ) -> Activity:
        return Activity(
            room_id=room_id,
            created_at=self._now(),
            activity_id=new_ulid(),
            type=kind,
            sender_type=sender_type,
            sender_id=sender_id,
            text=text,
            about=about,
        )


async def with_names(db: AsyncDb, found: Sequence[Told]) -> list[Told]:
    """What happened with the names of who did it and of what it is about, in one batch."""
    wanted: dict[str, Ref[Any]] = {}
    for one in found:
        if one.about and one.room_id:
            wanted[one.about] = _subject(one.type, one.room_id, one.about)
        wanted[one.sender_id] = Person.key(user_id=one.sender_id)
    items = await db.get_many(list(wanted.values())) if wanted else []
    names = {
        id: item.title if isinstance(item, Listing) else item.name
        for id, item in zip(wanted, items, strict=True)
        if item is not None
    }
    return [
        one.model_copy(
            update={
                "sender_name": names.get(one.sender_id),
                "about_name": names.get(one.about or ""),
            }
        )
        for one in found
    ]


def _subject(kind: str, room_id: str, about: str) -> Ref[Any]:
    if kind in ABOUT_PEOPLE:
        return Person.key(user_id=about)
    return Listing.key(room_id=room_id, listing_id=about)
