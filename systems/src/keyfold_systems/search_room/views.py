"""What callers send, and what they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from keyfold import AsyncDb
from keyfold_systems.search_room import patterns
from keyfold_systems.search_room.entities import (
    MOST_CONTEXT,
    Activity,
    Amount,
    CombinedCriteria,
    Compatibility,
    Member,
    Name,
    Room,
    SearchType,
    Source,
    Status,
    UserCriteria,
    UserRoom,
)
from keyfold_systems.search_room.wishes import Stated as StatedWishes
from keyfold_web import ItemView, Payload, cleared, unchanged

Word = Annotated[str, Field(min_length=1, max_length=60)]
Stated = Annotated[Name, StringConstraints(strip_whitespace=True)]
Said = Annotated[str, Field(max_length=500)]
Message = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Context = Annotated[dict[Word, Said | bool | int | float | None], Field(max_length=MOST_CONTEXT)]
Place = Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)]
Brand = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class NewRoom(Payload):
    """A new room."""

    name: Stated
    search_type: SearchType
    context: Context = {}


class RoomChange(Payload):
    """What changes about a room; null clears the context."""

    name: Stated = unchanged()
    search_type: SearchType = unchanged()
    context: Context | None = cleared({})


class NewListing(Payload):
    """A property to save."""

    source_brand: Brand
    external_id: Stated | None = None
    title: Stated
    location: Place = ""
    price: Amount | None = None
    rooms: Amount | None = None


class ListingChange(Payload):
    """What changes about a listing; null clears what may be empty."""

    title: Stated = unchanged()
    location: Place | None = cleared("")
    price: Amount | None = None
    rooms: Amount | None = None
    status: Status = unchanged()


class NewCriteria(Payload):
    """What you look for, and how much each criterion matters (0 to 1)."""

    criteria: StatedWishes
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    source: Source = "manual"

    @model_validator(mode="after")
    def _weighs_what_is_stated(self) -> Self:
        if unknown := sorted(set(self.weights) - set(self.criteria)):
            raise ValueError(f"weights: you state no criterion {unknown[0]!r}")
        return self


class MemberView(ItemView, of=Member, without=("room_id",)):
    """A member, by name."""

    user_name: str


class RoomCard(ItemView, of=UserRoom, without=("user_id",)):
    """A room in the list of a user's rooms."""

    name: str
    search_type: SearchType


class Wanted(ItemView, of=UserCriteria, without=("room_id",)):
    """What a member looks for now, by name."""

    user_name: str


class RoomWishes(Payload):
    """All that a room looks for at one glance; what was not computed yet is null."""

    criteria: list[Wanted]
    combined: CombinedCriteria | None
    compatibility: Compatibility | None


class ActivityView(ItemView, of=Activity, without=("room_id", "ttl")):
    """An activity, with the name of who did it."""

    sender_name: str


class Changed(Payload):
    """What changed; a page reads it again."""

    room_id: str
    kind: str


async def names_of(db: AsyncDb, user_ids: Iterable[str]) -> Mapping[str, str]:
    """The names of users, in one batch; who has none is called by the id."""
    ids = sorted(set(user_ids))
    found = await patterns.people(db, ids) if ids else []
    known = {one.user_id: one.name for one in found if one is not None}
    return {one: known.get(one, one) for one in ids}


async def show_rooms(db: AsyncDb, found: Sequence[UserRoom]) -> list[RoomCard]:
    """A user's rooms with their names, in one batch."""
    rooms = await patterns.rooms(db, [one.room_id for one in found]) if found else []
    return [
        RoomCard.of(one, name=room.name, search_type=room.search_type)
        for one, room in zip(found, rooms, strict=True)
        if room is not None
    ]


async def show_activities(db: AsyncDb, found: Sequence[Activity]) -> list[ActivityView]:
    """Activities with names, in one batch."""
    names = await names_of(db, (one.sender_id for one in found))
    return [ActivityView.of(one, sender_name=names[one.sender_id]) for one in found]


async def show_criteria(db: AsyncDb, found: Sequence[UserCriteria]) -> list[Wanted]:
    """Criteria with names, in one batch."""
    names = await names_of(db, (one.user_id for one in found))
    return [Wanted.of(one, user_name=names[one.user_id]) for one in found]


async def show_members(db: AsyncDb, found: Sequence[Any]) -> list[MemberView]:
    """Members with names, in one batch."""
    names = await names_of(db, (one.user_id for one in found))
    return [MemberView.of(one, user_name=names[one.user_id]) for one in found]


def changes_of(item: Room | Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What of it is not so already."""
    return {name: value for name, value in given.items() if getattr(item, name) != value}
