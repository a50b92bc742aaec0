"""The access patterns of the document's tables, in its order, and the names beside ids."""

from __future__ import annotations

from datetime import datetime

from keyfold import First, Get, GetMany, Query, each, get, get_many
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    Activity,
    CombinedCriteria,
    Compatibility,
    Listing,
    Member,
    Person,
    Room,
    Status,
    UserCriteria,
    UserRoom,
    design,
)

# Rooms


@design.pattern(requests=1)
def room(room_id: str) -> Get[Room]:
    """Get room by ID."""
    return get(Room.key(room_id=room_id))


@design.pattern(requests=1)
def room_members(room_id: str, limit: int = MOST_MEMBERS) -> Query[Member]:
    """Get room members."""
    return Member.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def user_rooms(user_id: str, limit: int = 50) -> Query[UserRoom]:
    """Get user's rooms."""
    return UserRoom.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def membership(room_id: str, user_id: str) -> Get[Member]:
    """Check membership."""
    return get(Member.key(room_id=room_id, user_id=user_id))


# Listings


@design.pattern(requests=1)
def listing(room_id: str, listing_id: str) -> Get[Listing]:
    """Get listing by ID."""
    return get(Listing.key(room_id=room_id, listing_id=listing_id))


@design.pattern(requests=1)
def room_listings(room_id: str, limit: int = 50) -> Query[Listing]:
    """Get all room listings."""
    return Listing.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def listings_by_status(room_id: str, status: Status, limit: int = 50) -> Query[Listing]:
    """Get listings by status."""
    return Listing.by_status.query(room_id=room_id, status=status).limit(limit)


@design.pattern(requests=1)
def listing_by_external_id(room_id: str, source_brand: str, external_id: str) -> First[Listing]:
    """Find by external ID."""
    query = Listing.by_external_id.query(
        source_brand=source_brand, external_id=external_id, room_id=room_id
    )
    return query.first()


# Criteria


@design.pattern(requests=1)
def latest_criteria(room_id: str, user_id: str) -> First[UserCriteria]:
    """Get user's latest criteria."""
    found = UserCriteria.key.query(room_id=room_id, user_id=user_id).descending()
    return found.consistent().first()


@design.pattern()
def all_criteria(room_id: str, limit: int = 200) -> Query[UserCriteria]:
    """Get all users' criteria."""
    return UserCriteria.key.query(room_id=room_id).consistent().limit(limit)


@design.pattern(requests=1)
def criteria_of_user(room_id: str, user_id: str, limit: int = 20) -> Query[UserCriteria]:
    """A user's criteria, newest first."""
    return UserCriteria.key.query(room_id=room_id, user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def combined_criteria(room_id: str) -> First[CombinedCriteria]:
    """Get combined criteria."""
    return CombinedCriteria.key.query(room_id=room_id).descending().first()


# Activities


@design.pattern()
def room_activities(room_id: str, limit: int = 50) -> Query[Activity]:
    """Get room activities."""
    return Activity.key.query(room_id=room_id).descending().limit(limit)


@design.pattern()
def activities_after(room_id: str, timestamp: datetime, limit: int = 50) -> Query[Activity]:
    """Get activities after timestamp."""
    return Activity.key.query(room_id=room_id).after(created_at=timestamp).limit(limit)


# Compatibility


@design.pattern(requests=1)
def latest_compatibility(room_id: str) -> First[Compatibility]:
    """Get latest compatibility."""
    return Compatibility.key.query(room_id=room_id).descending().first()


@design.pattern(requests=1)
def compatibility_history(room_id: str, limit: int = 20) -> Query[Compatibility]:
    """Get compatibility history."""
    return Compatibility.key.query(room_id=room_id).descending().limit(limit)


# Names


@design.pattern()
def rooms(room_ids: list[str]) -> GetMany[Room]:
    """The rooms of a list."""
    return get_many(Room.key(room_id=each(room_ids)))


@design.pattern()
def people(user_ids: list[str]) -> GetMany[Person]:
    """The names of users."""
    return get_many(Person.key(user_id=each(user_ids)))
