"""What belongs to an item: its canonical, its copies, what it refers to, what counts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.schema import EntitySchema, TableSchema
from keyfold.errors import KeyfoldError
from keyfold.maintain.copy_fact import CopyFact
from keyfold.maintain.fact import AmountFact
from keyfold.maintain.structure import KeptStructure
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import get_batches
from keyfold_workbench.studio.items import KnownItem, WireItem
from keyfold_workbench.studio.system import StudioSystem

SHOWN = 100
"""Copies of one item that are looked at."""


@dataclass(frozen=True)
class Relative:
    """An item that must be there because of another, and whether it is."""

    kind: str
    entity: str
    table: TableSchema
    key: WireItem
    stored: KnownItem | None
    stale: tuple[str, ...] = ()
    """Fields of a copy that are not what its canonical says."""
    by: str = ""


def read_entity(system: StudioSystem, item: KnownItem) -> Entity | None:
    """The item as its class reads it, where the design is Python and the item can be read."""
    if system.design is None or item.entity is None:
        return None
    entity = system.design.entities.get(item.entity.name)
    if entity is None:
        return None
    try:
        found: Entity = entity.__spec__.decode(item.wire)
    except KeyfoldError:
        return None
    return found


def canonical_key(system: StudioSystem, item: KnownItem) -> tuple[EntitySchema, WireItem] | None:
    """The key of the record that a copy is made from."""
    of = item.entity.copy.of if item.entity is not None and item.entity.copy else ""
    found = system.entity(of) if of else None
    key = None if found is None else address(system, found, item.values)
    return None if found is None or key is None else (found, key)


def address(system: StudioSystem, entity: EntitySchema, values: dict[str, Any]) -> WireItem | None:
    """The key of an entity's item with these values, where they are enough for it."""
    table = system.table(entity.table)
    if table is None or entity.key is None:
        return None
    key: WireItem = {}
    for name, kind, template in (
        (table.partition, table.partition_type, entity.key.partition),
        (table.sort, table.sort_type, entity.key.sort),
    ):
        if name is None or template is None:
            continue
        try:
            key[name] = {kind: template.render(values)}
        except KeyfoldError:
            return None
    return key


def references(
    system: StudioSystem, item: KnownItem, field: str, value: str
) -> tuple[EntitySchema, WireItem] | None:
    """The item that a field's value leads to."""
    if item.entity is None:
        return None
    target = system.entity(system.palette.target(item.entity, field))
    if target is None or target.key is None:
        return None
    own = dict.fromkeys(target.key.fields)
    named = [name for name in own if name not in item.values or name == field]
    held = {**item.values, **dict.fromkeys(named or [], value)}
    if len(own) == 1:
        held = dict.fromkeys(own, value)
    key = address(system, target, held)
    return None if key is None else (target, key)


def copies(system: StudioSystem, item: KnownItem) -> list[Relative]:
    """All copies that an item must have, each with what is stored."""
    entity = read_entity(system, item)
    if entity is None or system.design is None:
        return []
    facts = [
        (structure, fact)
        for structure in _structures(system, type(entity))
        for fact in structure.facts(entity)
        if isinstance(fact, CopyFact)
    ][:SHOWN]
    found = _stored(system, [fact.ref for _, fact in facts])
    made = []
    for (structure, fact), wire in zip(facts, found, strict=True):
        spec = fact.entity.__spec__
        table = spec.table.schema
        known = None if wire is None else system.reader.read(table, wire)
        stale = () if wire is None else tuple(_stale(fact, wire))
        by = "in the same transaction" if structure.sync == "transaction" else "by the stream"
        made.append(Relative("copy", spec.name, table, fact.ref.wire(), known, stale, by))
    return made


def _stale(fact: CopyFact, wire: WireItem) -> Iterator[str]:
    spec = fact.entity.__spec__
    for name, value in spec.attributes_of(fact.item.__dict__).items():
        if name in spec.by_attribute and wire.get(name) != value:
            yield spec.by_attribute[name].name


def counters_of(system: StudioSystem, item: KnownItem) -> list[tuple[Ref[Any], str, str]]:
    """The items that count this one: their address, the field, and how it is kept."""
    entity = read_entity(system, item)
    if entity is None:
        return []
    return [
        (fact.ref, fact.field, structure.sync)
        for structure in _structures(system, type(entity))
        for fact in structure.facts(entity)
        if isinstance(fact, AmountFact)
    ]


def _structures(system: StudioSystem, source: type[Entity]) -> Iterator[KeptStructure]:
    assert system.design is not None, "facts are those of a design that runs"
    seen: set[tuple[str, str]] = set()
    for one in system.design.maintainers:
        kept = isinstance(one, KeptStructure) and one.source is source
        if kept and (one.owner, one.kind) not in seen:
            seen.add((one.owner, one.kind))
            yield one


def _stored(system: StudioSystem, refs: list[Ref[Any]]) -> list[WireItem | None]:
    """What is stored at some addresses, read in batches."""

    def place(ref: Ref[Any]) -> tuple[str, str]:
        return system.physical(ref.entity.__table__.schema), repr(sorted(ref.wire().items()))

    asked = {place(ref): ref for ref in refs}
    keys = [(name, ref.wire()) for (name, _), ref in asked.items()]
    attributes = {
        name: ref.entity.__table__.schema.key_attributes for (name, _), ref in asked.items()
    }
    found: dict[tuple[str, str], WireItem] = {}
    for name, wire in run_by(system.call, get_batches(keys)):
        own = {one: wire[one] for one in attributes[name]}
        found[name, repr(sorted(own.items()))] = wire
    return [found.get(place(ref)) for ref in refs]
