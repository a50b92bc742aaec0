"""The design of Search Room: one table, a room's partition with everything in the room."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from keyfold import (
    AtMost,
    Collection,
    Counter,
    Created,
    Design,
    Entity,
    First,
    Get,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Query,
    Stored,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
    collection,
    get,
)
from keyfold.maintain import Cascade, Copied
from keyfold_systems.search_room.wishes import Criterion, Level, Mode, Wishes

design = Design("search_room", description="People look for a home together.")

table = design.table(
    "search-room",
    indexes=[
        Index(
            "ExternalIdIndex",
            "GSI1PK",
            "GSI1SK",
            sparse=True,
            purpose="a room's listing by its id on the platform it comes from",
        ),
        Index("StatusIndex", "GSI2PK", "GSI2SK", purpose="a room's listings by status"),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    # An activity has a `type` of its own.
    type_attribute="entityType",
    name_variable="DYNAMODB_TABLE_NAME",
)

ACTIVITY_DAYS = 90
SUPERSEDED_CRITERIA_DAYS = 30
HISTORY_DAYS = 365
MOST_MEMBERS = 30

# The moments of the tables that are there have milliseconds.
Moment = Annotated[Timestamp, Stored("iso_ms")]
Name = Annotated[str, Field(min_length=1, max_length=120)]
Weights = dict[Criterion, float]


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"


class Status(StrEnum):
    """Where a listing stands on the way to a home."""

    UNSEEN = "UNSEEN"
    SEEN = "SEEN"
    VISIT_PLANNED = "VISIT_PLANNED"
    VISITED = "VISITED"
    APPLIED = "APPLIED"
    REJECTED = "REJECTED"
    ACCEPTED = "ACCEPTED"


class Room(Entity, table=table):
    """Where a few people search together."""

    room_id: Id
    name: Name
    created_by_user_id: Id
    search_type: Literal["buy", "rent"]
    context: dict[str, Any] = {}
    member_count: Annotated[int, Counter("Member")] = 0
    owner_count: Annotated[int, Counter("Member", where=lambda m: m.role == Role.OWNER)] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Moment | None, Created()] = None

    key = Key("ROOM#{room_id}", "ROOM")
    members = Cascade("Member")
    listings = Cascade("Listing")
    criteria = Cascade("UserCriteria")
    latest_criteria = Cascade("LatestCriteria")
    combined_criteria = Cascade("CombinedCriteria")
    activities = Cascade("Activity")
    compatibility = Cascade("Compatibility")


class Member(Entity, table=table):
    """A user in a room; the one record of the relationship."""

    room_id: Id
    user_id: Id
    role: Role = Role.MEMBER
    room_name: Annotated[str, Copied("Room", "name")]
    joined_at: Annotated[Moment | None, Created()] = None

    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class UserRoom(Pointer[Member], table=table):
    """The same relationship, seen from the user."""

    user_id: Id
    room_id: Id
    role: Role
    room_name: str
    joined_at: Moment | None = None

    key = Key("USER#{user_id}", "ROOM#{room_id}")


class Listing(Entity, table=table):
    """A property that somebody saved to a room."""

    listing_id: Id
    room_id: Id
    source_brand: Annotated[str, Field(min_length=1, max_length=60)]
    external_id: Annotated[str, Field(min_length=1, max_length=120)] | None = None
    title: Name
    location: Annotated[str, Field(max_length=120)] = ""
    status: Status = Status.UNSEEN
    seen_by: Annotated[set[str], AtMost(MOST_MEMBERS)] = set()
    version: Annotated[int, Version()] = 0
    added_at: Annotated[Moment | None, Created()] = None
    updated_at: Annotated[Moment | None, Updated()] = None

    key = Key("ROOM#{room_id}", "LISTING#{listing_id}")
    by_external_id = On(
        "ExternalIdIndex",
        "SOURCE#{source_brand}#{external_id}",
        "ROOM#{room_id}",
        when="external_id",
        escape=True,
        silence=(("K13", "ids of other platforms are case-sensitive and taken as they come"),),
    )
    by_status = On("StatusIndex", "ROOM#{room_id}", "STATUS#{status}#{listing_id}")
    once_in_a_room = Unique("room_id", "source_brand", "external_id")


class UserCriteria(Entity, table=table):
    """What one member looked for at one time; older versions expire once they are superseded."""

    room_id: Id
    user_id: Id
    timestamp: Moment
    criteria_id: Id
    criteria: Wishes
    weights: Weights = {}
    source: Literal["manual", "ai_proposed"] = "manual"
    expires_at: Annotated[Timestamp | None, Ttl()] = None

    key = Key("ROOM#{room_id}", "CRITERIA#{user_id}#{timestamp:iso_ms}#{criteria_id}")


class LatestCriteria(Entity, table=table):
    """What each member looks for now: one record a member, so that a room is one query."""

    room_id: Id
    user_id: Id
    timestamp: Moment
    criteria_id: Id
    criteria: Wishes
    weights: Weights = {}
    source: Literal["manual", "ai_proposed"] = "manual"

    key = Key("ROOM#{room_id}", "CRITERIA_LATEST#{user_id}")


class CombinedCriteria(Entity, table=table):
    """What a room looks for, merged from its members."""

    room_id: Id
    timestamp: Moment
    combined_id: Id
    criteria: Wishes
    weights: Weights = {}
    from_user_ids: Annotated[list[str], AtMost(MOST_MEMBERS)] = []
    combine_mode: Mode

    expires_at: Annotated[Timestamp | None, Ttl(days=HISTORY_DAYS, after="timestamp")] = None

    key = Key("ROOM#{room_id}", "CRITERIA_COMBINED#{timestamp:iso_ms}#{combined_id}")


class Activity(Entity, table=table):
    """Something that happened in a room."""

    room_id: Id
    created_at: Moment
    activity_id: Id
    type: Annotated[str, Field(max_length=60)]
    sender_type: Literal["user", "ai_copilot", "system"]
    sender_id: Id
    text: Annotated[str, Field(max_length=4000)] = ""
    ttl: Annotated[Timestamp | None, Ttl(days=ACTIVITY_DAYS, after="created_at")] = None

    key = Key("ROOM#{room_id}", "ACTIVITY#{created_at:iso_ms}#{activity_id}")


class Compatibility(Entity, table=table):
    """How well the wishes of a room's members fit, at one time."""

    room_id: Id
    timestamp: Moment
    compatibility_id: Id
    score_percent: Annotated[int, Field(ge=0, le=100)]
    level: Level
    comment: str
    criteria_refs: Annotated[list[str], AtMost(MOST_MEMBERS)] = []
    expires_at: Annotated[Timestamp | None, Ttl(days=HISTORY_DAYS, after="timestamp")] = None

    key = Key("ROOM#{room_id}", "COMPATIBILITY#{timestamp:iso_ms}#{compatibility_id}")


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
def membership(room_id: str, user_id: str) -> Get[Member]:
    """Check membership."""
    return get(Member.key(room_id=room_id, user_id=user_id))


@design.pattern(requests=1)
def room_with_members(room_id: str) -> Collection:
    """A room with its members."""
    return collection(Room, Member, room_id=room_id).limit(MOST_MEMBERS + 1)


@design.pattern(requests=1)
def listing_by_id(room_id: str, listing_id: str) -> Get[Listing]:
    """Get listing by ID."""
    return get(Listing.key(room_id=room_id, listing_id=listing_id))


@design.pattern(requests=1)
def room_listings(room_id: str, limit: int = 50) -> Query[Listing]:
    """Get all room listings."""
    return Listing.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def listings_by_status(room_id: str, status: str, limit: int = 50) -> Query[Listing]:
    """Get listings by status."""
    return Listing.by_status.query(room_id=room_id, status=status).limit(limit)


@design.pattern(requests=1)
def listing_by_external_id(room_id: str, source_brand: str, external_id: str) -> First[Listing]:
    """Find by external ID."""
    query = Listing.by_external_id.query(
        source_brand=source_brand, external_id=external_id, room_id=room_id
    )
    return query.first()


@design.pattern(requests=1, newest=True)
def latest_user_criteria(room_id: str, user_id: str) -> Get[LatestCriteria]:
    """Get a user's latest criteria."""
    return get(LatestCriteria.key(room_id=room_id, user_id=user_id))


@design.pattern(requests=1, newest=True)
def user_criteria_history(room_id: str, user_id: str, limit: int = 20) -> Query[UserCriteria]:
    """A user's criteria, newest first."""
    return UserCriteria.key.query(room_id=room_id, user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def all_users_criteria(room_id: str, limit: int = MOST_MEMBERS) -> Query[LatestCriteria]:
    """Get all users' criteria: the latest of each."""
    return LatestCriteria.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1, newest=True)
def combined_criteria(room_id: str) -> First[CombinedCriteria]:
    """Get combined criteria: the latest."""
    return CombinedCriteria.key.query(room_id=room_id).descending().first()


@design.pattern(newest=True)
def room_activities(room_id: str, limit: int = 50) -> Query[Activity]:
    """Get room activities, newest first."""
    return Activity.key.query(room_id=room_id).descending().limit(limit)


@design.pattern()
def activities_after(room_id: str, timestamp: datetime, limit: int = 50) -> Query[Activity]:
    """Get activities after a timestamp: activities only, and not that instant's own."""
    return Activity.key.query(room_id=room_id).after(created_at=timestamp).limit(limit)


@design.pattern(requests=1, newest=True)
def latest_compatibility(room_id: str) -> First[Compatibility]:
    """Get latest compatibility."""
    return Compatibility.key.query(room_id=room_id).descending().first()


@design.pattern(requests=1, newest=True)
def compatibility_history(room_id: str, limit: int = 20) -> Query[Compatibility]:
    """Get compatibility history, newest first."""
    return Compatibility.key.query(room_id=room_id).descending().limit(limit)
