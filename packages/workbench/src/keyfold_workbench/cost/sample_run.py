"""Makes a write on sample items, and notes what it and all that follows from it touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from keyfold.design.entity import Entity
from keyfold.design.schema import ConsumerSchema, Effect, Follows, Schema
from keyfold.runtime.changes import Set
from keyfold.runtime.intent import Delete, Intent, Put, Update
from keyfold.runtime.writes import commit
from keyfold.streams import stream_handler
from keyfold.streams.record import TTL_PRINCIPAL
from keyfold.streams.shard import ShardRecords, shards
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_workbench.cost.ledger import Touch, TouchLedger, python_name
from keyfold_workbench.cost.sample_design import (
    ENABLED,
    FLAG,
    PLACE,
    SampleDesign,
    listed_in,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER, LASTS = timedelta(minutes=5), timedelta(days=3650)
"""The priced write comes later than the items before it, which do not expire."""
ABOVE = ("need", "amount", "shown", "best")
"""What requires another item to exist first."""
APPEARS = ("create", "put")
Counts = tuple[tuple[str, int], ...]
"""How many items each job and list concerns, whether each processor acts and feed copies."""


def relation(job: Follows) -> str:
    """What a job's items are to their source; items of one relation are the same."""
    via = ", ".join(f"{theirs} is {own}" for own, theirs in job.via)
    return f"each {job.target} of {job.source}: {via}"


@dataclass(frozen=True)
class SampleWrite:
    """The effects of one call, and the part of the design that they touch."""

    schema: Schema
    effects: tuple[Effect, ...]
    changed: tuple[tuple[str, frozenset[str]], ...] = ()
    consumers: tuple[tuple[ConsumerSchema, tuple[Effect, ...]], ...] = ()
    """Processors, with what they write."""
    joined: bool = False
    """Whether all is one transaction, even one write."""
    expired: bool = False


@lru_cache(maxsize=512)
def touches(write: SampleWrite, counts: Counts) -> tuple[Touch, ...]:
    """All that one call touches."""
    run = _SampleRun(write, dict(counts))
    try:
        return tuple(run.notes())
    finally:
        run.close()


@dataclass
class _SampleRun:
    write: SampleWrite
    counts: Mapping[str, int]
    serial: int = 0
    known: dict[Any, Entity] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sample = SampleDesign(self.write.schema, dict(self.write.changed))
        design, self.reactions = self.sample.design, dict[str, list[Intent]]()
        for consumer, _ in self.write.consumers:
            self._react(consumer)
        tables = {python_name(t.name): t for t in self.write.schema.tables}
        self.clock = ManualClock(START.timestamp())
        self.ledger = TouchLedger(Engine.open(":memory:", clock=self.clock), tables)
        self.db = design.open(self.ledger, clock=self.clock, on_loop="log")
        self.shards: list[ShardRecords] = []
        streams = any(table.schema.stream for table in design.tables.values())
        self.handler = stream_handler(self.db) if streams else None

    def close(self) -> None:
        self.db.close()

    def notes(self) -> list[Touch]:
        subjects = [self._subject(effect) for effect in self.write.effects]
        for consumer, effects in self.write.consumers:
            made = [(effect, self._subject(effect)) for effect in effects]
            self.reactions[consumer.name] = [self._intent(*one) for one in made]
        self._settle()
        self.clock.advance(LATER.total_seconds())
        self.ledger.notes, self.ledger.joined = [], self.write.joined
        intents = [self._intent(*one) for one in zip(self.write.effects, subjects, strict=True)]
        if self.write.expired:
            self._expire(subjects)
        elif self.write.joined:
            self._commit(intents)
        else:
            for intent in intents:
                self._commit([intent])
        self._settle(expired=self.write.expired)
        return self.ledger.notes

    def _commit(self, intents: list[Intent]) -> None:
        self.db.run(commit(self.db.context, intents))

    def _expire(self, subjects: list[Entity]) -> None:
        """Time to live deletes free of charge."""
        noted, self.ledger.notes = self.ledger.notes, None
        for one in subjects:
            self.ledger.call(
                "DeleteItem", {"TableName": one.__table__.name, "Key": one.ref().wire()}
            )
        self.ledger.notes = noted

    def _settle(self, *, expired: bool = False) -> None:
        """Hand all records to the consumer, and those that it causes."""
        self.ledger.streamed = True
        while self.handler is not None and (records := list(self._records())):
            if expired:
                gone = {"userIdentity": {"type": "Service", "principalId": TTL_PRINCIPAL}}
                records, expired = [{**one, **gone} for one in records], False
            self.handler({"Records": records}, None)
        self.ledger.streamed = False

    def _records(self) -> Iterator[dict[str, Any]]:
        if not self.shards:
            held = self.sample.design.tables.values()
            tables = [table for table in held if table.schema.stream]
            found = self.db.run(shards(self.db.context, tables))
            self.shards = [ShardRecords(one.stream, one.id) for one in found]
        for shard in self.shards:
            for record in self.db.run(shard.next()):
                yield {**record, "eventSourceARN": shard.stream}

    def _react(self, consumer: ConsumerSchema) -> None:
        def processor(old: Any, new: Any, work: Any) -> list[Intent]:  # noqa: ARG001
            # What it did once is done: it is called again for the records of its own writes.
            acts = self.counts.get(f"processor {consumer.name}", 0)
            if not acts or consumer.name not in self.reactions:
                return []
            for number in range(acts - 1):
                work.emit("sample", {"number": number})
            return self.reactions.pop(consumer.name)

        kinds = {"INSERT": "insert", "MODIFY": "modify", "REMOVE": "remove"}
        told: Any = [kinds[event] for event in consumer.events]
        processor.__name__ = python_name(consumer.name)
        for name in consumer.entities:
            if name in self.sample.design.entities:
                self.sample.design.on(self.sample.design.entities[name], *told)(processor)

    # Items

    def _subject(self, effect: Effect) -> Entity:
        """The item that an effect writes, with all that must be there before."""
        made = self._sample_item(effect.entity, {})
        if effect.action in APPEARS:
            self.known.pop(_place(made))
            return made
        self._put(made)
        self._add_children(made, deletes=effect.action == "delete")
        for each in self.sample.follows if effect.action == "delete" else ():
            counted = each.fact == "amount" and each.target == effect.entity
            if counted and self.counts.get(f"counted {each.source}"):
                via = {python_name(own): getattr(made, python_name(name)) for name, own in each.via}
                self._put(self._sample_item(each.source, via))
        self._settle()
        return made

    def _sample_item(self, name: str, bound: Mapping[str, Any]) -> Entity:
        """An item with these values, and those above it; it is not stored itself."""
        entity = self.sample.design.entities[name]
        values = dict(bound)
        for one, info in entity.model_fields.items():
            if isinstance(values.get(one), tuple):
                values[one] = (*values[one], *self._value(entity, one)[len(values[one]) :])
            elif one not in values and info.is_required():
                values[one] = self._value(entity, one)
        for one, held in self._above(name, values).items():
            self._put(self._sample_item(one[0], held))
        for each in self.sample.follows:
            if each.source == name and each.fact == "shown":
                values |= self._copied_value(each, values)
        made = entity(**values)
        self.known[_place(made)] = made
        for feed in self.sample.feeds:
            if feed.activity is entity and feed.push is not None:
                self._follow(feed, made)
        return made

    def _value(self, entity: type[Entity], name: str) -> Any:
        self.serial += 1
        spec = entity.__spec__
        kind = spec.fields[name].kind
        if kind in ("integer", "decimal"):
            return self.serial
        if kind == "boolean":
            return False
        if kind == "binary":
            return b"%d" % self.serial
        if kind == "timestamp":
            expires = spec.ttl is not None and spec.ttl.name == name
            return START + (LASTS if expires else LATER)
        if kind == "string":
            return f"v{self.serial}"
        count = self.counts.get(f"list {entity.__name__}.{name}", 1)
        return tuple(f"v{self.serial}-{number}" for number in range(count))

    def _above(self, name: str, values: dict[str, Any]) -> dict[Any, dict[str, Any]]:
        """The items that one requires and that are not there yet, with the values they need.

        Where copies of one item are required, it lists them; one that is there lists others.
        """
        found: dict[Any, dict[str, Any]] = {}
        for each in self.sample.follows:
            if each.source != name or each.fact not in ABOVE or each.target == name:
                continue
            place, listed, ours = self._place_above(each, values)
            if place is None:
                continue
            there = self.known.get(place)
            if there is None:
                own = type(self)._address(self.sample.design.entities[place[0]])
                held = found.setdefault(place, dict(zip(own, place[1], strict=True)))
                if listed:
                    held[listed] = (*held.get(listed, ()), values[ours])
            elif listed and (copies := getattr(there, listed)):
                values[ours] = copies[self.serial % len(copies)]
        return found

    def _place_above(self, each: Follows, values: Mapping[str, Any]) -> tuple[Any, str, str]:
        """The item that a record requires; for a copy, the list that names it, and by what."""
        entities = self.sample.design.entities
        if each.target not in entities:
            return None, "", ""
        target, listed, ours = entities[each.target], "", ""
        via = {python_name(theirs): python_name(own) for theirs, own in each.via}
        address = self._address(target)
        copy = self.sample.copies.get(each.target)
        if copy is not None:
            target = entities[copy.source]
            kept = self._address(target)
            others = [name for name in address if name not in kept]
            listed = python_name(listed_in(self.sample.schema, copy)) if others else ""
            ours, address = via.get(others[0], others[0]) if others else "", kept
        key = tuple(values.get(via.get(name, name)) for name in address)
        return (None if None in key else (target.__name__, key)), listed, ours

    @staticmethod
    def _address(entity: type[Entity]) -> tuple[str, ...]:
        return tuple(entity.__spec__.key.address)

    def _copied_value(self, each: Follows, values: Mapping[str, Any]) -> dict[str, Any]:
        """The value of a copied field: its origin's."""
        place, _, _ = self._place_above(each, values)
        for job in self.sample.follows:
            if job.fact == "job" and (job.source, job.target) == (each.target, each.source):
                pairs = dict(zip(job.writes, job.fields, strict=False))
                if each.writes[0] in pairs and place in self.known:
                    shown = getattr(self.known[place], python_name(pairs[each.writes[0]]))
                    return {python_name(each.writes[0]): shown}
        return {}

    def _put(self, item: Entity) -> None:
        self._commit([Put(item, absent=False)])

    def _add_children(self, parent: Entity, *, deletes: bool) -> None:
        """The items that jobs find; several jobs may find the same ones."""
        name = type(parent).__name__
        jobs = {
            relation(job): job
            for job in self.sample.follows
            if job.source == name and job.fact == "job" and job.deletes == deletes
        }
        for found, job in jobs.items():
            via = {python_name(own): python_name(theirs) for own, theirs in job.via}
            for _ in range(self.counts.get(found, 0)):
                address = self._address(type(parent))
                held = {via.get(own, own): getattr(parent, own) for own in address}
                made = self._sample_item(job.target, held)
                self._put(made)
                if deletes:
                    self._add_children(made, deletes=True)

    def _follow(self, feed: Any, activity: Entity) -> None:
        """The flag of the author of an activity, and the followers."""
        author = getattr(activity, feed.source_field)
        copied = bool(self.counts.get(f"flag {feed.name}"))
        flag = feed.push.entity(
            **{feed.push.ref(author).entity.__spec__.key.address[0]: author, ENABLED: copied}
        )
        self._put(flag)
        edge, ends = next(iter(feed.edges.items()))
        for _ in range(self.counts.get(f"followers {feed.name}", 0)):
            self._put(self._sample_item(edge.__name__, {ends.source: author}))

    # Intents

    def _intent(self, effect: Effect, subject: Entity) -> Intent:
        if effect.action in APPEARS:
            return Put(subject, absent=effect.action == "create")
        if effect.action == "delete":
            return Delete(subject.ref())
        entity = type(subject)
        changes: dict[str, Any] = {}
        for name in sorted(dict(self.write.changed)[effect.entity]):
            own = python_name(name)
            if own in entity.model_fields and own not in entity.__spec__.key.address:
                old, new = getattr(subject, own), self._value(entity, own)
                changes[own] = Set((*old[:-1], new[0]) if isinstance(old, tuple) else new)
        return Update(subject.ref(), {**changes, FLAG: Set("x"), PLACE: Set("b")})


def _place(item: Entity) -> tuple[str, tuple[Any, ...]]:
    return type(item).__name__, tuple(getattr(item, n) for n in item.__spec__.key.address)
