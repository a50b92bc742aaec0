"""The design of Inviter: one table, canonical records and the pointers that lists are read from."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keyfold import (
    AtMost,
    Counter,
    Created,
    Design,
    Entity,
    First,
    Get,
    Id,
    Index,
    Key,
    Merge,
    On,
    Pointer,
    Query,
    Timestamp,
    Updated,
    Version,
    each,
    get,
    merge,
)
from keyfold.maintain import Cascade, Copied

design = Design("inviter", description="Hangouts of groups of friends.")

table = design.table(
    "InviterTable",
    indexes=[
        Index(
            "UserGroupIndex",
            "gsi1pk",
            "gsi1sk",
            purpose="what belongs to a user: groups, hosted hangouts, answers",
        ),
        Index(
            "EntityTimeIndex",
            "gsi1pk",
            "startTimestamp",
            sort_type="N",
            purpose="the hangouts of a user or of a group, by time",
        ),
    ],
    stream="NEW_AND_OLD_IMAGES",
    description="Everything of Inviter.",
)

# A hangout, its pointers and a check of each guest fit into one transaction of 100.
MOST_GROUPS_INVITED = 15
MOST_USERS_INVITED = 30
MOST_GROUPS_OF_A_USER = 200

Text = Annotated[str, Field(min_length=1, max_length=200)]
LongText = Annotated[str, Field(max_length=4000)]


class Answer(StrEnum):
    """What somebody says to an invitation."""

    GOING = "going"
    MAYBE = "maybe"
    NOT_GOING = "not_going"


class User(Entity, table=table):
    """A person."""

    user_id: Id
    name: Text
    groups: Annotated[int, Counter("Membership")] = 0
    owned_groups: Annotated[int, Counter("Group", via={"user_id": "owner_id"})] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "METADATA")


class Group(Entity, table=table):
    """The canonical record of a group."""

    group_id: Id
    name: Text
    owner_id: Id
    closing: bool = False
    members: Annotated[int, Counter("Membership")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "METADATA")
    memberships = Cascade("Membership")


class Membership(Entity, table=table):
    """A user in a group, with what a list shows of both."""

    group_id: Id
    user_id: Id
    group_name: Annotated[Text, Copied("Group", "name")]
    user_name: Annotated[Text, Copied("User", "name", through="by_user")]
    joined_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "USER#{user_id}")
    by_user = On("UserGroupIndex", "USER#{user_id}", "GROUP#{group_id}")


class Hangout(Entity, table=table):
    """The full, authoritative record of one hangout."""

    hangout_id: Id
    host_id: Id
    title: Text
    description: LongText = ""
    place: Annotated[str, Field(max_length=200)] = ""
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool = False
    group_ids: Annotated[set[str], AtMost(MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], AtMost(MOST_USERS_INVITED)] = set()
    going: Annotated[int, Counter("Response", where=lambda r: r.answer == Answer.GOING)] = 0
    maybe: Annotated[int, Counter("Response", where=lambda r: r.answer == Answer.MAYBE)] = 0
    not_going: Annotated[int, Counter("Response", where=lambda r: r.answer == Answer.NOT_GOING)] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "METADATA")
    by_host = On("UserGroupIndex", "USER#{host_id}", "HOSTED#{hangout_id}")
    responses = Cascade("Response")


class Response(Entity, table=table):
    """One user's answer to a hangout."""

    hangout_id: Id
    user_id: Id
    answer: Answer
    at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "RESPONSE#{user_id}")
    by_user = On("UserGroupIndex", "USER#{user_id}", "RESPONSE#{hangout_id}")


class GroupHangout(Pointer[Hangout], table=table, each="group_ids"):
    """A hangout as a group's feed shows it."""

    group_id: Id
    hangout_id: Id
    host_id: Id
    title: Text
    place: str
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool
    going: int
    maybe: int
    not_going: int

    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")
    by_time = On("EntityTimeIndex", "GROUP#{group_id}", "{starts_at:epoch_ms}")


class UserHangout(Pointer[Hangout], table=table, each="user_ids"):
    """A hangout as the list of a directly invited user shows it."""

    user_id: Id
    hangout_id: Id
    host_id: Id
    title: Text
    place: str
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool
    going: int
    maybe: int
    not_going: int

    key = Key("USER#{user_id}", "HANGOUT#{hangout_id}")
    by_time = On("EntityTimeIndex", "USER#{user_id}", "{starts_at:epoch_ms}")


@design.pattern(requests=1)
def user_by_id(user_id: str) -> Get[User]:
    """A user."""
    return get(User.key(user_id=user_id))


@design.pattern(requests=1)
def group_by_id(group_id: str) -> Get[Group]:
    """A group."""
    return get(Group.key(group_id=group_id))


@design.pattern(requests=1)
def membership(group_id: str, user_id: str) -> Get[Membership]:
    """Whether a user is in a group."""
    return get(Membership.key(group_id=group_id, user_id=user_id))


@design.pattern(requests=1)
def members_of_group(group_id: str, limit: int = 50) -> Query[Membership]:
    """The members of a group, with their names."""
    return Membership.key.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def groups_of_user(user_id: str, limit: int = MOST_GROUPS_OF_A_USER) -> Query[Membership]:
    """The groups that a user belongs to, with their names."""
    return Membership.by_user.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def group_feed(group_id: str, limit: int = 50) -> Query[GroupHangout]:
    """A group's feed, from pointers alone."""
    return GroupHangout.key.query(group_id=group_id).limit(limit)


@design.pattern()
def group_upcoming(
    group_id: str, earliest: datetime, now: datetime, limit: int = 50
) -> Query[GroupHangout]:
    """What a group has before it, running hangouts included, by time."""
    query = GroupHangout.by_time.query(group_id=group_id).since(starts_at=earliest)
    return query.where(lambda p: p.ends_at > now).limit(limit)


@design.pattern(
    silence=(("Q8", "a user is in at most 200 groups: joining another one is refused"),)
)
def user_upcoming(
    user_id: str, group_ids: list[str], earliest: datetime, now: datetime, limit: int = 50
) -> Merge[GroupHangout | UserHangout]:
    """All that a user has before them: own invitations and those of all their groups."""
    invited = UserHangout.by_time.query(user_id=user_id).since(starts_at=earliest)
    grouped = GroupHangout.by_time.query(group_id=each(group_ids)).since(starts_at=earliest)
    return merge(
        grouped.where(lambda p: p.ends_at > now),
        invited.where(lambda p: p.ends_at > now),
        unique="hangout_id",
    ).limit(limit)


@design.pattern(requests=1)
def hangout_by_id(hangout_id: str) -> Get[Hangout]:
    """One hangout's detail page."""
    return get(Hangout.key(hangout_id=hangout_id))


@design.pattern(requests=1)
def responses_to(hangout_id: str, limit: int = 50) -> Query[Response]:
    """Who answered what."""
    return Response.key.query(hangout_id=hangout_id).limit(limit)


@design.pattern(requests=1)
def hosted_by(user_id: str, limit: int = 50) -> Query[Hangout]:
    """The hangouts that a user hosts."""
    return Hangout.by_host.query(host_id=user_id).limit(limit)


@design.pattern(requests=1)
def answers_of(user_id: str, limit: int = 50) -> Query[Response]:
    """What a user answered."""
    return Response.by_user.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def next_of_group(group_id: str, now: datetime) -> First[GroupHangout]:
    """The next hangout of a group."""
    return GroupHangout.by_time.query(group_id=group_id).since(starts_at=now).first()
