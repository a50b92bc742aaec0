"""What callers send, and what they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from keyfold import AsyncDb, Timestamp
from keyfold_systems.inviter import patterns
from keyfold_systems.inviter.entities import (
    MOST_INVITED,
    Answer,
    Group,
    Hangout,
    HangoutPointer,
    LongText,
    Place,
    Response,
    Text,
    UserHangoutPointer,
)
from keyfold_web import ItemView, Payload, cleared, unchanged

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
UserName = Annotated[Stated, Field(examples=["Ada"])]
Guests = Annotated[list[str], Field(max_length=MOST_INVITED)]
Listed = HangoutPointer | UserHangoutPointer


class NewHangout(Payload):
    """A new hangout, and who is invited."""

    title: Stated
    description: LongText = ""
    location: Place = ""
    start_timestamp: Timestamp
    end_timestamp: Timestamp | None = None
    associated_groups: Guests = []
    invited_users: Guests = []

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end_timestamp is not None and self.end_timestamp <= self.start_timestamp:
            raise ValueError("endTimestamp must be after startTimestamp")
        return self


class HangoutChange(Payload):
    """What changes; what is left out stays, null clears what may be empty."""

    description: LongText | None = cleared("")
    location: Place | None = cleared("")
    start_timestamp: Timestamp = unchanged()
    end_timestamp: Timestamp | None = None


class Invitation(Payload):
    """Everybody who is invited; who is left out is not invited any more."""

    associated_groups: Guests = []
    invited_users: Guests = []


class Person(Payload):
    """A user with a name."""

    user_id: str
    name: str


class GroupView(ItemView, of=Group, without=("created_at",)):
    """A group as everybody sees it who has its id."""


class HangoutCard(ItemView, of=HangoutPointer, without=("host_id", "group_id")):
    """A hangout in a list, with the reader's own answer."""

    group_id: str | None
    """The group through which it is on the list."""
    my_answer: Answer | None


class Answered(Person):
    """A user's answer."""

    answer: Answer


class GuestList(Payload):
    """Who is invited to a hangout, by name."""

    host: Person
    groups: list[GroupView]
    users: list[Person]
    my_answer: Answer | None


class Changed(Payload):
    """What changed; a page reads it again."""

    group_id: str | None = None
    user_id: str | None = None
    hangout_id: str | None = None


async def names_of(db: AsyncDb, user_ids: Iterable[str]) -> Mapping[str, str]:
    """The names of users, in one batch."""
    found = await patterns.users(db, sorted(set(user_ids)))
    return {one.user_id: one.name for one in found if one is not None}


async def show_cards(db: AsyncDb, found: Sequence[Listed], reader_id: str) -> list[HangoutCard]:
    """Hangouts of a list with what the reader answered: one batch for all."""
    given = await patterns.answers_of(db, reader_id, [one.hangout_id for one in found])
    return [
        HangoutCard.of(
            one,
            group_id=one.group_id if isinstance(one, HangoutPointer) else None,
            my_answer=None if mine is None else mine.answer,
        )
        for one, mine in zip(found, given, strict=True)
    ]


async def show_answers(db: AsyncDb, found: Sequence[Response]) -> list[Answered]:
    """Answers with names, in one batch."""
    names = await names_of(db, (one.user_id for one in found))
    return [
        Answered(user_id=one.user_id, name=names.get(one.user_id, ""), answer=one.answer)
        for one in found
    ]


def guests_of(hangout: Hangout) -> list[str]:
    """Who is invited directly, without the host."""
    return [one for one in hangout.invited_users if one != hangout.host_id]
