"""The scan of a verification: every item once, what it expects and what it shows noted down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from decimal import Decimal
from hashlib import blake2b
from typing import Any

import orjson

from keyfold.design.design import Design
from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.keys import Ref
from keyfold.design.table import Table
from keyfold.errors import Undecodable
from keyfold.maintain.cascade import OrphanMaintainer
from keyfold.maintain.copied import CopyMaintainer
from keyfold.maintain.counter import CounterMaintainer
from keyfold.maintain.drift import Drift
from keyfold.maintain.facts import Facts
from keyfold.maintain.feed import Feed
from keyfold.maintain.feed.maintainers import Activities
from keyfold.maintain.pointer import PointerMaintainer
from keyfold.maintain.shards import AMOUNT, TYPE_NAME, holder_text
from keyfold.maintain.unique import PREFIX, Unique
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow

WireItem = dict[str, Any]
Progress = Callable[[int], None]
Suspect = Callable[[Drift], Flow[None]]


class Structures:
    """The secondary structures of a design that a verification looks at."""

    def __init__(self, design: Design, only: frozenset[str] = frozenset()) -> None:
        design.complete()
        self.design = design
        self.maintainers: list[Any] = [
            m for m in design.maintainers if not only or m.label in only or _owner(m) in only
        ]
        self.indexes = not only or "index" in only
        self.by_source: dict[type[Entity], list[tuple[int, Any]]] = {}
        self.copies: dict[type[Entity], list[int]] = {}
        self.held: dict[type[Entity], list[tuple[int, CounterMaintainer]]] = {}
        self.sharded: dict[str, int] = {}
        self.parents: dict[type[Entity], list[tuple[int, Any]]] = {}
        self.uniques: dict[str, int] = {}
        self.feeds: dict[int, Feed[Any]] = {}
        self.by_type = {
            (entity.__table__.name, entity.__spec__.type_name): entity.__spec__
            for entity in design.entities.values()
        }
        for place, maintainer in enumerate(self.maintainers):
            self.by_source.setdefault(maintainer.source, []).append((place, maintainer))
            if isinstance(maintainer, PointerMaintainer):
                self.copies.setdefault(maintainer.pointer, []).append(place)
            elif isinstance(maintainer, CounterMaintainer):
                self.held.setdefault(maintainer.target, []).append((place, maintainer))
                self.sharded[f"{maintainer.target.__name__}.{maintainer.field}"] = place
            elif isinstance(maintainer, OrphanMaintainer | CopyMaintainer):
                self.parents.setdefault(maintainer.related.parent, []).append((place, maintainer))
            elif isinstance(maintainer, Unique):
                self.uniques[_unique_prefix(maintainer)] = place
            elif isinstance(maintainer, Activities):
                self.feeds[place] = maintainer.feed

    def recognise(self, table: Table, item: WireItem) -> EntitySpec | None:
        """The entity that an item belongs to; None for items that are none of ours."""
        attribute = table.schema.type_attribute
        if attribute is not None and attribute in item:
            return self.by_type.get((table.name, item[attribute].get("S", "")))
        for entity in table.entities:
            if entity.__spec__.recognises(item):
                return entity.__spec__
        return None

    def counters_alone(self) -> Structures:
        """The same, at the same places, without anything but counters."""
        alone = copy(self)
        alone.indexes = False
        alone.copies, alone.parents, alone.uniques, alone.feeds = {}, {}, {}, {}
        alone.by_source = {
            source: [one for one in known if isinstance(one[1], CounterMaintainer)]
            for source, known in self.by_source.items()
        }
        return alone


def survey(
    context: Context,
    structures: Structures,
    facts: Facts,
    suspect: Suspect,
    progress: Progress | None = None,
) -> Flow[int]:
    """Scan all tables once; items that are wrong in themselves are handed over page by page."""
    scanned = 0
    for table in structures.design.tables.values():
        request: dict[str, Any] = {
            "TableName": context.physical(table.schema),
            "ConsistentRead": True,
        }
        while True:
            answer = yield Call("Scan", request)
            for item in answer["Items"]:
                wrong = _note(table, item, structures, facts)
                if wrong is not None:
                    yield from suspect(wrong)
            scanned += len(answer["Items"])
            if progress is not None:
                progress(scanned)
            last = answer.get("LastEvaluatedKey")
            if last is None:
                break
            request = {**request, "ExclusiveStartKey": last}
    return scanned


def _note(table: Table, item: WireItem, structures: Structures, facts: Facts) -> Drift | None:
    spec = structures.recognise(table, item)
    if spec is None:
        _note_marker(table, item, structures, facts)
        return None
    key = key_of(table, item)
    try:
        entity: Entity = spec.decode(item)
        wrong = wrong_attributes(spec, entity, item) if structures.indexes else None
    except Undecodable as problem:
        return Drift("undecodable", spec.name, table.name, key, None, str(problem))
    own = address_bytes(spec.name, key)
    _note_expected(entity, own, structures, facts)
    _note_found(spec, entity, own, structures, facts)
    for place in structures.feeds:
        facts.audits[place].note(entity)
    return wrong


def _note_expected(entity: Entity, own: bytes, structures: Structures, facts: Facts) -> None:
    for place, maintainer in structures.by_source.get(type(entity), ()):
        if isinstance(maintainer, PointerMaintainer):
            for one in maintainer.copies(entity):
                facts.expect(place, ref_bytes(one.ref()), digest(one), own)
        elif isinstance(maintainer, CounterMaintainer):
            holder = maintainer.holder(entity)
            if holder is not None:
                amount = Decimal(maintainer.amount(entity))
                sample = own if maintainer.declared.creates else None
                facts.count(place, holder_text(holder), amount, sample)
        elif isinstance(maintainer, Unique):
            value = maintainer.value(entity)
            if value is not None:
                key = wire_bytes(maintainer.key(value))
                facts.expect(place, key, wire_bytes(entity.ref().wire()), own)
        elif isinstance(maintainer, OrphanMaintainer | CopyMaintainer):
            parent = maintainer.related.parent_of(entity)
            if parent is not None:
                shown = (
                    value_digest(getattr(entity, maintainer.copy))
                    if isinstance(maintainer, CopyMaintainer)
                    else b""
                )
                facts.link(place, ref_bytes(parent), own, shown)


def _note_found(
    spec: EntitySpec, entity: Entity, own: bytes, structures: Structures, facts: Facts
) -> None:
    for place in structures.copies.get(type(entity), ()):
        facts.find(place, own, digest(entity))
    for place, counter in structures.held.get(type(entity), ()):
        amount = Decimal(getattr(entity, counter.field) or 0)
        facts.hold(place, holder_text(entity.ref()), amount, own)
    if spec.type_name == TYPE_NAME and spec.role == "counter":
        found = structures.sharded.get(entity.__dict__["counter"])
        if found is not None:
            facts.hold(found, entity.__dict__["holder"], entity.__dict__[AMOUNT], None)
    for place, maintainer in structures.parents.get(type(entity), ()):
        shown = (
            value_digest(getattr(entity, maintainer.field))
            if isinstance(maintainer, CopyMaintainer)
            else b""
        )
        facts.origin(place, own, shown)


def _note_marker(table: Table, item: WireItem, structures: Structures, facts: Facts) -> None:
    text = item[table.schema.partition].get("S", "")
    if not text.startswith(PREFIX):
        return
    prefix = "#".join(text.split("#", 3)[:3]) + "#"
    place = structures.uniques.get(prefix)
    if place is not None:
        holder = item.get("holder", {}).get("M", {})
        facts.find(place, wire_bytes(key_of(table, item)), wire_bytes(holder))


def wrong_attributes(spec: EntitySpec, entity: Entity, item: Mapping[str, Any]) -> Drift | None:
    """How an item's index keys or its own key differ from what its fields say."""
    whole = spec.encode(entity)
    table = spec.table.schema
    key = key_of(spec.table, item)
    own = {name: whole[name] for name in table.key_attributes}
    if own != key:
        return Drift("key", f"key {spec.name}", table.name, key, own, key)
    names = [n for index in table.indexes for n in (index.partition, index.sort) if n]
    wanted = {name: whole.get(name) for name in names}
    found = {name: item.get(name) for name in names}
    differing = [name for name in wanted if wanted[name] != found[name]]
    if not differing:
        return None
    return Drift(
        "index",
        f"index {spec.name}",
        table.name,
        key,
        {name: wanted[name] for name in differing},
        {name: found[name] for name in differing},
        entity.ref(),
    )


def key_of(table: Table, item: Mapping[str, Any]) -> WireItem:
    return {name: item[name] for name in table.schema.key_attributes}


def ref_bytes(ref: Ref[Any]) -> bytes:
    """An item's address as bytes; `fetch` reads the item."""
    return address_bytes(ref.entity.__name__, ref.wire())


def address_bytes(entity: str, key: Mapping[str, Any]) -> bytes:
    return _kept([entity, key])


def fetch(context: Context, design: Design, address: bytes) -> Flow[Entity | None]:
    """The item at an address, expired or not."""
    name, key = orjson.loads(address)
    spec = design.entities[name].__spec__
    request = {
        "TableName": context.physical(spec.table.schema),
        "Key": key,
        "ConsistentRead": True,
    }
    answer = yield Call("GetItem", request)
    item = answer.get("Item")
    if item is None or not spec.recognises(item):
        return None
    entity: Entity = spec.decode(item)
    return entity


def wire_bytes(wire: Mapping[str, Any]) -> bytes:
    return _kept(wire)


def _kept(value: Any) -> bytes:
    """JSON that takes no more memory than its length: orjson's own lies in a buffer of 4 KB."""
    return bytes(memoryview(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)))


def digest(entity: Entity) -> bytes:
    attributes = entity.__spec__.attributes_of(entity.__dict__)
    return blake2b(wire_bytes(attributes), digest_size=16).digest()


def value_digest(value: Any) -> bytes:
    plain = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    return blake2b(repr(plain).encode(), digest_size=16).digest()


def _unique_prefix(unique: Unique) -> str:
    return f"{PREFIX}{unique.source.__name__}#{'+'.join(unique.names)}#"


def _owner(maintainer: Any) -> str:
    """Parts of one declaration go by the label of the declaration."""
    label: str = maintainer.label
    return label.removesuffix(" orphans").removesuffix(" new")
