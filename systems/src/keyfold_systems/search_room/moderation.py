"""What people report, and what moderators do about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from keyfold import create, new_ulid
from keyfold_web import Removed, Subject, Suspensions, Trail, authenticated
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member
from keyfold_systems.search_room.entities import Listing, Notification, Person, Removal, Room
from keyfold_systems.search_room.oversight import Suspension, trail
from keyfold_systems.search_room.people import names_of
from keyfold_systems.search_room.removal import NOBODY


def expel(person: Person) -> list[Intent]:
    """The stream takes away what is theirs."""
    return [create(Removal(user_id=person.user_id))]


class ModerationOperations(Suspensions):
    """Rooms, listings and people can be reported by those who see them."""

    trail: ClassVar[Trail] = trail
    suspension = Suspension
    people_kind = "person"
    while_suspended = Suspensions.while_suspended | {"deletePerson"}
    subjects = {
        "room": Subject(Room, ["room_id"], allow=member, owner="created_by_user_id", shown="name"),
        "listing": Subject(
            Listing, ["room_id", "listing_id"], allow=member, owner="added_by", shown="title"
        ),
        "person": Subject(
            Person,
            ["user_id"],
            allow=authenticated,
            owner="user_id",
            shown="name",
            remove=expel,
            by_admin=True,
        ),
    }

    async def removal_notice(self, removed: Removed) -> Intent | None:
        if await self.db.find(Person.key(user_id=removed.owner_id)) is None:
            return None
        notice = Notification(
            user_id=removed.owner_id,
            created_at=self.db.context.now(),
            activity_id=new_ulid(),
            type="ContentRemoved",
            sender_id=NOBODY,
            text=f"{removed.title}: {removed.reason}",
        )
        return create(notice)

    async def names_of(self, ids: Collection[str]) -> Mapping[str, str]:
        return await names_of(self.db, set(ids))
