"""The access patterns of Search Room."""

from __future__ import annotations

from datetime import datetime

from keyfold import Collection, First, Get, GetMany, Query, collection, each, get, get_many
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    Activity,
    CombinedCriteria,
    Compatibility,
    FormerRoom,
    Invitation,
    InvitationLink,
    InvitationStatus,
    LatestCriteria,
    Listing,
    Member,
    Notification,
    Person,
    Room,
    UserCriteria,
    UserInvitation,
    UserRoom,
    design,
)
from keyfold_systems.search_room.status import Status


@design.pattern(requests=1)
def room_by_id(room_id: str) -> Get[Room]:
    """Get room by ID."""
    return get(Room.key(room_id=room_id))


@design.pattern(requests=1)
def room_members(room_id: str, limit: int = MOST_MEMBERS) -> Query[Member]:
    """Get room members."""
    return Member.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def user_rooms(user_id: str, limit: int = 50) -> Query[UserRoom]:
    """Get a user's rooms, with their names."""
    return UserRoom.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def rooms_by_id(room_ids: list[str]) -> GetMany[Room]:
    """What a list of rooms shows of each."""
    return get_many(Room.key(room_id=each(room_ids)))


@design.pattern(requests=1)
def former_rooms(user_id: str, limit: int = 50) -> Query[FormerRoom]:
    """The rooms that somebody left."""
    return FormerRoom.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def membership(room_id: str, user_id: str) -> Get[Member]:
    """Check membership."""
    return get(Member.key(room_id=room_id, user_id=user_id))


@design.pattern(requests=1)
def room_with_members(room_id: str) -> Collection:
    """A room with its members."""
    return collection(Room, Member, room_id=room_id).limit(MOST_MEMBERS + 1)


@design.pattern(requests=1)
def person(user_id: str) -> Get[Person]:
    """Somebody's profile."""
    return get(Person.key(user_id=user_id))


@design.pattern()
def people(user_ids: list[str]) -> GetMany[Person]:
    """The names that a list shows beside ids."""
    return get_many(Person.key(user_id=each(user_ids)))


@design.pattern()
def notifications(user_id: str, limit: int = 50) -> Query[Notification]:
    """What others did in somebody's rooms, newest first."""
    return Notification.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(silence=(("Q14", "what is unread is read soon"),))
def unread_notifications(user_id: str, limit: int = 50) -> Query[Notification]:
    """What of it they have not read yet."""
    query = Notification.key.query(user_id=user_id).descending()
    return query.where(lambda n: n.is_read == False).limit(limit)  # noqa: E712


@design.pattern(requests=1)
def invitation(room_id: str, user_id: str) -> Get[Invitation]:
    """Whether somebody is asked into a room."""
    return get(Invitation.key(room_id=room_id, user_id=user_id))


@design.pattern()
def room_invitations(room_id: str, limit: int = 50) -> Query[Invitation]:
    """Who is asked into a room, and who declined."""
    return Invitation.key.query(room_id=room_id).limit(limit)


@design.pattern(silence=(("Q14", "few invitations wait for one person at a time"),))
def user_invitations(user_id: str, limit: int = 50) -> Query[UserInvitation]:
    """The rooms that somebody is asked into and has not answered, with their names."""
    query = UserInvitation.key.query(user_id=user_id)
    return query.where(lambda i: i.status == InvitationStatus.PENDING).limit(limit)


@design.pattern(requests=1)
def invitation_link(room_id: str, link_id: str) -> Get[InvitationLink]:
    """A link into a room."""
    return get(InvitationLink.key(room_id=room_id, link_id=link_id))


@design.pattern()
def room_links(room_id: str, limit: int = 20) -> Query[InvitationLink]:
    """The links into a room."""
    return InvitationLink.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def listing_by_id(room_id: str, listing_id: str) -> Get[Listing]:
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


@design.pattern(requests=1)
def latest_user_criteria(room_id: str, user_id: str) -> Get[LatestCriteria]:
    """Get a user's latest criteria."""
    return get(LatestCriteria.key(room_id=room_id, user_id=user_id))


@design.pattern(requests=1)
def user_criteria_history(room_id: str, user_id: str, limit: int = 20) -> Query[UserCriteria]:
    """A user's criteria, newest first."""
    return UserCriteria.key.query(room_id=room_id, user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def all_users_criteria(room_id: str, limit: int = MOST_MEMBERS) -> Query[LatestCriteria]:
    """Get all users' criteria: the latest of each."""
    return LatestCriteria.key.query(room_id=room_id).consistent().limit(limit)


@design.pattern(requests=1)
def combined_criteria(room_id: str) -> First[CombinedCriteria]:
    """Get combined criteria: the latest."""
    return CombinedCriteria.key.query(room_id=room_id).descending().first()


@design.pattern()
def room_activities(room_id: str, limit: int = 50) -> Query[Activity]:
    """Get room activities, newest first."""
    return Activity.key.query(room_id=room_id).descending().limit(limit)


@design.pattern()
def activities_after(room_id: str, timestamp: datetime, limit: int = 50) -> Query[Activity]:
    """Get activities after a timestamp: activities only, and not that instant's own."""
    return Activity.key.query(room_id=room_id).after(created_at=timestamp).limit(limit)


@design.pattern(requests=1)
def latest_compatibility(room_id: str) -> First[Compatibility]:
    """Get latest compatibility."""
    return Compatibility.key.query(room_id=room_id).descending().first()


@design.pattern(requests=1)
def compatibility_history(room_id: str, limit: int = 20) -> Query[Compatibility]:
    """Get compatibility history, newest first."""
    return Compatibility.key.query(room_id=room_id).descending().limit(limit)
