"""Vector indexes and searches as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from keyfold.design.source import NOWHERE, Intent, Place, Silence

Distance = Choice["cosine", "dot_product", "euclidean"]


@dataclass(frozen=True)
class VectorSchema:
    """An index over a list of numbers, searched for nearest neighbours; it holds whole items.

    Names are those of attributes.
    """

    name: str
    attribute: str
    dimensions: int
    distance: Distance = "cosine"
    within: str = ""
    """The attribute whose values are searched apart; nothing where all items are together."""
    filters: tuple[str, ...] = ()
    """Attributes that a search can ask for, by equality."""
    numbers: tuple[str, ...] = ()
    """Which of these attributes are numbers; the others are text."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()

    @property
    def search_attributes(self) -> tuple[str, ...]:
        """All attributes that a search can or must name."""
        return (*((self.within,) if self.within else ()), *self.filters)


@dataclass(frozen=True)
class SearchSchema:
    """An access pattern that finds the nearest neighbours of a vector, with their scores."""

    name: str
    entity: str
    table: str
    index: str
    given: tuple[str, ...] = ()
    """The fields that it asks for."""
    parameters: tuple[str, ...] = ()
    limit: int | None = None
    limit_parameter: str = ""
    projection: tuple[str, ...] = ()
    """The fields that it reads, where these are not all."""
    rate: float | None = None
    """Calls a second."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()
