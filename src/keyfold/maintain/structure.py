"""A structure that is kept: the facts of each item of its source, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Literal

from keyfold.design.entity import Entity
from keyfold.maintain.fact import Fact, difference
from keyfold.runtime.intent import Intent

Sync = Literal["transaction", "stream"]
Overflow = Literal["refuse", "stream"]


class KeptStructure(ABC):
    """What must hold because of items of one entity; `facts` is all that it has to say."""

    kind: str
    label: str
    source: type[Entity]
    sync: Sync
    overflow: Overflow = "refuse"

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """The source's fields whose change concerns it."""

    @abstractmethod
    def facts(self, item: Entity) -> Iterable[Fact]:
        """What must hold because this item exists; pure."""

    def writes(self, old: Entity | None, new: Entity | None) -> Iterator[Intent]:
        """The writes that follow from a change."""
        return difference(
            () if old is None else self.facts(old), () if new is None else self.facts(new)
        )
