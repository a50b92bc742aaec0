"""Notifications: what somebody is to know, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_web import Inbox, NoticeFields, Notifications, Payload
from keyfold_systems.sellers.entities import Notice, NoticeKind, UnreadCounter
from keyfold_systems.sellers.parts import Part, names
from keyfold_systems.sellers.patterns import notices_of, unread_notices

inbox = Inbox(Notice, notices_of, UnreadCounter, unread_notices)


class NoticeView(NoticeFields, Payload):
    """Something that concerns you, and who did it."""

    kind: NoticeKind
    actor_name: str | None = None


class NoticeOperations(Notifications[NoticeView], Part):
    """What others did that concerns you."""

    inbox = inbox

    async def shown_notifications(self, found: Sequence[Notice], _: str) -> list[NoticeView]:
        people = await names(self.db, (one.actor_id for one in found))
        return [
            NoticeView(
                **one.model_dump(include=set(NoticeView.model_fields)),
                actor_name=people[one.actor_id].given_name if one.actor_id in people else None,
            )
            for one in found
        ]
