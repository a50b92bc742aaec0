"""Notifications: what happened to somebody, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

import keyfold_web as api
from keyfold_web import Identity
from keyfold_systems.tamafriends.entities import Inbox, Notification
from keyfold_systems.tamafriends.operations.access import Part
from keyfold_systems.tamafriends.patterns import inbox_of, notifications_of
from keyfold_systems.tamafriends.payloads import Notice

inbox = api.Inbox(
    Notification,
    notifications_of,
    Inbox,
    inbox_of,
    id="notification_id",
    read="state",
    states=("unread", "read"),
)


class Notifications(api.Notifications[Notice], Part):
    """What happened to you."""

    inbox = inbox

    async def shown_notifications(
        self, found: Sequence[Notification], user_id: str
    ) -> list[Notice]:
        return await self.views(Identity.of(user_id)).notices(found)
