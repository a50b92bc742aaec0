"""What callers of Inviter send, and what they get beside the entities."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from keyfold import Timestamp
from keyfold.api import Payload
from keyfold_systems.inviter.entities import MOST_GROUPS_INVITED, MOST_USERS_INVITED, LongText, Text

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""


class NewHangout(Payload):
    """What you say to invite people."""

    title: Stated
    description: LongText = ""
    place: Annotated[str, Field(max_length=200)] = ""
    starts_at: Timestamp
    ends_at: Timestamp
    group_ids: Annotated[set[str], Field(max_length=MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], Field(max_length=MOST_USERS_INVITED)] = set()


class HangoutChange(Payload):
    """What changes about a hangout; what is left out stays."""

    title: Stated | None = None
    description: LongText | None = None
    place: Annotated[str, Field(max_length=200)] | None = None
    starts_at: Timestamp | None = None
    ends_at: Timestamp | None = None
    cancelled: bool | None = None


class Guests(Payload):
    """Groups and users of an invitation."""

    group_ids: Annotated[set[str], Field(max_length=MOST_GROUPS_INVITED)] = set()
    user_ids: Annotated[set[str], Field(max_length=MOST_USERS_INVITED)] = set()


class HangoutCard(Payload):
    """A hangout as a list shows it."""

    hangout_id: str
    host_id: str
    title: str
    place: str
    starts_at: Timestamp
    ends_at: Timestamp
    cancelled: bool
    going: int
    maybe: int
    not_going: int
