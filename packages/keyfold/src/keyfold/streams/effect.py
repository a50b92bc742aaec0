"""What a record triggers: stream maintainers and processors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

from keyfold.design.design import Declarations
from keyfold.design.processor import Processor
from keyfold.errors import NotFound, ProcessorFailed
from keyfold.maintain.structure import Reconciled, SummedStructure
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow, Invoke
from keyfold.runtime.intent import Intent, Marker, Update
from keyfold.runtime.writes import commit
from keyfold.streams import outbox
from keyfold.streams.event import Delivery
from keyfold.streams.marker import marker
from keyfold.streams.policy import Policy
from keyfold.streams.record import Change, Record, changes

_INTENTS = get_args(Intent)


@dataclass(frozen=True)
class ReactionContext:
    """The environment in which effects run."""

    context: Context
    db: Db | AsyncDb
    policy: Policy = field(default_factory=Policy)
    halted: Callable[[], bool] = bool
    """Whether to leave the rest of a batch for later."""


@dataclass
class Unit:
    """One effect of one record."""

    record: Record
    change: Change[Any]
    effect: Reaction
    intents: Sequence[Intent] = ()
    """The writes that are known without a read."""
    failures: int = 0

    @property
    def lane(self) -> tuple[str, str]:
        """Units of one lane run in order."""
        return self.effect.name, self.record.address


class Reaction(ABC):
    """Something done for a change, with exactly one effect."""

    name: str
    additive: bool = False
    """Several units may share a transaction, in any order."""
    foreign: bool = False
    """Runs user code."""

    @abstractmethod
    def apply(self, run: ReactionContext, unit: Unit, settled: Marker) -> Flow[None]:
        """Apply the unit together with `settled`, which is refused the second time."""


class Maintained(Reaction):
    """A maintainer's reaction: it reconciles its structure with the current items.

    Repeated and late records are harmless, so it needs no marker.
    """

    def __init__(self, work: Reconciled) -> None:
        self.work, self.name = work, work.label

    def apply(self, run: ReactionContext, unit: Unit, settled: Marker) -> Flow[None]:
        yield from self.work.reconcile(run.context, unit.change.old, unit.change.new)
        if settled.action == "Delete":
            yield from commit(run.context, [settled])


class Summed(Reaction):
    """Amounts that a change moves: added once per record, in one transaction with the marker."""

    additive = True

    def __init__(self, structure: SummedStructure) -> None:
        self.structure, self.name = structure, structure.label

    def writes(self, change: Change[Any]) -> Iterator[Intent]:
        if self.structure.source is change.spec.entity:
            yield from self.structure.writes(change.old, change.new)
        if self.structure.carrier is change.spec.entity and change.old and change.new is None:
            yield from self.structure.carry_over(change.old)

    def apply(self, run: ReactionContext, unit: Unit, settled: Marker) -> Flow[None]:
        try:
            yield from commit(run.context, [*unit.intents, settled])
        except NotFound:
            yield from commit(run.context, [*forgiving(unit.intents), settled])


def forgiving(intents: Sequence[Intent]) -> list[Intent]:
    """The same, but a missing holder is skipped."""
    return [
        replace(intent, if_missing="skip")
        if isinstance(intent, Update) and intent.counting and intent.if_missing == "refuse"
        else intent
        for intent in intents
    ]


class Processed(Reaction):
    """A user's processor."""

    foreign = True

    def __init__(self, processor: Processor) -> None:
        self.processor = processor
        self.name = f"processor {processor.name}"

    def apply(self, run: ReactionContext, unit: Unit, settled: Marker) -> Flow[None]:
        processor, change = self.processor, unit.change
        delivery = Delivery(unit.record, run.db, processor.name)
        seconds = run.policy.seconds if processor.seconds is None else processor.seconds
        function = partial(processor.function, change.old, change.new, delivery)
        result = yield Invoke(function, seconds, self.name)
        intents = _read_result(processor, result)
        emitted = [outbox.intent(run.context, event) for event in delivery.events]
        yield from commit(run.context, [*intents, *emitted, settled])


def _read_result(processor: Processor, result: object) -> list[Intent]:
    if result is None:
        return []
    given: Iterable[object] = [result] if isinstance(result, _INTENTS) else ()
    if not given:
        if not isinstance(result, Iterable) or isinstance(result, str | bytes):
            raise ProcessorFailed(
                f"{processor.name} returned {result!r}; return a write (create, put, update, "
                "delete, check), a list of writes, or None"
            )
        given = list(result)
    for one in given:
        if not isinstance(one, _INTENTS):
            raise ProcessorFailed(f"{processor.name} returned {one!r}, which is not a write")
    return list(given)  # type: ignore[arg-type]


class Effects:
    """All effects of a design, by entity."""

    def __init__(self, design: Declarations) -> None:
        design.complete()
        found = design.maintainers
        self.summed = [Summed(m) for m in found if isinstance(m, SummedStructure)]
        self.maintained = [Maintained(m) for m in found if isinstance(m, Reconciled)]
        self.processed = [Processed(p) for p in design.processors]
        carriers = (one.structure.carrier for one in self.summed)
        followed = [*(m.source for m in found), *(c for c in carriers if c is not None)]
        self.entities = list(
            dict.fromkeys([*followed, *(p.processor.entity for p in self.processed)])
        )
        self.needed = {m.source for m in found if m.sync == "stream"}
        self.needed |= {p.processor.entity for p in self.processed}
        """Entities for which nothing but the stream does the work."""

    def units(self, record: Record) -> Iterator[Unit]:
        """The units of work for a record; raises Undecodable if its item cannot be decoded."""
        for change in changes(record, self.entities):
            entity = change.spec.entity
            for summed in self.summed:
                if _follows(summed.structure, record) and (intents := list(summed.writes(change))):
                    yield Unit(record, change, summed, intents)
            for maintained in self.maintained:
                if maintained.work.source is entity and _follows(maintained.work, record):
                    yield Unit(record, change, maintained)
            for processed in self.processed:
                processor = processed.processor
                if processor.entity is entity and change.kind in processor.kinds:
                    yield Unit(record, change, processed)


def _follows(maintainer: Reconciled | SummedStructure, record: Record) -> bool:
    """Expiry bypasses transactions, so the stream also handles transactional maintainers then."""
    return maintainer.sync == "stream" or record.expired or maintainer.overflow == "stream"


def settled_by(run: ReactionContext, unit: Unit) -> Marker:
    return marker(run.context, unit.record.event_id, unit.effect.name)


def sequences(units: Sequence[Unit]) -> list[str]:
    return [unit.record.sequence for unit in units]
