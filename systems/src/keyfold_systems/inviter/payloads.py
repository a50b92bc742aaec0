"""What callers of Inviter send, and what they get beside the entities."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from keyfold import Timestamp
from keyfold_web import Payload, cleared, unchanged
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_INVITED,
    MOST_USERS_INVITED,
    Answer,
    LongText,
    NoticeKind,
    Text,
)

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Place = Annotated[str, Field(max_length=200)]


class NewHangout(Payload):
    """What you say to invite people."""

    title: Stated
    description: LongText = ""
    place: Place = ""
    starts_at: Timestamp
    ends_at: Timestamp
    group_ids: Annotated[set[str], Field(max_length=MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], Field(max_length=MOST_USERS_INVITED)] = set()


class HangoutChange(Payload):
    """What changes about a hangout; what is left out stays, null clears what may be empty."""

    title: Stated = unchanged()
    description: LongText | None = cleared("")
    place: Place | None = cleared("")
    starts_at: Timestamp = unchanged()
    ends_at: Timestamp = unchanged()
    cancelled: bool = unchanged()


class Guests(Payload):
    """Groups and users of an invitation."""

    group_ids: Annotated[set[str], Field(max_length=MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], Field(max_length=MOST_USERS_INVITED)] = set()


class HangoutCard(Payload):
    """A hangout as a list shows it to its reader."""

    hangout_id: str
    host_id: str
    host_name: str
    title: str
    place: str
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool
    going: int
    maybe: int
    not_going: int
    group_id: str | None = None
    """The group through which it is on the list."""
    group_name: str | None = None
    my_answer: Answer | None = None


class GroupName(Payload):
    """A group as others than its members see it."""

    group_id: str
    name: str
    members: int


class InvitedPerson(Payload):
    """Somebody invited by name, or the host."""

    user_id: str
    name: str
    answer: Answer | None = None


class GuestList(Payload):
    """Who is invited to a hangout, as its reader sees it."""

    host_id: str
    host_name: str
    groups: list[GroupName]
    users: list[InvitedPerson]
    my_answer: Answer | None = None


class GroupCard(Payload):
    """A group as a list shows it to a member."""

    group_id: str
    group_name: str
    owner_id: str
    owner_name: str | None = None
    private: bool
    members: int
    joined_at: Timestamp | None = None


class Person(Payload):
    """Somebody who was looked for."""

    user_id: str
    name: str


class Notice(Payload):
    """Something that a user is to know, with who did it."""

    note_id: str
    kind: NoticeKind
    title: str
    hangout_id: str | None = None
    group_id: str | None = None
    actor_id: str | None = None
    actor_name: str | None = None
    answer: Answer | None = None
    text: str = ""
    read: bool
    at: Timestamp | None = None


class GroupNews(Payload):
    """Something of a group changed: a hangout, or its members and itself."""

    group_id: str
    hangout_id: str | None = None


class UserNews(Payload):
    """Something of a user changed; `changed` is what kind of thing."""

    user_id: str
    changed: str


class HangoutNews(Payload):
    """A hangout or an answer to it changed."""

    hangout_id: str
    answered_by: str | None = None
