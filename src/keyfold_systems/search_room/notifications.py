"""What others did in somebody's rooms: kept by the stream, read and unread."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyfold import Page, create, update
from keyfold.api import PageRequest, Payload, itself, mutation, query
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.search_room.entities import Activity, Member, Notification, design
from keyfold_systems.search_room.patterns import notifications, unread_notifications
from keyfold_systems.search_room.people import PeopleOperations, named_page

AT_ONCE = 100
Ids = Annotated[set[str], Field(max_length=AT_ONCE)]


class MarkedRead(Payload):
    """How many notifications changed."""

    count: int


@design.on(Activity, "insert")
async def notify(_: None, new: Activity, delivery: Delivery) -> list[Intent]:
    """Tells every other member of the room."""
    members = await delivery.read(Member.key.query(room_id=new.room_id))
    return [
        create(
            Notification(
                user_id=member.user_id,
                created_at=new.created_at,
                activity_id=new.activity_id,
                room_id=new.room_id,
                type=new.type,
                sender_id=new.sender_id,
                text=new.text,
                about=new.about,
            )
        )
        for member in members
        if member.user_id != new.sender_id
    ]


class NotificationOperations(PeopleOperations):
    """Reading them, one by one or all at once."""

    @query("/users/{user_id}/notifications", allow=itself("user_id"))
    async def notifications(
        self, user_id: str, page: PageRequest, unread: bool = False
    ) -> Page[Notification]:
        """What others did in your rooms, newest first; all of it, or what you have not read."""
        wanted = unread_notifications if unread else notifications
        found = await wanted.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await named_page(self.db, found, sender_name="sender_id")

    @mutation(
        "/users/{user_id}/notifications/read",
        allow=itself("user_id"),
        example={"activityIds": []},
    )
    async def mark_read(
        self, user_id: str, activity_ids: Ids | None = None, read: bool = True
    ) -> MarkedRead:
        """Mark notifications as read, or as unread again: those named, or all."""
        wanted = Notification.key.query(user_id=user_id).descending()
        other = wanted.where(lambda n: n.is_read != read).limit(AT_ONCE)
        left = None if activity_ids is None else set(activity_ids)
        found: list[Notification] = []
        async for one in self.db.iterate(other):
            if left is None or one.activity_id in left:
                found.append(one)
            if left is not None and not left - {x.activity_id for x in found}:
                break
        await self.db.bulk(update(one.ref(), is_read=read) for one in found)
        return MarkedRead(count=len(found))
