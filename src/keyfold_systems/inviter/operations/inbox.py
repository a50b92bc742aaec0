"""Notifications: what a user is to know, read and unread."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyfold import Page, update
from keyfold.api import PageRequest, itself, mutation, query
from keyfold.errors import NotFound
from keyfold_systems.inviter.entities import Notification
from keyfold_systems.inviter.operations.access import Part
from keyfold_systems.inviter.patterns import notifications_of
from keyfold_systems.inviter.payloads import Unread

MOST_READ = 40


class Inbox(Part):
    """What happened that concerns somebody."""

    @query("/users/{user_id}/notifications", allow=itself("user_id"))
    async def notifications(self, user_id: str, page: PageRequest) -> Page[Notification]:
        """What you are to know, newest first; your profile has the number of unread ones."""
        return await notifications_of.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/users/{user_id}/notifications/read", allow=itself("user_id"))
    async def read_notifications(
        self,
        user_id: str,
        note_ids: Annotated[set[str], Field(min_length=1, max_length=MOST_READ)],
        read: bool = True,
    ) -> Unread:
        """Mark notifications as read, or as unread again; those that are gone do not matter."""
        keys = [Notification.key(user_id=user_id, note_id=one) for one in sorted(note_ids)]
        found = [one for one in await self.db.get_many(keys) if one and one.read != read]
        try:
            if found:
                await self.db.transact(*(update(one.ref(), read=read) for one in found))
        except NotFound:
            return await self.read_notifications(user_id, note_ids, read)
        return Unread(unread=(await self.person(user_id)).unread)
