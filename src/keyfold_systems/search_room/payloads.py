"""What callers of Search Room send, and what they get beside the entities."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keyfold.api import Payload
from keyfold_systems.search_room.entities import Member, Name, Room, Status
from keyfold_systems.search_room.wishes import Criterion, Wishes

Word = Annotated[str, Field(min_length=1, max_length=60)]
Stated = Annotated[Name, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Said = Annotated[str, Field(max_length=500)]


class NewRoom(Payload):
    """What you say to open a room."""

    name: Stated
    search_type: Literal["buy", "rent"]
    context: Annotated[dict[Word, Said | bool | float | None], Field(max_length=20)] = {}


class NewListing(Payload):
    """A property to save."""

    source_brand: Annotated[str, Field(min_length=1, max_length=60)]
    external_id: Annotated[str, Field(min_length=1, max_length=120)] | None = None
    title: Stated
    location: Annotated[str, Field(max_length=120)] = ""


class ListingChange(Payload):
    """What changes about a listing; what is left out stays."""

    title: Stated | None = None
    location: Annotated[str, Field(max_length=120)] | None = None
    status: Status | None = None


class NewCriteria(Payload):
    """What you look for, and how much each criterion matters (0 to 1)."""

    criteria: Wishes
    weights: dict[Criterion, Annotated[float, Field(ge=0, le=1)]] = {}
    source: Literal["manual", "ai_proposed"] = "manual"


class RoomView(Payload):
    """A room with everybody in it."""

    room: Room
    members: list[Member]
