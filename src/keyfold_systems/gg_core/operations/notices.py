"""What somebody is told, read and unread."""

from __future__ import annotations

from keyfold import Page, Timestamp, missing, update
from keyfold.api import Identity, Missing, PageRequest, itself, mutation, query
from keyfold.errors import ConditionFailed, NotFound
from keyfold_systems.gg_core.notices import Notice
from keyfold_systems.gg_core.operations.access import Part, registered
from keyfold_systems.gg_core.patterns import notices_of, unread_count
from keyfold_systems.gg_core.payloads import NoticeView, Unread


class Notices(Part):
    """Notifications."""

    @query("/users/{user_id}/notices", allow=itself("user_id"))
    async def notices(self, user_id: str, page: PageRequest) -> Page[NoticeView]:
        """What you are told, newest first, for three months."""
        found = await notices_of.after(page.cursor)(self.db, user_id, limit=page.limit)
        people = await self.users(one.from_id for one in found)
        rows = [
            NoticeView(
                from_name=people[one.from_id].full_name if one.from_id in people else None,
                **one.model_dump(exclude={"user_id", "expires_at"}),
            )
            for one in found
        ]
        return Page(rows, found.cursor)

    @query("/users/{user_id}/unread", allow=itself("user_id"))
    async def unread(self, user_id: str) -> Unread:
        """How many notices you have not read."""
        counted = await unread_count(self.db, user_id)
        return Unread(count=counted.count if counted is not None else 0)

    @mutation("/notices/{notice_id}/read", name="readNotice", method="PUT", allow=registered)
    async def read_notice(self, notice_id: str, created_at: Timestamp, caller: Identity) -> None:
        """You have read a notice."""
        ref = Notice.key(user_id=caller.id, notice_id=notice_id, created_at=created_at)
        try:
            await self.db.update(
                ref, read_at=self.db.context.now(), where=lambda n: missing(n.read_at)
            )
        except NotFound:
            raise Missing("There is no such notice.") from None
        except ConditionFailed:
            return

    @mutation("/notices/read", name="readNotices", method="PUT", allow=registered)
    async def read_notices(self, until: Timestamp, caller: Identity) -> None:
        """You have read all notices up to a time."""
        now = self.db.context.now()
        query = Notice.key.query(user_id=caller.id).until(created_at=until)
        async for page in self.db.pages(query):
            read = [update(one.ref(), read_at=now) for one in page if one.read_at is None]
            await self.db.bulk(read, on_failure="collect")
