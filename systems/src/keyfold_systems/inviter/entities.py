"""The entities of Inviter: one table, canonical records, and pointers for lists."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

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
    Name,
    On,
    Pointer,
    Timestamp,
    Ttl,
    Updated,
    Version,
    not_,
)
from keyfold.maintain import Cascade, Copied
from keyfold_systems.inviter import entities_types as typed

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
    # Of remembered requests and of notifications; nothing of the document's expires.
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    description="Everything of Inviter.",
)

# A hangout, its pointers and a check of each guest fit into one transaction of 100.
MOST_GROUPS_INVITED = 15
MOST_USERS_INVITED = 30
MOST_GROUPS_OF_A_USER = 200
NOTIFICATION_DAYS = 60

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


class NoticeKind(StrEnum):
    """What a notification is about."""

    INVITED = "invited"
    CHANGED = "changed"
    CANCELLED = "cancelled"
    REINSTATED = "reinstated"
    ANSWERED = "answered"
    GROUP_INVITED = "group_invited"
    GROUP_JOINED = "group_joined"
    GROUP_HANDED_OVER = "group_handed_over"
    REMOVED = "removed"


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
    unread: Annotated[int, Counter("Notification", where=lambda n: not_(n.read))] = 0
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
    invitations = Cascade("GroupInvitation", through="by_user")
    hosted = Cascade("Hangout", through="by_host", via={"user_id": "host_id"})
    responses = Cascade("Response", through="by_user")
    notifications = Cascade("Notification")


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
    invitations = Cascade("GroupInvitation")


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
    asked = Cascade("GroupInvitation", via={"user_id": "invited_by"}, sync="stream")


class GroupInvitation(typed.GroupInvitation, Entity, table=table):
    """Somebody asked into a group; joining uses it up, and it goes with the member who asked."""

    group_id: Id
    user_id: Id
    group_name: Annotated[Text, Copied("Group", "name")]
    user_name: Annotated[Text, Copied("User", "name", through="by_user")]
    invited_by: Id
    invited_by_name: Annotated[
        Text, Copied("Membership", "user_name", via={"user_id": "invited_by"})
    ]
    invited_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GROUP#{group_id}", "INVITED#{user_id}")
    by_user = On("UserGroupIndex", "USER#{user_id}", "INVITED#{group_id}")


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


class Notification(typed.Notification, Entity, table=table):
    """Something that a user wants to know, read or not."""

    user_id: Id
    note_id: Id
    kind: NoticeKind
    title: str
    """Of the hangout, or the name of the group."""
    hangout_id: Id | None = None
    group_id: Id | None = None
    actor_id: Id | None = None
    answer: Answer | None = None
    text: str = ""
    """Why a moderator removed it."""
    read: bool = False
    at: Annotated[Timestamp | None, Created()] = None
    expires_at: Annotated[Timestamp | None, Ttl(days=NOTIFICATION_DAYS), Name("ttl")] = None

    key = Key("USER#{user_id}", "NOTE#{note_id}")
    by_actor = On(
        "UserGroupIndex",
        "USER#{actor_id}",
        "TOLD#{note_id}#{user_id}",
        when="actor_id",
        silence=(("X3", "the removal of a user deletes what others were told about them"),),
    )


class Mailing(typed.Mailing, Entity, table=table):
    """A notification on its way to many; the stream writes some of them at a time."""

    mailing_id: Id
    note_id: Id
    """Of the notification: who is in two groups gets it once."""
    kind: NoticeKind
    hangout_id: Id
    group_id: Id | None = None
    """To its members; without one, to all who come."""
    after: str | None = None
    """Whom it has reached, in the order of their ids."""

    key = Key("MAILING#{mailing_id}", "METADATA")


class Removal(typed.Removal, Entity, table=table):
    """A user or a group that goes with all that is theirs; the stream ends what was begun."""

    kind: Literal["user", "group"]
    removed_id: Id
    steps: int = 0

    key = Key("REMOVAL#{kind}#{removed_id}", "METADATA")
