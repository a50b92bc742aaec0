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
    InvitationLink,
    InvitationStatus,
    Listing,
    Member,
    Notification,
    Person,
    Room,
    UserCriteria,
    design,
)

DESCRIBED = ("title", "location", "price", "rooms", "surface", "link", "picture")


@design.on(Person)
def announce_person(old: Person | None, new: Person | None, delivery: Delivery) -> None:
    """Announces PersonJoined, PersonRenamed and PersonLeft."""
    if new is None:
        _emit(delivery, "PersonLeft", old, "user_id")
    elif old is None:
        _emit(delivery, "PersonJoined", new, "user_id", "name")
    elif old.name != new.name:
        _emit(delivery, "PersonRenamed", new, "user_id", "name")


@design.on(Room)
def announce_room(old: Room | None, new: Room | None, delivery: Delivery) -> None:
    """Announces RoomCreated, RoomRenamed, RoomChanged and RoomDeleted."""
    if new is None:
        _emit(delivery, "RoomDeleted", old, "room_id")
    elif old is None:
        _emit(delivery, "RoomCreated", new, "room_id", "name", "created_by_user_id")
    else:
        if old.name != new.name:
            _emit(delivery, "RoomRenamed", new, "room_id", "name")
        changing = ("search_type", "context", "has_copilot")
        if any(getattr(old, name) != getattr(new, name) for name in changing):
            _emit(delivery, "RoomChanged", new, "room_id", *changing)


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


@design.on(InvitationLink)
def announce_link(
    old: InvitationLink | None, new: InvitationLink | None, delivery: Delivery
) -> None:
    """Announces LinkCreated and LinkClosed; never the link itself."""
    link = new or old
    assert link is not None, "a change has an item before or after"
    key = f"links of {link.room_id}"
    if new is None:
        _emit(delivery, "LinkClosed", old, "room_id", key=key)
    elif old is None:
        _emit(delivery, "LinkCreated", new, "room_id", "invited_by", "expires_at", key=key)


@design.on(Listing)
def announce_listing(old: Listing | None, new: Listing | None, delivery: Delivery) -> None:
    """Announces ListingPinned, Changed, Moved, Seen, Voted and Removed."""
    if new is None:
        _emit(delivery, "ListingRemoved", old, "room_id", "listing_id")
    elif old is None:
        _emit(delivery, "ListingPinned", new, "room_id", "listing_id", *DESCRIBED)
    else:
        if any(getattr(old, name) != getattr(new, name) for name in DESCRIBED):
            _emit(delivery, "ListingChanged", new, "room_id", "listing_id", *DESCRIBED)
        if old.status != new.status:
            _emit(delivery, "ListingMoved", new, "room_id", "listing_id", "status")
        for user_id in sorted(new.seen_by - old.seen_by):
            seen = {"roomId": new.room_id, "listingId": new.listing_id, "userId": user_id}
            delivery.emit("ListingSeen", seen)
        before, after = _votes(old), _votes(new)
        for user_id in sorted(before.keys() | after.keys()):
            if before.get(user_id) != after.get(user_id):
                voted = {"roomId": new.room_id, "listingId": new.listing_id, "userId": user_id}
                delivery.emit("ListingVoted", {**voted, "vote": after.get(user_id)})


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
    if new.sender_type != "system":
        fields = ("room_id", "activity_id", "sender_type", "sender_id", "text")
        _emit(delivery, "MessageSent", new, *fields)


@design.on(Notification, "modify")
def announce_reading(old: Notification, new: Notification, delivery: Delivery) -> None:
    """Announces NotificationRead."""
    if new.is_read and not old.is_read:
        _emit(delivery, "NotificationRead", new, "user_id", "activity_id")


def _votes(listing: Listing) -> dict[str, str]:
    liked = dict.fromkeys(listing.liked_by, "like")
    return {**dict.fromkeys(listing.disliked_by, "dislike"), **liked}


def _emit(delivery: Delivery, event: str, item: Entity | None, *fields: str, key: str = "") -> None:
    assert item is not None, "a change has an item before or after"
    payload: dict[str, Any] = item.model_dump(mode="json", by_alias=True, include=set(fields))
    delivery.emit(event, payload, key=key)
