"""What people report, and what moderators do about it."""

from __future__ import annotations

from typing import ClassVar

from keyfold import create
from keyfold.api import Oversight, Subject, Trail, authenticated
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member
from keyfold_systems.search_room.entities import Listing, Person, Removal, Room
from keyfold_systems.search_room.oversight import trail


def expel(person: Person) -> list[Intent]:
    """The stream takes away what is theirs."""
    return [create(Removal(user_id=person.user_id))]


class ModerationOperations(Oversight):
    """Rooms, listings and people can be reported by those who see them."""

    trail: ClassVar[Trail] = trail
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
