"""What callers of Search Room send, and what they get beside the entities."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from keyfold_web import Payload, cleared, unchanged
from keyfold_systems.search_room.entities import (
    MOST_CONTEXT,
    Address,
    Amount,
    CombinedCriteria,
    Compatibility,
    LatestCriteria,
    Member,
    Name,
    Room,
)
from keyfold_systems.search_room.shape import opened
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Stated as StatedWishes

Word = Annotated[str, Field(min_length=1, max_length=60)]
Stated = Annotated[Name, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Said = Annotated[str, Field(max_length=500)]
Context = Annotated[dict[Word, Said | bool | int | float | None], Field(max_length=MOST_CONTEXT)]
Place = Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)]
Brand = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
ExternalId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]


class NewRoom(Payload):
    """What you say to open a room."""

    name: Stated
    search_type: Literal["buy", "rent"]
    context: Context = {}


class RoomChange(Payload):
    """What changes about a room; what is left out stays, and null clears the context."""

    name: Stated = unchanged()
    search_type: Literal["buy", "rent"] = unchanged()
    context: Context | None = cleared({})
    has_copilot: bool = unchanged()


class NewListing(Payload):
    """A property to save."""

    source_brand: Brand
    external_id: ExternalId | None = None
    title: Stated
    location: Place = ""
    price: Amount | None = None
    rooms: Amount | None = None
    surface: Amount | None = None
    link: Address | None = None
    picture: Address | None = None


class ListingChange(Payload):
    """What changes about a listing; what is left out stays, and null clears what can be empty."""

    title: Stated = unchanged()
    location: Place | None = cleared("")
    price: Amount | None = None
    rooms: Amount | None = None
    surface: Amount | None = None
    link: Address | None = None
    picture: Address | None = None
    status: Status = unchanged()


class NewCriteria(Payload):
    """What you look for, and how much each criterion matters (0 to 1)."""

    criteria: StatedWishes
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    source: Literal["manual", "ai_proposed"] = "manual"

    in_the_open_shape = model_validator(mode="before")(opened)

    @model_validator(mode="after")
    def _weighs_what_is_stated(self) -> Self:
        if unknown := sorted(set(self.weights) - set(self.criteria)):
            raise ValueError(f"weights: you state no criterion {unknown[0]!r}")
        return self


class RoomWishes(Payload):
    """What a room looks for: each member, all of them, and how well it fits."""

    criteria: list[LatestCriteria]
    combined: CombinedCriteria | None
    compatibility: Compatibility | None


class RoomNews(Payload):
    """What changed in a room: the kind of item, and which."""

    room_id: str
    changed: str
    id: str | None = None


class UserNews(Payload):
    """What changed in somebody's own lists."""

    user_id: str
    changed: str


class RoomView(Payload):
    """A room with everybody in it."""

    room: Room
    members: list[Member]
