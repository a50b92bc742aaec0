"""Processes a batch of records: together where possible, one by one otherwise.

The local consumer and the Lambda handler share this flow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import orjson

from keyfold.design.table import Table
from keyfold.errors import AlreadyProcessed, NotFound
from keyfold.runtime.flow import Flow, Overdue
from keyfold.runtime.intent import Intent
from keyfold.runtime.writes import commit
from keyfold.streams.deadletter import DECODING, Failure, keep_failure
from keyfold.streams.effect import Effects, ReactionContext, Unit, forgiving, sequences, settled_by
from keyfold.streams.marker import find_marked
from keyfold.streams.policy import TRANSIENT, retry_transient
from keyfold.streams.record import parse
from keyfold_engine.limits import TRANSACTION_ITEMS

TOGETHER: Final = TRANSACTION_ITEMS - 10
"""Writes per transaction: a marker and the writes of each unit, with some room left."""


@dataclass
class Outcome:
    """The result of a batch."""

    records: int = 0
    applied: int = 0
    repeated: int = 0
    dead: int = 0
    unresolved: list[str] = field(default_factory=list)
    """Sequence numbers of records that backend failures kept from being processed."""
    lag_seconds: float = 0.0
    """The age of the newest settled record of the shard that is furthest behind."""

    def __iadd__(self, other: Outcome) -> Outcome:
        self.records += other.records
        self.applied += other.applied
        self.repeated += other.repeated
        self.dead += other.dead
        self.unresolved += other.unresolved
        self.lag_seconds = max(self.lag_seconds, other.lag_seconds)
        return self


def process(
    run: ReactionContext, effects: Effects, table: Table, records: Iterable[Mapping[str, Any]]
) -> Flow[Outcome]:
    """Apply the effects of records, in order per key."""
    outcome = Outcome()
    units: list[Unit] = []
    seen: set[str] = set()
    for wire in records:
        outcome.records += 1
        try:
            record = parse(table, wire)
            if record.event_id in seen:
                continue
            seen.add(record.event_id)
            units += list(effects.units(record))
        except Exception as problem:
            yield from _give_up_record(run, outcome, table, wire, problem)
    for together in _batches([unit for unit in units if unit.effect.additive]):
        if run.halted():
            outcome.unresolved += sequences(together)
        else:
            yield from _apply_all(run, outcome, together)
    single = [unit for unit in units if not unit.effect.additive]
    yield from _in_lanes(run, outcome, (yield from _drop_processed(run, outcome, single)))
    return outcome


def _batches(units: list[Unit]) -> Iterator[list[Unit]]:
    """Units grouped into transactions; units that write the same item share that write."""
    batch: list[Unit] = []
    targets: set[str] = set()
    for unit in sorted(units, key=_target):
        more = targets | {_target(unit)}
        if len(batch) + len(more) >= TOGETHER:
            yield batch
            batch, more = [], {_target(unit)}
        batch.append(unit)
        targets = more
    if batch:
        yield batch


def _target(unit: Unit) -> str:
    return " ".join(str(getattr(intent, "ref", "")) for intent in unit.intents)


def _drop_processed(run: ReactionContext, outcome: Outcome, units: list[Unit]) -> Flow[list[Unit]]:
    """The units without those whose processor already ran: its effects cannot be undone."""
    foreign = [(u.record.event_id, u.effect.name) for u in units if u.effect.foreign]
    if not foreign:
        return units
    try:
        done = yield from retry_transient(run.policy, lambda: find_marked(run.context, foreign))
    except TRANSIENT:
        return units
    fresh = [u for u in units if (u.record.event_id, u.effect.name) not in done]
    outcome.repeated += len(units) - len(fresh)
    return fresh


def _apply_all(
    run: ReactionContext, outcome: Outcome, units: Sequence[Unit], *, forgive: bool = False
) -> Flow[None]:
    """One transaction for all; split in half on failure, to find the culprit."""
    if len(units) == 1:
        return (yield from _in_lanes(run, outcome, units))
    if not units:
        return None
    try:
        intents: list[Intent] = [intent for unit in units for intent in unit.intents]
        if forgive:
            intents = forgiving(intents)
        intents += [settled_by(run, unit) for unit in units]
        yield from retry_transient(run.policy, lambda: commit(run.context, intents))
        outcome.applied += len(units)
    except TRANSIENT:
        outcome.unresolved += sequences(units)
    except AlreadyProcessed:
        yield from _fresh_ones(run, outcome, units)
    except Exception as problem:
        if isinstance(problem, NotFound) and not forgive:
            return (yield from _apply_all(run, outcome, units, forgive=True))
        middle = len(units) // 2
        yield from _apply_all(run, outcome, units[:middle], forgive=forgive)
        yield from _apply_all(run, outcome, units[middle:], forgive=forgive)
    return None


def _fresh_ones(run: ReactionContext, outcome: Outcome, units: Sequence[Unit]) -> Flow[None]:
    names = {(u.record.event_id, u.effect.name): u for u in units}
    try:
        done = yield from retry_transient(run.policy, lambda: find_marked(run.context, list(names)))
    except TRANSIENT:
        outcome.unresolved += sequences(units)
        return
    outcome.repeated += len(units) - len(names.keys() - done)
    yield from _apply_all(run, outcome, [u for name, u in names.items() if name not in done])


def _in_lanes(run: ReactionContext, outcome: Outcome, units: Sequence[Unit]) -> Flow[None]:
    """One by one, in order within a lane; a failing unit waits while other lanes proceed."""
    waiting: dict[tuple[str, str], deque[Unit]] = {}
    for unit in units:
        waiting.setdefault(unit.lane, deque()).append(unit)
    turn = 0
    while waiting:
        parked = {}
        for lane, queue in waiting.items():
            yield from _advance(run, outcome, queue)
            if queue:
                parked[lane] = queue
        waiting = parked
        if waiting:
            yield run.policy.pause(turn)
            turn += 1


def _advance(run: ReactionContext, outcome: Outcome, queue: deque[Unit]) -> Flow[None]:
    """Apply a lane's units until one fails and may be retried."""
    while queue:
        if run.halted():
            outcome.unresolved += sequences(list(queue))
            queue.clear()
            return
        unit = queue[0]
        try:
            yield from _attempt(run, unit)
            outcome.applied += 1
        except AlreadyProcessed:
            outcome.repeated += 1
        except TRANSIENT:
            outcome.unresolved += sequences(list(queue))
            queue.clear()
            return
        except Exception as problem:
            unit.failures += 1
            # Code that hangs once would hang again, and its thread cannot be stopped.
            final = isinstance(problem, Overdue) or unit.failures >= run.policy.attempts
            if not final:
                return
            if not (yield from _give_up_unit(run, outcome, unit, problem)):
                outcome.unresolved += sequences(list(queue))
                queue.clear()
                return
        queue.popleft()


def _attempt(run: ReactionContext, unit: Unit) -> Flow[None]:
    return retry_transient(run.policy, lambda: unit.effect.apply(run, unit, settled_by(run, unit)))


def _give_up_unit(
    run: ReactionContext, outcome: Outcome, unit: Unit, problem: Exception
) -> Flow[bool]:
    record = unit.record
    failed = Failure(
        record.table.name, record.wire, record.event_id, unit.effect.name, problem, unit.failures
    )
    try:
        yield from retry_transient(run.policy, lambda: keep_failure(run.context, failed))
    except TRANSIENT:
        return False
    outcome.dead += 1
    return True


def _give_up_record(
    run: ReactionContext,
    outcome: Outcome,
    table: Table,
    wire: Mapping[str, Any],
    problem: Exception,
) -> Flow[None]:
    body = orjson.dumps(wire, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    plain = wire if isinstance(wire, Mapping) else {}
    event_id = str(plain.get("eventID") or blake2b(body, digest_size=16).hexdigest())
    failed = Failure(table.name, wire, event_id, DECODING, problem)
    try:
        yield from retry_transient(run.policy, lambda: keep_failure(run.context, failed))
        outcome.dead += 1
    except TRANSIENT:
        sequence = plain.get("dynamodb", {}).get("SequenceNumber")
        outcome.unresolved += [str(sequence)] if sequence else []
