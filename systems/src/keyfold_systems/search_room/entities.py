"""The entities of Search Room: one table, a room's partition with everything in the room.

Fields marked `Transient` are not stored: whoever answers with an item fills them in, so that lists
show names beside ids and what the caller has to do with each item.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from keyfold import (
    AtMost,
    Cascade,
    Copied,
    Counter,
    Created,
    Design,
    Entity,
    Fixed,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Stored,
    Timestamp,
    Transient,
    Ttl,
    Unique,
    Unversioned,
    Updated,
    Version,
)
from keyfold_systems.search_room import entities_types as typed
from keyfold_systems.search_room.combination import Mode
from keyfold_systems.search_room.fit import Level
from keyfold_systems.search_room.shape import opened
from keyfold_systems.search_room.status import STEPS, Status
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
    # An activity has a `type` of its own.
    type_attribute="entityType",
    name_variable="DYNAMODB_TABLE_NAME",
)

ACTIVITY_DAYS = 90
SUPERSEDED_CRITERIA_DAYS = 30
HISTORY_DAYS = 365
INVITATION_DAYS = 14
ASKED_DAYS = INVITATION_DAYS + ACTIVITY_DAYS
MOST_MEMBERS = 30
MOST_CONTEXT = 20

# The moments of the tables that are there have milliseconds.
Moment = Annotated[Timestamp, Stored("iso_ms")]
Name = Annotated[str, Field(min_length=1, max_length=120)]
Address = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)]
Amount = Annotated[int | float, Field(ge=0, le=1e9)]
Context = dict[str, str | bool | int | float | None]
Shown = Annotated[str | None, Transient()]
"""A name beside an id."""
People = Annotated[set[str], AtMost(MOST_MEMBERS), Unversioned()]
"""Who has done something with an item; that edits nothing."""


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"


class InvitationStatus(StrEnum):
    """An invitation that is accepted becomes a member; one that is withdrawn is gone."""

    PENDING = "pending"
    DECLINED = "declined"


class Person(typed.Person, Entity, table=table):
    """Somebody who can be asked into rooms."""

    user_id: Id
    name: Name
    unread_count: Annotated[
        int, Counter("Notification", where=lambda n: n.is_read == False, sync="stream")  # noqa: E712
    ] = 0
    created_at: Annotated[Moment | None, Created()] = None

    key = Key("USER#{user_id}", "PROFILE")


class Removal(typed.Removal, Entity, table=table):
    """Somebody is leaving for good; it is there until nothing of theirs is."""

    user_id: Id
    steps: int = 0
    requested_at: Annotated[Moment | None, Created()] = None

    key = Key("USER#{user_id}", "REMOVAL")


class Room(typed.Room, Entity, table=table):
    """Where a few people search together."""

    room_id: Id
    name: Name
    created_by_user_id: Id
    search_type: Literal["buy", "rent"]
    context: Annotated[Context, AtMost(MOST_CONTEXT)] = {}
    has_copilot: bool = False
    member_count: Annotated[int, Counter("Member")] = 0
    owner_count: Annotated[int, Counter("Member", where=lambda m: m.role == Role.OWNER)] = 0
    listing_count: Annotated[int, Counter("Listing")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Moment | None, Created()] = None

    key = Key("ROOM#{room_id}", "ROOM")
    members = Cascade("Member")
    invitations = Cascade("Invitation")
    links = Cascade("InvitationLink")
    listings = Cascade("Listing")
    criteria = Cascade("UserCriteria")
    latest_criteria = Cascade("LatestCriteria")
    combined_criteria = Cascade("CombinedCriteria")
    activities = Cascade("Activity")
    compatibility = Cascade("Compatibility")


class Member(typed.Member, Entity, table=table, per_partition=MOST_MEMBERS):
    """A user in a room; the one record of the relationship."""

    room_id: Id
    user_id: Id
    user_name: Shown = None
    role: Role = Role.MEMBER
    room_name: Annotated[str, Copied("Room", "name")]
    joined_at: Annotated[Moment | None, Created()] = None

    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")
    wishes = Cascade("LatestCriteria")
    notifications = Cascade("Notification", sync="stream")


class UserRoom(typed.UserRoom, Pointer[Member], table=table):
    """The same relationship, seen from the user."""

    user_id: Id
    room_id: Id
    role: Role
    room_name: str
    joined_at: Moment | None = None
    search_type: Annotated[Literal["buy", "rent"] | None, Transient()] = None
    member_count: Annotated[int | None, Transient()] = None
    listing_count: Annotated[int | None, Transient()] = None

    key = Key("USER#{user_id}", "ROOM#{room_id}")


class FormerRoom(typed.FormerRoom, Entity, table=table):
    """A room that somebody left, where something of theirs may still be."""

    user_id: Id
    room_id: Id
    left_at: Moment

    key = Key("USER#{user_id}", "LEFT#{room_id}")


class AskedRoom(typed.AskedRoom, Entity, table=table):
    """A room that somebody was asked into, as long as an activity there may name them."""

    user_id: Id
    room_id: Id
    asked_at: Moment
    expires_at: Annotated[Timestamp | None, Ttl(days=ASKED_DAYS, after="asked_at")] = None

    key = Key("USER#{user_id}", "ASKED#{room_id}")


class Invitation(typed.Invitation, Entity, table=table):
    """Somebody is asked into a room and has some days to answer."""

    room_id: Id
    user_id: Id
    user_name: Shown = None
    role: Role = Role.MEMBER
    status: InvitationStatus = InvitationStatus.PENDING
    room_name: Annotated[str, Copied("Room", "name")]
    invited_by: Id
    invited_by_name: Shown = None
    invited_at: Moment
    expires_at: Annotated[Timestamp | None, Ttl(days=INVITATION_DAYS, after="invited_at")] = None

    key = Key("ROOM#{room_id}", "INVITATION#{user_id}")


class UserInvitation(typed.UserInvitation, Pointer[Invitation], table=table):
    """The same invitation, seen from who is asked; both expire at the same moment."""

    user_id: Id
    room_id: Id
    role: Role
    status: InvitationStatus
    room_name: str
    invited_by: Id
    invited_by_name: Shown = None
    invited_at: Moment
    expires_at: Annotated[Timestamp | None, Ttl()] = None

    key = Key("USER#{user_id}", "INVITATION#{room_id}")


class InvitationLink(typed.InvitationLink, Entity, table=table):
    """A way into a room for whoever was given it; its id is the secret."""

    room_id: Id
    link_id: Id
    room_name: Annotated[str, Copied("Room", "name")]
    invited_by: Id
    invited_by_name: Shown = None
    invited_at: Moment
    expires_at: Annotated[Timestamp | None, Ttl(days=INVITATION_DAYS, after="invited_at")] = None

    key = Key("ROOM#{room_id}", "LINK#{link_id}")


class Listing(typed.Listing, Entity, table=table):
    """A property that somebody saved to a room."""

    listing_id: Id
    room_id: Id
    source_brand: Annotated[str, Field(min_length=1, max_length=60)]
    external_id: Annotated[str, Field(min_length=1, max_length=120)] | None = None
    title: Name
    location: Annotated[str, Field(max_length=120)] = ""
    price: Amount | None = None
    rooms: Amount | None = None
    surface: Amount | None = None
    link: Address | None = None
    picture: Address | None = None
    status: Annotated[Status, STEPS] = Status.UNSEEN
    seen_by: People = set()
    liked_by: People = set()
    disliked_by: People = set()
    added_by: Id | None = None
    added_by_name: Shown = None
    seen: Annotated[bool | None, Transient()] = None
    vote: Annotated[Literal["like", "dislike"] | None, Transient()] = None
    next_steps: Annotated[list[Status] | None, Transient()] = None
    """What it can become."""
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


class UserCriteria(typed.UserCriteria, Entity, table=table):
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
    in_the_open_shape = model_validator(mode="before")(opened)


class LatestCriteria(typed.LatestCriteria, Entity, table=table):
    """What each member looks for now: one record a member, so that a room is one query."""

    room_id: Id
    user_id: Id
    user_name: Shown = None
    timestamp: Moment
    criteria_id: Id
    criteria: Wishes
    weights: Weights = {}
    source: Literal["manual", "ai_proposed"] = "manual"

    key = Key("ROOM#{room_id}", "CRITERIA_LATEST#{user_id}")
    in_the_open_shape = model_validator(mode="before")(opened)


class CombinedCriteria(typed.CombinedCriteria, Entity, table=table):
    """What a room looks for, merged from its members."""

    room_id: Id
    timestamp: Moment
    combined_id: Id
    criteria: Wishes
    weights: Weights = {}
    from_user_ids: Annotated[list[str], AtMost(MOST_MEMBERS)] = []
    from_user_names: Annotated[list[str] | None, Transient()] = None
    combine_mode: Mode
    expires_at: Annotated[Timestamp | None, Ttl(days=HISTORY_DAYS, after="timestamp")] = None

    key = Key("ROOM#{room_id}", "CRITERIA_COMBINED#{timestamp:iso_ms}#{combined_id}")
    in_the_open_shape = model_validator(mode="before")(opened)


class Activity(typed.Activity, Entity, table=table):
    """Something that happened in a room."""

    room_id: Id
    created_at: Moment
    activity_id: Id
    type: Annotated[str, Field(max_length=60)]
    sender_type: Literal["user", "ai_copilot", "system"]
    sender_id: Id
    sender_name: Shown = None
    text: Annotated[str, Field(max_length=4000)] = ""
    about: Id | None = None
    """The listing or the person that it is about."""
    about_name: Shown = None
    ttl: Annotated[Timestamp | None, Ttl(days=ACTIVITY_DAYS, after="created_at")] = None

    key = Key("ROOM#{room_id}", "ACTIVITY#{created_at:iso_ms}#{activity_id}")


class Notification(typed.Notification, Entity, table=table):
    """What somebody else did in a room of yours; the stream keeps it."""

    user_id: Id
    created_at: Annotated[Moment, Fixed()]
    activity_id: Id
    room_id: Id | None = None
    """None where it is about no room, as what a moderator removed."""
    type: str
    sender_id: Id
    sender_name: Shown = None
    text: str = ""
    about: Id | None = None
    about_name: Shown = None
    is_read: bool = False
    ttl: Annotated[Timestamp | None, Ttl(days=ACTIVITY_DAYS, after="created_at")] = None

    key = Key("USER#{user_id}", "NOTIFICATION#{created_at:iso_ms}#{activity_id}")


class Compatibility(typed.Compatibility, Entity, table=table):
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
