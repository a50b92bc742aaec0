"""What is said and what happens in a room."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import StringConstraints

from keyfold import Page, Timestamp, new_ulid
from keyfold.api import Identity, PageRequest, mutation, query
from keyfold_systems.search_room.access import copilot, member, reader
from keyfold_systems.search_room.entities import Activity
from keyfold_systems.search_room.patterns import activities_after, room_activities
from keyfold_systems.search_room.people import PeopleOperations, named_page

CHAT = "ChatMessage"
ADVICE = "CopilotMessage"
Message = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


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
        return await self.db.create(
            self._activity(room_id, CHAT, caller.id, text, sender_type="user")
        )

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
        return await self.db.create(
            self._activity(room_id, ADVICE, caller.id, text, about, sender_type="ai_copilot")
        )

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
        return await named_page(self.db, found, sender_name="sender_id")

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
