"""What others did in somebody's rooms: kept by the stream, read and unread."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold import check, create
from keyfold_web import Inbox, Notifications
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.search_room.activities import with_names
from keyfold_systems.search_room.entities import Activity, Member, Notification, Person, design
from keyfold_systems.search_room.patterns import notifications, person, unread_notifications
from keyfold_systems.search_room.people import PeopleOperations


@design.on(Activity, "insert")
async def notify(_: None, new: Activity, delivery: Delivery) -> list[Intent]:
    """Tells every other member of the room, unless it went meanwhile with who did it."""
    if await delivery.find(new.ref()) is None:
        return []
    members = await delivery.read(Member.key.query(room_id=new.room_id))
    told: list[Intent] = [
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
    return [check(new.ref()), *told] if told else []


inbox = Inbox(
    Notification,
    notifications,
    Person,
    person,
    count="unread_count",
    id="activity_id",
    read="is_read",
    not_read=unread_notifications,
)


class NotificationOperations(Notifications[Notification], PeopleOperations):
    """Reading them, one by one or all at once."""

    inbox = inbox

    async def shown_notifications(
        self, found: Sequence[Notification], _: str
    ) -> list[Notification]:
        return await with_names(self.db, found)
