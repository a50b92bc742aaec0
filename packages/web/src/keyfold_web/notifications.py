"""Notifications: a list per user, maintained by the stream, read and unread.

A design declares an entity for them, with its own keys, and a counter of unread ones on an item per
user. An inbox connects them:

    inbox = Inbox(Notification, notifications_of, User, user_by_id, count="unread")

A service defines what is shown of each, and gets the list, the count, the marks and a subscription:

    class News(Notifications[NoticeView], Service):
        inbox = inbox

        async def shown_notifications(self, found, user_id): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar

from pydantic import BaseModel, Field

from keyfold_web.names import Payload
from keyfold_web.operation import mutation, query
from keyfold_web.page_request import PageRequest
from keyfold_web.personal import Belonging
from keyfold_web.rules import itself
from keyfold_web.subscriptions import subscription
from keyfold.design import Id, Page, Query, Timestamp, exists, missing
from keyfold.errors import NotFound
from keyfold.runtime import AsyncDb, update
from keyfold.streams import Change

AT_ONCE: Final = 100
"""The maximum number of notifications that one call marks by id."""

N = TypeVar("N")
NoticeIds = Annotated[set[str], Field(min_length=1, max_length=AT_ONCE)]
"""Ids of the notifications to mark as read."""


class NoticeFields(BaseModel):
    """The fields of a notification; a design adds its kinds, its time to live and its key."""

    user_id: Id
    notice_id: Id
    actor_id: Id | None = None
    """Who did it."""
    subject_id: Id | None = None
    """What it is about."""
    text: str = ""
    created_at: Timestamp
    read: bool = False


class Unread(Payload):
    """The number of unread notifications."""

    unread: int


class Marked(Payload):
    """The number of changed notifications."""

    count: int


@dataclass(frozen=True)
class Inbox:
    """The notifications of a design, and where unread ones are counted."""

    notice: Any
    latest: Any
    """The access pattern of a user's notifications, newest first."""
    counter: Any
    """The entity with the counter; one per `user_id`."""
    counted: Any
    """The access pattern that reads it."""
    count: str = "unread"
    """Its field with the number of unread ones."""
    id: str = "notice_id"
    """The field that identifies a user's notification."""
    time: str = "created_at"
    """The field with the time of the event."""
    read: str = "read"
    """The field that says whether, or when, it was read."""
    states: tuple[Any, Any] | None = (False, True)
    """The field's values for unread and read; None if it is a time, absent while unread."""
    not_read: Any = None
    """The access pattern of unread ones, if the design has one."""

    async def page(self, db: AsyncDb, user_id: str, page: PageRequest, unread: bool) -> Page[Any]:
        """A user's notifications, newest first: all, or the unread ones."""
        if unread and self.not_read is None:
            return await db.read(self._marked(user_id, False), cursor=page.cursor, limit=page.limit)
        wanted = self.not_read if unread else self.latest
        found: Page[Any] = await wanted.after(page.cursor)(db, user_id, limit=page.limit)
        return found

    async def unread(self, db: AsyncDb, user_id: str) -> int:
        """The number of unread ones."""
        return self.number(await self.counted(db, user_id))

    def number(self, counted: Any) -> int:
        return getattr(counted, self.count, 0)

    async def mark(
        self,
        db: AsyncDb,
        user_id: str,
        ids: Iterable[str] | None = None,
        until: datetime | None = None,
        *,
        read: bool = True,
    ) -> int:
        """Mark those with these ids and up to this time; missing ones are ignored."""
        value = self.states[read] if self.states else (db.context.now() if read else None)
        left = None if ids is None else set(ids)
        count = 0
        async for page in db.pages(self._marked(user_id, not read)):
            chosen = [
                one
                for one in page
                if (left is None or getattr(one, self.id) in left)
                and (until is None or getattr(one, self.time) <= until)
            ]
            writes = [update(one.ref(), **{self.read: value}) for one in chosen]
            report = await db.bulk(writes, on_failure="collect")
            for failure in report.failures:
                if not isinstance(failure.problem, NotFound):
                    raise failure.problem
            count += report.written
            if left is not None:
                left -= {getattr(one, self.id) for one in chosen}
                if not left:
                    break
        return count

    def belonging(self, *, kept: bool = True) -> Belonging:
        """Their part in an export and deletion of personal data."""
        return Belonging("notifications", self._of, kept=kept)

    def _of(self, user_id: str) -> Query[Any]:
        found: Query[Any] = self.notice.key.query(user_id=user_id)
        return found

    def _marked(self, user_id: str, read: bool) -> Query[Any]:
        newest = self._of(user_id).descending().limit(AT_ONCE)
        if (states := self.states) is None:
            state = exists if read else missing
            return newest.where(lambda n: state(getattr(n, self.read)))
        return newest.where(lambda n: getattr(n, self.read) == states[read])


class Notifications(Generic[N]):
    """The operations of a service with an inbox."""

    inbox: ClassVar[Inbox]
    db: AsyncDb

    def __init_subclass__(cls, **given: Any) -> None:
        if "inbox" in vars(cls):
            cls.notified = _notified(cls.inbox)  # type: ignore[attr-defined]
        super().__init_subclass__(**given)

    @query("/users/{user_id}/notifications", allow=itself("user_id"))
    async def notifications(self, user_id: str, page: PageRequest, unread: bool = False) -> Page[N]:
        """Your notifications, newest first: all, or the unread ones."""
        found = await self.inbox.page(self.db, user_id, page, unread)
        return Page(await self.shown_notifications(found.items, user_id), found.cursor)

    @query("/users/{user_id}/notifications/unread", allow=itself("user_id"))
    async def unread(self, user_id: str) -> Unread:
        """The number of your unread notifications."""
        return Unread(unread=await self.inbox.unread(self.db, user_id))

    @mutation("/users/{user_id}/notifications/read", allow=itself("user_id"))
    async def read_notifications(
        self,
        user_id: str,
        notification_ids: NoticeIds | None = None,
        until: Timestamp | None = None,
        read: bool = True,
    ) -> Marked:
        """Mark notifications as read or unread: those named, those up to a time, or all."""
        count = await self.inbox.mark(self.db, user_id, notification_ids, until, read=read)
        return Marked(count=count)

    async def shown_notifications(self, found: Sequence[Any], user_id: str) -> list[N]:  # noqa: ARG002
        """What a list shows of notifications; by default the items themselves."""
        return list(found)


def _notified(inbox: Inbox) -> Any:
    @subscription(inbox.counter, allow=itself("user_id"))
    async def notified(_: Any, change: Change[Any], user_id: str) -> Unread | None:  # noqa: ARG001
        """The number of your unread notifications, whenever it changes."""
        before, now = inbox.number(change.old), inbox.number(change.new)
        return None if before == now else Unread(unread=now)

    return notified
