"""Consequence structures: the facts of each source item, and everything derived from them.

A new structure says what must hold because of an item, and how an item shows that it does. Writes,
verification and repair are the same for all structures of one kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.follows import FactKind, Follows
from keyfold.maintain.address import raw, ref_bytes
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import Fact, difference
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent

Sync = Literal["transaction", "stream"]
Overflow = Literal["refuse", "stream"]


Shown = tuple[bytes, bytes | Decimal, bytes | None]
"""An address, the fact's value as an item shows it, and the item if it holds the value."""


@dataclass
class Causes:
    """What a verification already knows to be wrong, so that its consequences are not reported
    again.
    """

    numbers: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    """Fields with a wrong number, and the right one, by the holder's address."""
    unread: set[type[Entity]] = field(default_factory=set)
    """Entities with an undecodable item, whose facts are unknown."""
    moving: int = 0
    """Numbers that differed but changed while they were checked: nothing is known."""
    late: set[tuple[int, bytes]] = field(default_factory=set)
    """The same of a stream, by structure and address: without `settle` they are not drift."""

    def note(self, holder: Ref[Any], name: str, number: Decimal) -> None:
        value = int(number) if holder.entity.__spec__.fields[name].kind == "integer" else number
        self.numbers.setdefault(ref_bytes(holder), {})[name] = value

    def correct(self, item: Entity | None) -> Entity | None:
        """The item with its numbers corrected."""
        if item is None or not self.numbers:
            return item
        right = self.numbers.get(ref_bytes(item.ref()))
        return item if right is None else item.model_copy(update=right)


class FeedAudit(Protocol):
    """A scan's findings about something that no single item defines."""

    def note(self, entity: Entity) -> None: ...
    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]: ...
    def close(self) -> None: ...


class Audited(ABC):
    """A structure whose state is a join of several kinds of items, with its own audit."""

    label: str

    @abstractmethod
    def audit(self, context: Context) -> FeedAudit: ...

    @abstractmethod
    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Repair one drift, based on the current state."""


class Reconciled(ABC):
    """Reconciled by the stream with the current state: repeated and late records are harmless."""

    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Sync
    overflow: Overflow = "refuse"

    @abstractmethod
    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        """Handle a change of a source item, based on the current state."""


@dataclass(frozen=True)
class Restatement:
    """How a class declares a structure again that is known by its record alone."""

    entity: str
    """The entity whose class declares it."""
    uses: frozenset[tuple[str, str]]
    """The fields, by entity, whose values it needs."""
    marks: Mapping[str, Any] = field(default_factory=dict)
    """By field."""
    body: Mapping[str, Any] = field(default_factory=dict)
    canonical: str = ""
    """The entity that the class points to."""
    options: Mapping[str, Any] = field(default_factory=dict)


Condition = Callable[[Any], object] | None
"""A record's condition, as a declaration takes it."""


class Consequence(ABC):
    """What follows from changes of one entity's items."""

    kind: str
    label: str
    """Its name, stable across versions of the program."""
    source: type[Entity]
    sync: Sync
    overflow: Overflow = "refuse"

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """The fields of the source whose change matters."""

    @property
    def owner(self) -> str:
        """The label of its declaration, under which drift is reported."""
        return self.label

    def record(self, target: str, fact: FactKind) -> Follows:
        """Its record in the schema, with what every record says."""
        return Follows(
            name=self.label,
            kind=self.kind,
            source=self.source.__spec__.name,
            target=target,
            fact=fact,
            fields=tuple(sorted(self.fields)),
            sync=self.sync,
        )

    def afterwards(self, context: Context, gone: Entity) -> Flow[None] | None:  # noqa: ARG002
        """What the stream would do about a delete, if there is no stream."""
        return None

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:  # noqa: ARG002
        """Counted fields of the source that must not move while these fields change.

        None stands for a delete.
        """
        return frozenset()


class KeptStructure(Consequence):
    """What must hold because of items of one entity."""

    compared: FactComparison = FactComparison()

    @abstractmethod
    def facts(self, item: Entity) -> Iterable[Fact]:
        """What must hold because this item exists; pure."""

    def writes(self, old: Entity | None, new: Entity | None) -> Iterator[Intent]:
        """The writes for a change."""
        return difference(
            () if old is None else self.facts(old), () if new is None else self.facts(new)
        )

    def joins(
        self,
        context: Context,  # noqa: ARG002 - a job looks around
        old: Entity | None,
        new: Entity | None,
    ) -> Flow[Iterable[Intent]]:
        """The writes that join the transaction of a change."""
        yield from ()
        return self.writes(old, new)

    @classmethod
    def restate(cls, record: Follows, when: Condition) -> Restatement | None:  # noqa: ARG003
        """How to declare it again; None if its record does not say all of it."""
        return None

    # Verification: what items say and show is compared by address; mismatches are checked again.

    @property
    def recounts(self) -> bool:
        """Whether `look` recounts a number itself, so that one scan suffices."""
        return False

    @property
    @abstractmethod
    def shown_by(self) -> Iterable[type[Entity]]:
        """The entities whose items show whether its facts hold."""

    @abstractmethod
    def shows(self, item: Entity, own: bytes) -> Iterable[Shown]:
        """What such an item at the address `own` shows."""

    @abstractmethod
    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        """The drift, if it still exists."""

    @abstractmethod
    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        """Repair one drift; refused if the item changed meanwhile."""


class SummedStructure(KeptStructure):
    """Its writes add up: the stream applies them once per record, and may combine them."""

    target: type[Entity]
    """The entity whose items hold the number."""
    field: str

    @property
    @abstractmethod
    def carrier(self) -> type[Entity] | None:
        """The entity whose items hold its stream-maintained numbers, if any."""

    @abstractmethod
    def carry_over(self, gone: Entity) -> Iterator[Intent]:
        """What the numbers of a deleted item mean for its successor."""

    def shown_elsewhere(self, context: Context) -> Iterator[Reconciled]:
        """The structures that show the number elsewhere."""
        for one in context.design.maintainers:
            concerned = one.source is self.target and self.field in one.fields
            if concerned and isinstance(one, Reconciled):
                yield one

    def bring_shown(self, context: Context, holder: Ref[Any]) -> Flow[None]:
        """Propagate a corrected number to where it is shown."""
        item = yield from raw(context, holder)
        present = None if item is None else self.target.__spec__.decode(item)
        for structure in self.shown_elsewhere(context):
            yield from structure.reconcile(context, None, present)


class MarkedStructure(KeptStructure):
    """A structure with support items, which no entity declares."""

    @abstractmethod
    def marks(self, item: Mapping[str, Any]) -> bool:
        """Whether an item of no entity is one of them."""

    @abstractmethod
    def shows_marker(self, item: dict[str, Any]) -> tuple[bytes, bytes]:
        """What one of them shows."""


def restated(record: Follows, when: Condition = None) -> Restatement | None:
    """How to declare a recorded structure again; None if only its own declaration can."""
    waiting = KeptStructure.__subclasses__()
    while waiting:
        structure = waiting.pop()
        if vars(structure).get("kind") == record.kind:
            return structure.restate(record, when)
        waiting += structure.__subclasses__()
    return None
