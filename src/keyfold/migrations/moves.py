"""Moves: items from one place or shape to another, by small pure functions, in both directions.

A move is made of two routes. A route reads a table and says, for an item of it, which items it
stands for on the other side; for items that are none of its business it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.schema import TableSchema
from keyfold.design.template import parse_template
from keyfold.errors import MigrationError
from keyfold.maintain import rebuild as rebuild_structures
from keyfold.migrations.backend import Backend, Item
from keyfold.runtime import Design
from keyfold.runtime.intent import Marker, Put

Old = TypeVar("Old", bound=Entity)
New = TypeVar("New", bound=Entity)


@dataclass(frozen=True)
class Output:
    """An item on the other side; `claim` is the condition that nobody else holds its value."""

    table: str
    item: Item
    claim: Mapping[str, Any] = field(default_factory=dict)


Outputs = Callable[[Item], Iterable[Output]]
Selects = Callable[[Item], bool]


@dataclass(frozen=True)
class Route:
    """One direction of a move."""

    name: str
    source: str
    target: str
    selects: Selects
    outputs: Outputs


@dataclass(frozen=True)
class Move:
    """An entity's items from the old side to the new one, and back."""

    name: str
    forward: Route
    backward: Route
    counters: tuple[str, ...] = ()
    """Counters of the moved items: they have to be recounted."""

    def words(self) -> str:
        return f"move {self.name} from {self.forward.source} to {self.forward.target}"


@dataclass(frozen=True)
class Derive:
    """Copies made from items that stay where they are: pointers, unique markers, rebuilt."""

    name: str
    route: Route

    def words(self) -> str:
        return f"derive {self.name}"


@dataclass(frozen=True)
class Restore:
    """Structures brought to what their declaration asks for, when the items are where they belong.

    What is missing is written, what is no longer due is removed, numbers are counted again.
    """

    design: Design
    labels: tuple[str, ...]

    def words(self) -> str:
        return f"restore {', '.join(self.labels)}"

    def run(self, backend: Backend) -> None:
        """While traffic goes on; it looks again until nothing differs."""
        opened = self.design.open(
            backend.client,
            clock=backend.clock,
            table_prefix=backend.prefix,
            table_names=backend.names,
            create_tables=False,
        )
        rebuild_structures(opened, self.labels)


def restore(design: Design, *labels: str) -> Restore:
    """Make structures right, named as verify names them: `pointer OrderById`."""
    design.complete()
    known = [m.label for m in design.maintainers]
    if unknown := [label for label in labels if label not in known]:
        raise MigrationError(f"{design.name} has no {unknown[0]}; it has {', '.join(known)}")
    return Restore(design, labels)


def recount(design: Design, *fields: str) -> Restore:
    """Recount counters, named as `Catalog.uses`; without names all of the design."""
    design.complete()
    known = [m.label for m in design.maintainers if m.follows.fact == "amount"]
    labels = tuple(f"counter {name}" for name in fields) or tuple(known)
    if unknown := [label for label in labels if label not in known]:
        raise MigrationError(f"{design.name} has no {unknown[0]}; it has {', '.join(known)}")
    return Restore(design, labels)


def move(
    old: type[Old],
    new: type[New],
    *,
    forward: Callable[[Old], New],
    backward: Callable[[New], Old],
) -> Move:
    """Move an entity of one design to an entity of another, with its pointers and markers."""
    name = new.__name__ if old.__name__ == new.__name__ else f"{old.__name__} to {new.__name__}"
    return Move(
        name,
        _typed_route(name, old.__spec__, new.__spec__, forward),
        _typed_route(f"{name}, back", new.__spec__, old.__spec__, backward),
        _counters(new.__spec__),
    )


def rebuild(entity: type[Entity]) -> Derive:
    """Make all pointers and unique markers of an entity that should be there."""
    spec = entity.__spec__

    def outputs(item: Item) -> Iterable[Output]:
        return written_with(spec, spec.decode(item))[1:]

    name, table = f"the copies of {entity.__name__}", spec.table.name
    return Derive(name, Route(name, table, table, spec.recognises, outputs))


def _typed_route(
    name: str, source: EntitySpec, target: EntitySpec, change: Callable[[Any], Any]
) -> Route:
    def outputs(item: Item) -> Iterable[Output]:
        return written_with(target, change(source.decode(item)))

    return Route(name, source.table.name, target.table.name, source.recognises, outputs)


def written_with(spec: EntitySpec, entity: Entity) -> list[Output]:
    """The item of an entity, and after it the copies and claims that follow from it.

    Copies of copies, too, and those that the stream keeps: nobody else writes them.
    """
    found = [Output(spec.table.name, spec.encode(entity))]
    for structure in _structures(spec):
        for intent in structure.writes(None, entity) if structure.follows.fact in _ITEMS else ():
            if isinstance(intent, Put):
                found += written_with(intent.new.__spec__, intent.new)
            elif isinstance(intent, Marker) and intent.action == "Put":
                request = dict(intent.request)
                item = request.pop("Item")
                found.append(Output(intent.table.name, item, request))
    return found


_ITEMS = ("copy", "claim")


def _structures(spec: EntitySpec) -> list[Any]:
    spec.table.design.complete()
    return [m for m in spec.table.design.maintainers if m.source is spec.entity]


def _counters(spec: EntitySpec) -> tuple[str, ...]:
    """The numbers that copying leaves as they are, though it should move them."""
    amounts = (m for m in _structures(spec) if m.follows.fact == "amount")
    return tuple(m.label for m in amounts if m.sync == "transaction")


def rekey(
    entity: type[Entity],
    *,
    table: TableSchema,
    key: tuple[str, ...],
    type_name: str = "",
    indexes: Mapping[str, tuple[str, ...]] | None = None,
) -> Move:
    """Move an entity whose declaration already has its new key; `table` and `key` are the old.

    `indexes` gives the old key templates of the old table's indexes, so that going back fills
    them again; those that are attributes of the entity need not be given.
    """
    spec = entity.__spec__
    old_keys = dict(zip(table.key_attributes, map(parse_template, key), strict=True))
    old_places = dict(old_keys)
    for name, templates in (indexes or {}).items():
        index = table.index(name)
        if index is None:
            raise MigrationError(f"the table {table.name} has no index {name}")
        names = [n for n in (index.partition, index.sort) if n]
        old_places.update(zip(names, map(parse_template, templates), strict=True))
    # What the entity does not declare goes along: it may be somebody else's.
    old_own = set(old_places) | set(spec.by_attribute) | {table.type_attribute}
    new_own = set(spec.table.schema.key_attributes) | {spec.table.schema.type_attribute}
    new_own |= {a.attribute for p in spec.placements.values() for a in p.attributes}
    type_name = type_name or spec.type_name

    def was(item: Item) -> bool:
        kind = item.get(table.type_attribute or "", {}).get("S", type_name)
        texts = [(t, next(iter(item.get(n, {"": ""}).values()))) for n, t in old_keys.items()]
        return bool(kind == type_name) and all(t.matches(str(text)) for t, text in texts)

    def forward(item: Item) -> Iterable[Output]:
        rest = {name: wire for name, wire in item.items() if name not in old_own}
        first, *others = written_with(spec, spec.decode(item))
        return [Output(first.table, {**rest, **first.item}), *others]

    def backward(item: Item) -> Iterable[Output]:
        decoded = spec.decode(item)
        back = {name: wire for name, wire in item.items() if name not in new_own}
        back |= {n: w for n, w in spec.encode(decoded).items() if n in spec.by_attribute}
        for name, template in old_places.items():
            text = template.render(decoded.__dict__, owner=f"{entity.__name__}, back")
            kind = _type_of(table, name)
            back[name] = {kind: str(int(text)) if kind == "N" else text}
        if table.type_attribute is not None:
            back.setdefault(table.type_attribute, {"S": type_name})
        return [Output(table.name, back)]

    name, new_table = entity.__name__, spec.table.name
    return Move(
        name,
        Route(name, table.name, new_table, was, forward),
        Route(f"{name}, back", new_table, table.name, spec.recognises, backward),
        _counters(spec),
    )


def _type_of(table: TableSchema, attribute: str) -> str:
    for index in table.indexes:
        if attribute == index.partition:
            return index.partition_type
        if attribute == index.sort:
            return index.sort_type
    return table.partition_type if attribute == table.partition else table.sort_type
