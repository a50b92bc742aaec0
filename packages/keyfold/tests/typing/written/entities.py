"""Entities with written types: a small design of hangouts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keyfold import (
    AtMost,
    Counter,
    Created,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Timestamp,
    Updated,
    Version,
)
from keyfold.maintain import Cascade, Copied

from . import entities_types as typed

design = Design("inviter", description="Hangouts of groups of friends.")

table = design.table(
    "InviterTable",
    indexes=[
        Index(
            "UserGroupIndex",
            "gsi1pk",
            "gsi1sk",
            purpose="what belongs to a user: groups, hosted hangouts, answers; people by name",
        ),
        Index(
            "EntityTimeIndex",
            "gsi1pk",
            "startTimestamp",
            sort_type="N",
            purpose="the hangouts of a user or of a group, by time",
        ),
    ],
    # Of remembered requests; nothing of the document's expires.
    ttl="ttl",
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


def _answers(answer: Answer) -> Counter:
    """Counted by the stream: people who answer at once do not meet on one item."""
    return Counter("Response", where=lambda r: r.answer == answer, sync="stream")


class User(typed.User, Entity, table=table):
    """A person."""

    user_id: Id
    name: Text
    initial: str | None = None
    found_as: str | None = None
    """The name as a search spells it."""
    leaving: bool = False
    groups: Annotated[int, Counter("Membership")] = 0
    owned_groups: Annotated[int, Counter("Group", via={"user_id": "owner_id"})] = 0
    hosting: Annotated[int, Counter("Hangout", via={"user_id": "host_id"})] = 0
    answers: Annotated[int, Counter("Response")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "METADATA")
    by_name = On(
        "UserGroupIndex",
        "PEOPLE#{initial:lower}",
        "{found_as}#{user_id}",
        when=("initial", "found_as"),
    )
    memberships = Cascade("Membership", through="by_user")
    hosted = Cascade("Hangout", through="by_host", via={"user_id": "host_id"})
    responses = Cascade("Response", through="by_user")


class Group(typed.Group, Entity, table=table):
    """The canonical record of a group."""

    group_id: Id
    name: Text
    owner_id: Id
    private: bool = False
    closing: bool = False
    members: Annotated[int, Counter("Membership")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "METADATA")
    memberships = Cascade("Membership")


class Membership(typed.Membership, Entity, table=table):
    """A user in a group, with what a list shows of both."""

    group_id: Id
    user_id: Id
    group_name: Annotated[Text, Copied("Group", "name")]
    user_name: Annotated[Text, Copied("User", "name", through="by_user")]
    joined_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "USER#{user_id}")
    by_user = On("UserGroupIndex", "USER#{user_id}", "GROUP#{group_id}")
    responses = Cascade("Response", through="by_user", sync="stream")


class Hangout(typed.Hangout, Entity, table=table):
    """The full, authoritative record of one hangout."""

    hangout_id: Id
    host_id: Id
    host_name: Annotated[
        str, Copied("User", "name", through="by_host", via={"user_id": "host_id"})
    ] = ""
    title: Text
    description: LongText = ""
    place: Annotated[str, Field(max_length=200)] = ""
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool = False
    group_ids: Annotated[set[str], AtMost(MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], AtMost(MOST_USERS_INVITED + 1)] = set()
    """Whose own list shows it: those invited by name, and the host."""
    going: Annotated[int, _answers(Answer.GOING)] = 0
    maybe: Annotated[int, _answers(Answer.MAYBE)] = 0
    not_going: Annotated[int, _answers(Answer.NOT_GOING)] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "METADATA")
    by_host = On("UserGroupIndex", "USER#{host_id}", "HOSTED#{hangout_id}")
    responses = Cascade("Response", sync="stream")


class Response(typed.Response, Entity, table=table):
    """One user's answer to a hangout; it goes with the invitation that it was given to."""

    hangout_id: Id
    user_id: Id
    user_name: Annotated[str, Copied("User", "name", through="by_user")] = ""
    answer: Answer
    group_id: Id | None = None
    """The group that was invited, where the answer is one of its members'."""
    guest_id: Id | None = None
    """The user, where they were invited by name."""
    at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "RESPONSE#{user_id}")
    by_user = On("UserGroupIndex", "USER#{user_id}", "RESPONSE#{hangout_id}")


class GroupHangout(typed.GroupHangout, Pointer[Hangout], table=table, each="group_ids"):
    """A hangout as a group's feed shows it."""

    group_id: Id
    hangout_id: Id
    host_id: Id
    host_name: str = ""
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
    responses = Cascade("Response", sync="stream")


class UserHangout(typed.UserHangout, Pointer[Hangout], table=table, each="user_ids"):
    """A hangout as the list of its host or of somebody invited by name shows it."""

    user_id: Id
    hangout_id: Id
    host_id: Id
    host_name: str = ""
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
    responses = Cascade("Response", via={"user_id": "guest_id"}, sync="stream")
