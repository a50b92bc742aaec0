"""Vector indexes and searches as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from keyfold.design.source import NOWHERE, Intent, Place, Silence

Distance = Choice["cosine", "dot_product", "euclidean"]


@dataclass(frozen=True)
class VectorSchema:
    """An index over a list of numbers for nearest-neighbour search; it holds whole items.

    Names are attribute names.
    """

    name: str
    attribute: str
    dimensions: int
    distance: Distance = "cosine"
    within: str = ""
    """The attribute whose values are searched separately; empty if all items are together."""
    filters: tuple[str, ...] = ()
    """Attributes that a search can filter by, with equality."""
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
    """An access pattern that finds the nearest neighbours of a vector, with scores."""

    name: str
    entity: str
    table: str
    index: str
    given: tuple[str, ...] = ()
    """The fields that it filters by."""
    parameters: tuple[str, ...] = ()
    limit: int | None = None
    limit_parameter: str = ""
    projection: tuple[str, ...] = ()
    """The fields that it reads, if not all."""
    rate: float | None = None
    """Calls per second."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()
