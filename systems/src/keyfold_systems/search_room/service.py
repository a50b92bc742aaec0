"""The operations of Search Room."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_web import Service, relation
from keyfold_systems.search_room.departure import DepartureOperations
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import Activity, Listing, Notification, Room, UserRoom
from keyfold_systems.search_room.invitations import InvitationOperations
from keyfold_systems.search_room.live import LiveOperations
from keyfold_systems.search_room.moderation import ModerationOperations
from keyfold_systems.search_room.notifications import NotificationOperations


class SearchRoom(
    InvitationOperations,
    LiveOperations,
    NotificationOperations,
    DepartureOperations,
    ModerationOperations,
    Service,
):
    """Rooms in which people look for a home together."""

    design: ClassVar[Design] = design
    idempotent = True
    relations = (
        relation(UserRoom, "room", Room, room_id="room_id"),
        relation(Activity, "listing", Listing, room_id="room_id", listing_id="about"),
        relation(Notification, "room", Room, room_id="room_id"),
    )


def service(db: AsyncDb) -> SearchRoom:
    return SearchRoom(db)
