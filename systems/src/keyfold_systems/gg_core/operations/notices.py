"""What somebody is told, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_web import Inbox, Notifications
from keyfold_systems.gg_core.notices import Notice, UnreadCounter
from keyfold_systems.gg_core.operations.access import Part
from keyfold_systems.gg_core.patterns import notices_of, unread_count
from keyfold_systems.gg_core.payloads import NoticeView

inbox = Inbox(
    Notice, notices_of, UnreadCounter, unread_count, count="count", read="read_at", states=None
)


class Notices(Notifications[NoticeView], Part):
    """Notifications."""

    inbox = inbox

    async def shown_notifications(self, found: Sequence[Notice], _: str) -> list[NoticeView]:
        people = await self.users(one.from_id for one in found)
        return [
            NoticeView(
                from_name=people[one.from_id].full_name if one.from_id in people else None,
                **one.model_dump(exclude={"user_id", "expires_at"}),
            )
            for one in found
        ]
