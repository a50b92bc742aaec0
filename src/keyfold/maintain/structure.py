"""A structure that is kept: the facts of each item of its source, and all that follows from them.

Whoever adds a structure says what must hold because of an item, and how an item shows that it
does. Its writes, its verification and its repair are the same for all that are of one kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.maintain.address import ref_bytes
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import Fact, difference
from keyfold.maintain.rows import FactComparison, Suspect
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent

Sync = Literal["transaction", "stream"]
Overflow = Literal["refuse", "stream"]


Shown = tuple[bytes, bytes | Decimal, bytes | None]
"""An address, the value of the fact that an item bears out, and the item where it holds it."""


@dataclass
class Causes:
    """What a verification knows to be wrong already, so that what follows is not named again."""

    numbers: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    """Fields that hold a wrong number, and the right one, by the holder's address."""
    unread: set[type[Entity]] = field(default_factory=set)
    """Entities of which an item could not be read: what it would have said is not known."""
    moving: int = 0
    """Numbers that differed, and were counted on while they were looked at: nothing is known."""

    def note(self, holder: Ref[Any], name: str, number: Decimal) -> None:
        value = int(number) if holder.entity.__spec__.fields[name].kind == "integer" else number
        self.numbers.setdefault(ref_bytes(holder), {})[name] = value

    def correct(self, item: Entity | None) -> Entity | None:
        """The item with its numbers as they should be."""
        if item is None or not self.numbers:
            return item
        right = self.numbers.get(ref_bytes(item.ref()))
        return item if right is None else item.model_copy(update=right)


class FeedAudit(Protocol):
    """What a scan tells of something that no single item says."""

    def note(self, entity: Entity) -> None: ...
    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]: ...
    def close(self) -> None: ...


class Audited(ABC):
    """A structure whose state is a join of several kinds of items, with an audit of its own."""

    label: str

    @abstractmethod
    def audit(self, context: Context) -> FeedAudit: ...

    @abstractmethod
    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Put one drift right, by what is there now."""


class Reconciled(ABC):
    """What the stream brings to what is there now: repeated and late records do no harm."""

    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Sync
    overflow: Overflow = "refuse"

    @abstractmethod
    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        """Do what a change of one of the source's items asks for, by what is there now."""


class KeptStructure(ABC):
    """What must hold because of items of one entity."""

    kind: str
    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Sync
    overflow: Overflow = "refuse"
    compared: FactComparison = FactComparison()

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

    def joins(
        self,
        context: Context,  # noqa: ARG002 - a job looks around
        old: Entity | None,
        new: Entity | None,
    ) -> Flow[Iterable[Intent]]:
        """What joins the transaction of a change."""
        yield from ()
        return self.writes(old, new)

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:  # noqa: ARG002
        return None

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:  # noqa: ARG002
        """Counted fields of the source that must not move while these fields are changed.

        None stands for a delete.
        """
        return frozenset()

    # Verification: what items say and show is met by address; what differs is looked at again.

    @property
    def recounts(self) -> bool:
        """Whether `look` counts anew what one number stands for: one scan is enough for it."""
        return False

    @property
    def owner(self) -> str:
        """The label of its declaration, by which drift is named."""
        return self.label

    @property
    @abstractmethod
    def shown_by(self) -> Iterable[type[Entity]]:
        """The entities whose items show whether its facts hold."""

    @abstractmethod
    def shows(self, item: Entity, own: bytes) -> Iterable[Shown]:
        """What such an item, whose address is `own`, shows."""

    @abstractmethod
    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        """The drift, if it still is there."""

    @abstractmethod
    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Put one drift right; refused if somebody wrote meanwhile."""


class SummedStructure(KeptStructure):
    """Its writes add up: the stream carries them out once for each record, and may join them."""

    @property
    @abstractmethod
    def carrier(self) -> type[Entity] | None:
        """The entity on whose items it keeps numbers by the stream, if it does."""

    @abstractmethod
    def carry_over(self, gone: Entity) -> Iterator[Intent]:
        """What the numbers of an item that is gone say of the one that is in its place by now."""


class MarkedStructure(KeptStructure):
    """It has support items, which no entity declares."""

    @property
    @abstractmethod
    def marked_by(self) -> str:
        """How their partition keys begin."""

    @abstractmethod
    def shows_marker(self, item: dict[str, Any]) -> tuple[bytes, bytes]:
        """What one of them shows."""
