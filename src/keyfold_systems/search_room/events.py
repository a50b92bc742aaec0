"""The domain events of Search Room: each change that others may care about, announced once."""

from __future__ import annotations

from typing import Any

from keyfold import Entity
from keyfold.streams import Delivery
from keyfold_systems.search_room.entities import (
    Activity,
    CombinedCriteria,
    Compatibility,
    Invitation,
    InvitationStatus,
    Listing,
    Member,
    Room,
    UserCriteria,
    design,
)

CHAT = "ChatMessage"


@design.on(Room)
def announce_room(old: Room | None, new: Room | None, delivery: Delivery) -> None:
    """Announces RoomCreated, RoomRenamed and RoomDeleted."""
    if new is None:
        _emit(delivery, "RoomDeleted", old, "room_id")
    elif old is None:
        _emit(delivery, "RoomCreated", new, "room_id", "name", "created_by_user_id")
    elif old.name != new.name:
        _emit(delivery, "RoomRenamed", new, "room_id", "name")


@design.on(Member)
def announce_member(old: Member | None, new: Member | None, delivery: Delivery) -> None:
    """Announces MemberJoined, RoleChanged and MemberLeft."""
    if new is None:
        _emit(delivery, "MemberLeft", old, "room_id", "user_id")
    elif old is None:
        _emit(delivery, "MemberJoined", new, "room_id", "user_id", "role")
    elif old.role != new.role:
        _emit(delivery, "RoleChanged", new, "room_id", "user_id", "role")


@design.on(Invitation)
def announce_invitation(old: Invitation | None, new: Invitation | None, delivery: Delivery) -> None:
    """Announces InvitationSent, also again, InvitationDeclined and InvitationClosed.

    One that is accepted, withdrawn, expired or gone with its room is closed.
    """
    ids = ("room_id", "user_id")
    if new is None:
        _emit(delivery, "InvitationClosed", old, *ids)
    elif new.status == InvitationStatus.DECLINED:
        if old is not None and old.status != new.status:
            _emit(delivery, "InvitationDeclined", new, *ids)
    elif old is None or old.invited_at != new.invited_at or old.status != new.status:
        _emit(delivery, "InvitationSent", new, *ids, "role", "invited_by")


@design.on(Listing)
def announce_listing(old: Listing | None, new: Listing | None, delivery: Delivery) -> None:
    """Announces ListingPinned, ListingChanged, ListingMoved, ListingSeen and ListingRemoved."""
    if new is None:
        _emit(delivery, "ListingRemoved", old, "room_id", "listing_id")
    elif old is None:
        _emit(delivery, "ListingPinned", new, "room_id", "listing_id", "title", "location")
    else:
        if (old.title, old.location) != (new.title, new.location):
            _emit(delivery, "ListingChanged", new, "room_id", "listing_id", "title", "location")
        if old.status != new.status:
            _emit(delivery, "ListingMoved", new, "room_id", "listing_id", "status")
        for user_id in sorted(new.seen_by - old.seen_by):
            seen = {"roomId": new.room_id, "listingId": new.listing_id, "userId": user_id}
            delivery.emit("ListingSeen", seen)


@design.on(UserCriteria, "insert")
def announce_criteria(_: None, new: UserCriteria, delivery: Delivery) -> None:
    """Announces CriteriaSaved."""
    _emit(delivery, "CriteriaSaved", new, "room_id", "user_id", "criteria_id", "source")


@design.on(CombinedCriteria, "insert")
def announce_combined(_: None, new: CombinedCriteria, delivery: Delivery) -> None:
    """Announces CriteriaCombined."""
    _emit(delivery, "CriteriaCombined", new, "room_id", "combined_id", "combine_mode")


@design.on(Compatibility, "insert")
def announce_compatibility(_: None, new: Compatibility, delivery: Delivery) -> None:
    """Announces CompatibilityComputed."""
    fields = ("room_id", "compatibility_id", "score_percent", "level")
    _emit(delivery, "CompatibilityComputed", new, *fields)


@design.on(Activity, "insert")
def announce_message(_: None, new: Activity, delivery: Delivery) -> None:
    """Announces MessageSent; other activities are notes of what has an event of its own."""
    if new.type == CHAT:
        _emit(delivery, "MessageSent", new, "room_id", "activity_id", "sender_id", "text")


def _emit(delivery: Delivery, event: str, item: Entity | None, *fields: str) -> None:
    assert item is not None, "a change has an item before or after"
    payload: dict[str, Any] = item.model_dump(mode="json", by_alias=True, include=set(fields))
    delivery.emit(event, payload)
