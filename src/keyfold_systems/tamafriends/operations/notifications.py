"""Notifications: what happened to somebody, read and unread."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyfold import Page, update
from keyfold.api import Identity, Invalid, PageRequest, itself, mutation, query
from keyfold.errors import NotFound
from keyfold_systems.tamafriends.addresses import notification_address
from keyfold_systems.tamafriends.entities import Notification
from keyfold_systems.tamafriends.operations.access import Part
from keyfold_systems.tamafriends.patterns import inbox_of, notifications_of
from keyfold_systems.tamafriends.payloads import Notice, Unread


class Notifications(Part):
    """What happened to you."""

    @query("/users/{user_id}/notifications", allow=itself("user_id"))
    async def notifications(
        self, user_id: str, page: PageRequest, caller: Identity
    ) -> Page[Notice]:
        """What happened to you, newest first."""
        found = await notifications_of.after(page.cursor)(self.db, user_id, limit=page.limit)
        return Page(await self.views(caller).notices(found.items), found.cursor)

    @query("/users/{user_id}/notifications/unread", allow=itself("user_id"))
    async def unread(self, user_id: str) -> Unread:
        """How much of it you have not read."""
        found = await inbox_of(self.db, user_id)
        return Unread(unread=found.unread if found is not None else 0)

    @mutation(
        "/users/{user_id}/notifications/read",
        name="readNotifications",
        allow=itself("user_id"),
    )
    async def read_notifications(
        self,
        user_id: str,
        notification_ids: Annotated[list[str], Field(max_length=100)] | None = None,
    ) -> None:
        """Mark these as read, or all of them; one that was taken back meanwhile is no matter."""
        if notification_ids is None:
            wanted = Notification.key.query(user_id=user_id).where(lambda n: n.state == "unread")
            refs = [one.ref() async for one in self.db.iterate(wanted)]
        else:
            found = [notification_address(user_id, one) for one in notification_ids]
            if None in found:
                raise Invalid("notificationIds", "one of them is no notification's id")
            refs = [one for one in found if one is not None]
        report = await self.db.bulk(
            [update(ref, state="read") for ref in refs], on_failure="collect"
        )
        for failure in report.failures:
            if not isinstance(failure.problem, NotFound):
                raise failure.problem
