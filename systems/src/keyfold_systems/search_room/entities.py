"""The entities of Search Room, with the keys, attribute names and indexes of its document."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from keyfold import (
    AtMost,
    Created,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    RefersTo,
    Stored,
    Timestamp,
    Ttl,
    Unique,
    Unversioned,
    Version,
)
from keyfold.structures import Cascade
from keyfold_systems.search_room.combination import Mode
from keyfold_systems.search_room.fit import Level
from keyfold_systems.search_room.wishes import Weights, Wishes

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
    type_attribute="entityType",  # an activity has a `type` of its own
    name_variable="DYNAMODB_TABLE_NAME",
)

ACTIVITY_DAYS = 90
MOST_MEMBERS = 30
MOST_CONTEXT = 20
KEPT = "the document keeps criteria indefinitely, to preserve preferences"
MOMENT = "as the document has it; a second record of one millisecond takes the next one"
FOREIGN = "ids of other platforms are case-sensitive and taken as they come"

Moment = Annotated[Timestamp, Stored("iso_ms")]
Made = Annotated[Timestamp | None, Created(), Stored("iso_ms")]
UserId = Annotated[Id, RefersTo("Person")]
Name = Annotated[str, Field(min_length=1, max_length=120)]
Brand = Annotated[str, Field(min_length=1, max_length=60)]
Amount = Annotated[int | float, Field(ge=0, le=1e9)]
Context = Annotated[dict[str, str | bool | int | float | None], AtMost(MOST_CONTEXT)]
SearchType = Literal["buy", "rent"]
Source = Literal["manual", "ai_proposed"]
Sender = Literal["user", "ai_copilot", "system"]


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"


class Status(StrEnum):
    """Where a listing stands; it can go from any to any."""

    UNSEEN = "UNSEEN"
    SEEN = "SEEN"
    VISIT_PLANNED = "VISIT_PLANNED"
    VISITED = "VISITED"
    APPLIED = "APPLIED"
    REJECTED = "REJECTED"
    ACCEPTED = "ACCEPTED"


class Person(Entity, table=table):
    """A user with a name; the document has ids alone."""

    user_id: Id
    name: Name

    key = Key("USER#{user_id}", "PROFILE")


class Room(Entity, table=table):
    """A search room where users collaborate."""

    room_id: Id
    name: Name
    created_by_user_id: UserId
    search_type: SearchType
    context: Context = {}
    version: Annotated[int, Version()] = 0
    created_at: Made = None

    key = Key("ROOM#{room_id}", "ROOM")
    members = Cascade("Member")
    listings = Cascade("Listing")
    criteria = Cascade("UserCriteria")
    combined_criteria = Cascade("CombinedCriteria")
    activities = Cascade("Activity")
    compatibility = Cascade("Compatibility")


class Member(Entity, table=table, per_partition=MOST_MEMBERS):
    """A user in a room."""

    room_id: Id
    user_id: UserId
    role: Role = Role.MEMBER
    joined_at: Made = None

    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class UserRoom(Pointer[Member], table=table):
    """The same membership, for the list of a user's rooms."""

    user_id: UserId
    room_id: Id
    role: Role
    joined_at: Annotated[Timestamp | None, Stored("iso_ms")] = None

    key = Key("USER#{user_id}", "ROOM#{room_id}")


class Listing(Entity, table=table):
    """A property listing saved to a room."""

    listing_id: Id
    room_id: Id
    source_brand: Brand
    external_id: Name | None = None
    title: Name
    location: Annotated[str, Field(max_length=120)] = ""
    price: Amount | None = None
    rooms: Amount | None = None
    status: Status = Status.UNSEEN
    seen_by: Annotated[list[UserId], AtMost(MOST_MEMBERS), Unversioned()] = []
    version: Annotated[int, Version()] = 0
    added_at: Made = None

    key = Key("ROOM#{room_id}", "LISTING#{listing_id}")
    by_external_id = On(
        "ExternalIdIndex",
        "SOURCE#{source_brand}#{external_id}",
        "ROOM#{room_id}",
        when="external_id",
        escape=True,
        silence=(("K13", FOREIGN),),
    )
    by_status = On(
        "StatusIndex",
        "ROOM#{room_id}",
        "STATUS#{status}#{listing_id}",
        silence=(("X11", "as the document has it, on a table that may be there already"),),
    )
    once_in_a_room = Unique("room_id", "source_brand", "external_id")


class UserCriteria(Entity, table=table, silence=(("W8", KEPT), ("K7", MOMENT))):
    """What one user looked for at one time."""

    room_id: Id
    user_id: UserId
    timestamp: Moment
    criteria: Wishes
    weights: Weights = {}
    source: Source = "manual"

    key = Key("ROOM#{room_id}", "CRITERIA#{user_id}#{timestamp:iso_ms}")


class CombinedCriteria(Entity, table=table, silence=(("W8", KEPT), ("K7", MOMENT))):
    """The criteria of all members as one."""

    room_id: Id
    timestamp: Moment
    criteria: Wishes
    weights: Weights = {}
    from_user_ids: Annotated[list[UserId], AtMost(MOST_MEMBERS)] = []
    combine_mode: Mode

    key = Key("ROOM#{room_id}", "CRITERIA_COMBINED#{timestamp:iso_ms}")


class Activity(Entity, table=table):
    """Something that happened in a room."""

    room_id: Id
    activity_id: Id
    type: Annotated[str, Field(max_length=60)]
    created_at: Moment
    sender_type: Sender
    sender_id: UserId
    text: Annotated[str, Field(max_length=4000)] = ""
    ttl: Annotated[Timestamp | None, Ttl(days=ACTIVITY_DAYS, after="created_at")] = None

    key = Key("ROOM#{room_id}", "ACTIVITY#{created_at:iso_ms}#{activity_id}")


class Compatibility(Entity, table=table, silence=(("W8", KEPT), ("K7", MOMENT))):
    """How well the criteria of a room's members fit, at one time."""

    room_id: Id
    timestamp: Moment
    score_percent: Annotated[int, Field(ge=0, le=100)]
    level: Level
    comment: str
    criteria_refs: Annotated[list[str], AtMost(MOST_MEMBERS)] = []
    """The sort keys of the criteria that it was computed from."""

    key = Key("ROOM#{room_id}", "COMPATIBILITY#{timestamp:iso_ms}")
