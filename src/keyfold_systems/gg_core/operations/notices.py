"""What somebody is told, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold import Page, Timestamp
from keyfold.api import Identity, Inbox, Notifications, PageRequest, itself, mutation, query
from keyfold_systems.gg_core.notices import Notice, UnreadCounter
from keyfold_systems.gg_core.operations.access import Part, registered
from keyfold_systems.gg_core.patterns import notices_of, unread_count
from keyfold_systems.gg_core.payloads import NoticeView, UnreadCount

inbox = Inbox(
    Notice, notices_of, UnreadCounter, unread_count, count="count", read="read_at", states=None
)


class Notices(Notifications[NoticeView], Part):
    """Notifications."""

    inbox = inbox

    @query("/users/{user_id}/notices", allow=itself("user_id"))
    async def notices(self, user_id: str, page: PageRequest) -> Page[NoticeView]:
        """What you are told, newest first, for three months."""
        return await self.notifications(user_id, page)

    @query("/users/{user_id}/unread", allow=itself("user_id"))
    async def unread_count(self, user_id: str) -> UnreadCount:
        """How many notices you have not read."""
        return UnreadCount(count=(await self.unread(user_id)).unread)

    @mutation("/notices/{notice_id}/read", name="readNotice", method="PUT", allow=registered)
    async def read_notice(self, notice_id: str, created_at: Timestamp, caller: Identity) -> None:
        """You have read a notice; one that is gone is no matter."""
        await self.inbox.mark(self.db, caller.id, {notice_id}, created_at)

    @mutation("/notices/read", name="readNotices", method="PUT", allow=registered)
    async def read_notices(self, until: Timestamp, caller: Identity) -> None:
        """You have read all notices up to a time."""
        await self.inbox.mark(self.db, caller.id, until=until)

    async def shown_notifications(self, found: Sequence[Notice], _: str) -> list[NoticeView]:
        people = await self.users(one.from_id for one in found)
        return [
            NoticeView(
                from_name=people[one.from_id].full_name if one.from_id in people else None,
                **one.model_dump(exclude={"user_id", "expires_at"}),
            )
            for one in found
        ]
