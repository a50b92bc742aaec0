"""Notifications: what a user is to know, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_web import Inbox, Notifications
from keyfold_systems.inviter.entities import Notification, User
from keyfold_systems.inviter.operations.access import Part
from keyfold_systems.inviter.patterns import notifications_of, user_by_id
from keyfold_systems.inviter.payloads import Notice

inbox = Inbox(Notification, notifications_of, User, user_by_id, id="note_id", time="at")


class News(Notifications[Notice], Part):
    """What happened that concerns somebody."""

    inbox = inbox

    async def shown_notifications(self, found: Sequence[Notification], _: str) -> list[Notice]:
        names = await self.names_of({one.actor_id for one in found if one.actor_id is not None})
        shown = set(Notice.model_fields)
        return [
            Notice(**one.model_dump(include=shown), actor_name=names.get(one.actor_id or ""))
            for one in found
        ]
