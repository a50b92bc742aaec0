"""The entities of Inviter: one table, canonical records, and pointer records for lists.

Keys, attribute names and index contents are the guide's. Users and answers are ours: the guide
names neither record, and they stand where none of its queries looks.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keyfold import (
    AtMost,
    Copied,
    Counter,
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
    Updated,
    Version,
)
from keyfold.structures import Cascade

design = Design("inviter", description="Hangouts of groups of friends.")

table = design.table(
    "InviterTable",
    indexes=[
        Index("UserGroupIndex", "gsi1pk", "gsi1sk", purpose="the groups that a user belongs to"),
        Index(
            "EntityTimeIndex",
            "gsi1pk",
            "startTimestamp",
            sort_type="N",
            purpose="the upcoming hangouts of a user or of a group, by time",
        ),
    ],
    ttl="ttl",  # of remembered request ids; nothing of the guide's expires
    stream="NEW_AND_OLD_IMAGES",
)

MOST_INVITED = 1000
"""So that a hangout stays far below the 400 KB of an item; the guide names no limit."""

Text = Annotated[str, Field(min_length=1, max_length=200)]
BY_TIME = "the guide reads upcoming hangouts from EntityTimeIndex, and a feed from the table"
LongText = Annotated[str, Field(max_length=4000)]
Place = Annotated[str, Field(max_length=200)]
Moment = Annotated[Timestamp, Stored("epoch_ms")]
Ids = Annotated[list[Id], AtMost(MOST_INVITED)]


class Answer(StrEnum):
    """What an invited user says."""

    GOING = "going"
    MAYBE = "maybe"
    NOT_GOING = "not_going"


def _answers(answer: Answer) -> Counter:
    """Counted by the stream: users who answer at the same time do not contend for one item."""
    return Counter("Response", where=lambda r: r.answer == answer, sync="stream")


class User(Entity, table=table):
    """A user."""

    user_id: Id
    name: Text
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "METADATA")


class Group(Entity, table=table):
    """The canonical record of a group."""

    group_id: Id
    name: Text
    members: Annotated[int, Counter("GroupMembership", sync="stream")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "METADATA")


class GroupMembership(Entity, table=table):
    """Links a user to a group, with the names of both."""

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
    host_id: Annotated[Id, RefersTo("User")]
    title: Text
    description: LongText = ""
    location: Place = ""
    start_timestamp: Moment
    end_timestamp: Moment | None = None
    associated_groups: Annotated[Ids, RefersTo("Group")] = []
    invited_users: Annotated[Ids, RefersTo("User")] = []
    """Whose own list shows it: those invited directly, and the host."""
    going: Annotated[int, _answers(Answer.GOING)] = 0
    maybe: Annotated[int, _answers(Answer.MAYBE)] = 0
    not_going: Annotated[int, _answers(Answer.NOT_GOING)] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "METADATA")
    responses = Cascade("Response", sync="stream")


class HangoutPointer(Pointer[Hangout], table=table, each="associated_groups", overflow="stream"):
    """A hangout as a group's feed shows it."""

    group_id: Id
    hangout_id: Id
    host_id: Id
    title: Text
    location: Place
    start_timestamp: Moment
    end_timestamp: Moment | None = None
    going: int
    maybe: int
    not_going: int

    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")
    by_time = On(
        "EntityTimeIndex",
        "GROUP#{group_id}",
        "{start_timestamp:epoch_ms}",
        silence=(("X11", BY_TIME),),
    )
    responses = Cascade("Response", sync="stream")


class UserHangoutPointer(Pointer[Hangout], table=table, each="invited_users", overflow="stream"):
    """A hangout as the list of its host, or of a user who is invited directly, shows it."""

    user_id: Id
    hangout_id: Id
    host_id: Id
    title: Text
    location: Place
    start_timestamp: Moment
    end_timestamp: Moment | None = None
    going: int
    maybe: int
    not_going: int

    key = Key("USER#{user_id}", "HANGOUT#{hangout_id}")
    by_time = On(
        "EntityTimeIndex",
        "USER#{user_id}",
        "{start_timestamp:epoch_ms}",
        silence=(("X11", BY_TIME),),
    )
    responses = Cascade("Response", via={"user_id": "guest_id"}, sync="stream")


class Response(Entity, table=table):
    """A user's answer to a hangout; it goes with the invitation that it was given to."""

    hangout_id: Id
    user_id: Id
    answer: Answer
    group_id: Id | None = None
    """The invited group, for an answer of one of its members."""
    guest_id: Annotated[Id | None, RefersTo("User")] = None
    """The user, for one who is invited directly."""
    at: Annotated[Timestamp | None, Updated()] = None

    key = Key("EVENT#{hangout_id}", "RESPONSE#{user_id}")
