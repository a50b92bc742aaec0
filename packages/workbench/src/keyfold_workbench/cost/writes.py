"""The cost of a write: the runtime makes it on sample items, the workload says how large they are.

What depends on a number, such as the items of a cascade, is made with few of them and once more
with some more: the difference is the price of the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import floor
from statistics import fmean

from keyfold.design.condition import fields_of
from keyfold.design.follows import ITEMS_AT_ONCE
from keyfold.design.schema import ConsumerSchema, Effect, EntitySchema, Follows, Schema
from keyfold.errors import KeyfoldError
from keyfold.maintain.shards import TYPE_NAME
from keyfold_engine.values.units import read_units, write_units
from keyfold_workbench.cost.charge import SUPPORT, Part, PricedWrite, Store, Why, for_purpose, times
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.ledger import Touch, python_name
from keyfold_workbench.cost.reads import read
from keyfold_workbench.cost.sample_design import listed_in, pairs_of
from keyfold_workbench.cost.sample_run import APPEARS, SampleWrite, relation, touches
from keyfold_workbench.cost.sizes import keys
from keyfold_workbench.cost.workload import WriteLoad

EVENTS_OF = {"create": "INSERT", "put": "INSERT", "delete": "REMOVE"}
REQUEST_ID_UNITS = 2.0
"""The request id is claimed, then stores the result."""
FEW, MORE = 20, 5
"""Copies in one transaction that are made, and made more."""
FOLLOWERS = 25
"""Copies that a batch writes."""


def write(figures: DesignNumbers, load: WriteLoad) -> PricedWrite:
    """The cost of one call."""
    effects = tuple(e for e in load.effects if e.entity in figures.schema.by_entity)
    together = load.atomic and not any(effect.each for effect in effects)
    parts: list[Part] = []
    for group in [effects] if together else [(effect,) for effect in effects]:
        count = figures.each(load) if group and group[0].each else 1.0
        found = _parts(figures, load.name, group, joined=load.atomic, expired=load.expired)
        parts += times(found, count)
    if load.once:
        table = figures.schema.tables[0].name
        parts.append(Part(Store(table), "", REQUEST_ID_UNITS, "request id"))
    return PricedWrite(load.name, tuple(parts))


def _parts(
    figures: DesignNumbers,
    name: str,
    effects: tuple[Effect, ...],
    *,
    joined: bool,
    expired: bool = False,
) -> list[Part]:
    if not effects:
        return []
    sample = _sample(figures, effects, joined=joined, expired=expired)
    try:
        found = list(_priced(figures, sample))
    except KeyfoldError as refused:
        if len(effects) > 1:
            return [p for one in effects for p in _parts(figures, name, (one,), joined=True)]
        figures.assume(f"{name} is priced without what follows from it: {refused}")
        schema = replace(sample.schema, follows=(), feeds=())
        found = list(_priced(figures, replace(sample, schema=schema)))
    return [*found, *(part for effect in effects for part in _described(figures, effect))]


def _priced(figures: DesignNumbers, sample: SampleWrite) -> Iterator[Part]:
    """The touches of a write, each number being the workload's."""
    counts, others = _runs(figures, sample)
    purposes = _Purposes(figures, sample)
    units: dict[Part, float] = defaultdict(float)
    items: dict[Part, float] = defaultdict(float)
    base = 1.0 - sum(weight for _, weight in others)
    for changed, weight in ({}, base), *others:
        if not weight:
            continue
        for touch in touches(sample, tuple(sorted({**counts, **changed}.items()))):
            part = purposes.part(touch)
            units[replace(part, units=0.0)] += weight * part.units
            items[replace(part, units=0.0)] += weight * (touch.kind == "write")
    for part, total in units.items():
        if abs(total) > 1e-9:
            yield replace(part, units=total, items=items[part] if part.entity else 0.0)
    for consumer, _ in sample.consumers:
        yield from _stated(figures, consumer)


def _stated(figures: DesignNumbers, consumer: ConsumerSchema) -> Iterator[Part]:
    """The reads of a processor; its sinks delete an event when they have it."""
    load = figures.consumer(consumer)
    for name in load.reads:
        once = read(figures, figures.schema.by_pattern[name])
        units = once.total * load.share
        yield Part(once.path, "", units, "processor", reading=True, streamed=True)
    if load.events:
        units = load.events * load.share
        yield Part(SUPPORT, "", units, "outbox", streamed=True)


@dataclass
class _Purposes:
    """What a touch is for, and what it costs."""

    figures: DesignNumbers
    sample: SampleWrite

    def __post_init__(self) -> None:
        self.own = {effect.entity for effect in self.sample.effects}
        self.by_entity: dict[str, Why] = {}
        for each in self.sample.schema.follows:
            why: Why = "counter"
            if each.fact == "copy":
                why = "copy"
            elif each.fact == "job":
                why = "cascade" if each.deletes else "copied field"
            elif each.fact not in ("amount", "best"):
                continue
            self.by_entity.setdefault(each.target, why)
        for _, effects in self.sample.consumers:
            self.by_entity |= {effect.entity: "processor" for effect in effects}
        for feed in self.sample.schema.feeds:
            names = (feed.item, feed.flag, *(feed.edges or (feed.edge,)))
            self.by_entity |= dict.fromkeys(names, "feed")

    def part(self, touch: Touch) -> Part:
        entity = self.sample.schema.by_entity.get(next(iter(touch.entities), ""))
        path, name = Store(touch.table, touch.index), entity.name if entity else ""
        reads = touch.kind == "read"
        units = self._read(touch) if reads else touch.factor * self._written(touch, entity)
        why = self._why(touch, name)
        return Part(path, name, units, why, reading=reads, streamed=touch.streamed)

    def _why(self, touch: Touch, entity: str) -> Why:
        if touch.table == SUPPORT.table:
            return "outbox" if "OUTBOX" in touch.entities else "processed marker"
        if touch.kind in ("check", "entry"):
            return "check" if touch.kind == "check" else "index"
        if touch.kind == "read" and not entity:
            return "cascade" if touch.streamed else "item"
        if entity in self.own and not touch.streamed:
            return "item"
        if touch.entities == (TYPE_NAME,):
            return "counter"
        posts = {feed.post: "feed" for feed in self.sample.schema.feeds}
        other: Why = "copy" if entity in self.own else "cascade" if entity else "unique"
        return self.by_entity.get(entity, posts.get(entity, other))  # type: ignore[arg-type]

    def _written(self, touch: Touch, entity: EntitySchema | None) -> float:
        figures = self.figures
        if entity is None:
            return 1.0
        if touch.kind == "check":
            return fmean(map(write_units, figures.item_sizes(entity)))
        if touch.kind == "write":
            return figures.write_units(entity)
        table = figures.schema.by_table[touch.table]
        index = table.index(touch.index or "")
        assert index is not None, "the ledger knows the table's indexes"
        units = figures.entry_units(
            entity, index, touch.action, moved=touch.moved, changed=touch.changed
        )
        placed = entity.placement(index.name)
        shares = [figures.share(entity, one) for one in placed]
        stated = index.name in figures.load(entity).share
        return units * (min(1.0, shares[0] if stated else sum(shares)) if shares else 1.0)

    def _read(self, touch: Touch) -> float:
        figures, consistent = self.figures, touch.consistent
        table = figures.schema.by_table.get(touch.table)
        index = table.index(touch.index) if table and touch.index else None
        held = [figures.schema.by_entity.get(name) for name in touch.entities]
        if index is None and len(held) == 1 and held[0] is not None:
            return figures.read_units(held[0], consistent=consistent)
        sizes = (
            0
            if one is None
            else figures.entry_bytes(one, index)
            if index
            else figures.item_bytes(one)
            for one in held
        )
        return read_units(sum(sizes), consistent=consistent)


# What a write reaches, and how often


def _sample(
    figures: DesignNumbers, effects: tuple[Effect, ...], *, joined: bool, expired: bool = False
) -> SampleWrite:
    schema, changed = figures.schema, defaultdict[str, set[str]](set)
    consumers: list[tuple[ConsumerSchema, tuple[Effect, ...]]] = []
    for effect in effects:
        changed[effect.entity] |= changed_fields(schema, effect)
        consumers += list(_reacting(figures, effect)) if schema.enforced else []
    for one in (one for _, written in consumers for one in written):
        changed[one.entity] |= changed_fields(schema, one)
    gone = {effect.entity for effect in effects if effect.action == "delete"}
    amounts = (e for e in schema.follows if e.fact == "amount" and e.target in gone)
    part = figures.part_of({*changed, *(e.source for e in amounts if e.sync == "stream")})
    fields = tuple(sorted((name, frozenset(held)) for name, held in changed.items()))
    return SampleWrite(part, effects, fields, tuple(consumers), joined, expired)


def is_shown(effect: Effect, fields: Iterable[str]) -> bool:
    """Whether a write changes one of these fields; one that names none changes all."""
    return effect.action != "update" or not effect.fields or bool({*effect.fields} & {*fields})


def changed_fields(schema: Schema, effect: Effect) -> set[str]:
    """What an update changes; one that names no fields leaves keys, conditions and numbers."""
    entity = schema.by_entity[effect.entity]
    if effect.action in (*APPEARS, "delete"):
        return set()
    found, names = {*effect.fields}, {*entity.by_field}
    placed = keys(schema.by_table[entity.table], entity)
    if not found:
        fixed = {field for _, key in placed for field in key.fields}
        fixed |= {a.field for a in entity.attributes if not a.mutable}
        fixed |= {field for one in entity.placements for field in fields_of(one.when)}
        for each in schema.follows:
            if each.source == entity.name and each.fact not in ("copy", "job", "shown"):
                fixed |= {*each.fields}
            if each.target == entity.name:
                fixed |= {*each.writes}
            if each.fact == "copy" and each.source == entity.name:
                pointer, pairs = schema.by_entity[each.target], pairs_of(schema, each)
                copied = keys(schema.by_table[pointer.table], pointer)
                fixed |= {each.each, *fields_of(each.when)}
                fixed |= {pairs.get(field, field) for _, key in copied for field in key.fields}
        found = (names - fixed) | {"the rest"}
    found |= {name for name in (entity.version, "updated_at", "updatedAt") if name in names}
    found |= {a.field for a in entity.attributes if found & {*a.follows}}
    slots = (slot for _, key in placed for slot in key.slots)
    return found | {slot.field for slot in slots if slot.path.partition(".")[0] in found}


Runs = list[tuple[dict[str, int], float]]
"""Counts that differ from the first run's, each with its weight."""


def _runs(figures: DesignNumbers, sample: SampleWrite) -> tuple[dict[str, int], Runs]:
    """The counts of the first run, and the others that make up the workload's numbers."""
    first: dict[str, int] = {}
    others: Runs = []

    def add(name: str, count: float, direct: int, low: int, step: int) -> None:
        if count <= direct:
            low, step = floor(count), 1
        first[name] = low
        others.append(({name: low + step}, (count - low) / step))

    counted: dict[str, float] = {}
    jobs = [each for each in sample.schema.follows if each.deletes]
    gone = {effect.entity for effect in sample.effects if effect.action == "delete"}
    for each in sample.schema.follows:
        if each.fact == "job" and each.found is not None:
            changes = bool({*each.fields} & dict(sample.changed).get(each.source, frozenset()))
            if each.source in gone if each.deletes else changes:
                gone |= {each.target} if each.deletes else set()
                fits = (each.fits or 0) if each.joins else 0
                low = fits + 1 if fits else ITEMS_AT_ONCE
                if relation(each) not in first:
                    count = items_each(figures, each)
                    add(relation(each), count, fits or low, low, ITEMS_AT_ONCE)
        elif each.fact == "amount" and each.target in gone and each.sync == "stream":
            held = replace(each, source=each.target, target=each.source)
            if all((job.source, job.target) != (held.source, held.target) for job in jobs):
                counted[f"counted {each.source}"] = min(1.0, items_each(figures, held))
        elif each.fact == "copy":
            pointer = figures.schema.by_entity[each.target]
            name = f"list {each.source}.{python_name(listed_in(figures.schema, each))}"
            low, step = (each.at_once,) * 2 if each.sync == "stream" else (FEW, MORE)
            add(name, figures.copies(pointer), low, low, step)
    if counted:
        # Counts of a deleted item are carried over to its successor, if there are any.
        others.append((dict.fromkeys(counted, 1), max(counted.values())))
    for feed in sample.schema.feeds:
        if any(effect.entity == feed.post for effect in sample.effects):
            flag, followers = f"flag {feed.name}", f"followers {feed.name}"
            pushed, count = figures.feed(feed).pushed or 0.0, figures.followers(feed)
            low, step = (floor(count), 1) if count <= FOLLOWERS else (FOLLOWERS, FOLLOWERS)
            rest = (count - low) / step
            others.append(({flag: 1, followers: low}, pushed * (1 - rest)))
            others.append(({flag: 1, followers: low + step}, pushed * rest))
    for consumer, effects in sample.consumers:
        load = figures.consumer(consumer)
        if effects or load.events:
            acts, rest = 1 + floor(load.events), load.events % 1
            others.append(({f"processor {consumer.name}": acts}, load.share * (1 - rest)))
            others.append(({f"processor {consumer.name}": acts + 1}, load.share * rest))
    return first, others


def items_each(figures: DesignNumbers, job: Follows) -> float:
    """How many items a job finds per source item."""
    source, target = figures.schema.by_entity[job.source], figures.schema.by_entity[job.target]
    return figures.items(target) / max(figures.items(source), 1.0)


def _described(figures: DesignNumbers, effect: Effect) -> Iterator[Part]:
    """What the consumers and feeds of a described design do: they are not keyfold's."""
    schema = figures.schema
    entity = schema.by_entity[effect.entity]
    for consumer, written in () if schema.enforced else _reacting(figures, effect):
        yield from _stated(figures, consumer)
        for one in written:
            found = _parts(figures, consumer.name, (one,), joined=False)
            yield from _afterwards(found, figures.consumer(consumer).share, "processor")
    for feed in () if schema.enforced else figures.posting(entity):
        if feed.item in schema.by_entity and feed.mode != "fan_in" and effect.action in APPEARS:
            copy = (Effect("put", feed.item),)
            found = _parts(figures, feed.name, copy, joined=False)
            yield from _afterwards(found, figures.followers(feed), "feed")


def _afterwards(parts: Iterable[Part], count: float, why: Why) -> Iterator[Part]:
    return (replace(part, streamed=True) for part in for_purpose(times(parts, count), why))


def _reacting(
    figures: DesignNumbers, effect: Effect
) -> Iterator[tuple[ConsumerSchema, tuple[Effect, ...]]]:
    """The processors of a write, with what they write besides declared structures."""
    schema = figures.schema
    event = EVENTS_OF.get(effect.action, "MODIFY")
    kept = {feed.item for feed in schema.feeds}
    for each in schema.follows:
        if each.fact == "amount" or (each.fact == "copy" and each.sync == "stream"):
            kept.add(each.target)
    for consumer in figures.processors(schema.by_entity[effect.entity]):
        watched = not consumer.watches or is_shown(effect, consumer.watches)
        if watched and event in (consumer.events or (event,)):
            own = (one for one in consumer.effects if one.entity not in kept)
            written = (*own, *figures.consumer(consumer).writes)
            yield consumer, tuple(one for one in written if one.entity in schema.by_entity)
