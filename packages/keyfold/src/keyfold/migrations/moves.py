"""Moves: items from one place or shape to another, by pure functions in both directions.

A move consists of two routes. A route reads a table and says which items of the other side an item
maps to; it ignores other items.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.schema import TableSchema
from keyfold.errors import MigrationError
from keyfold.maintain import rebuild as rebuild_structures
from keyfold.maintain.structure import MarkedStructure
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.item_conversion import ItemConversion, by_name
from keyfold.migrations.refusals import one_holder
from keyfold.migrations.same_table import SharedTable
from keyfold.migrations.wire_equality import equal
from keyfold.runtime import Db, Design
from keyfold.runtime.intent import Marker, Put
from keyfold.streams.pending_numbers import adding
from keyfold.streams.status import status

Old = TypeVar("Old", bound=Entity)
New = TypeVar("New", bound=Entity)


@dataclass(frozen=True)
class Output:
    """An item of the other side; `claim` is the condition that no other item holds its value."""

    table: str
    item: Item
    claim: Mapping[str, Any] = field(default_factory=dict)
    onto: Callable[[Item | None], Item] | None = None
    """What it becomes if something is already stored there and that matters."""
    moved: bool = False
    """It is the item itself, not one of its consequences."""
    kept: frozenset[str] = frozenset()
    """Numbers that its own side counts, which a copy leaves as they are."""

    def settle_on(self, there: Item | None) -> Item:
        """The item as it should be where `there` is stored."""
        return self.item if self.onto is None else self.onto(there)

    def stands(self, there: Item | None) -> bool:
        """Whether the other side has it."""
        return there is not None and equal(there, self.settle_on(there))


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
    tables: tuple[TableSchema, ...] = ()
    """The tables that it reads and writes, as far as known."""
    follows: Selects = lambda _: False
    """Whether an item of the source is derived from moved items: it is written again there."""
    guards: bool = False
    """Applications that follow write its outputs, too, whenever they write what it reads."""


@dataclass(frozen=True)
class Move:
    """An entity's items from the old side to the new one, and back."""

    name: str
    forward: Route
    backward: Route
    counters: tuple[str, ...] = ()
    """Counters of the moved items, which must be recounted."""
    numbers: Restore | None = None
    """Numbers of the stream to which the moved items add, or which they hold: copying does not
    count, and a consumer may come late.
    """
    shared: SharedTable | None = None
    """The table that has its items under both keys."""

    def words(self) -> str:
        return f"move {self.name} from {self.forward.source} to {self.forward.target}"


@dataclass(frozen=True)
class Derive:
    """Copies of items that stay: pointers and unique markers, rebuilt."""

    name: str
    route: Route

    def words(self) -> str:
        return f"derive {self.name}"


@dataclass(frozen=True)
class Restore:
    """Corrects structures according to their declaration, once the items are in place.

    Missing ones are written, superfluous ones removed, numbers recounted.
    """

    design: Design
    labels: tuple[str, ...]

    def without_shared(self, created: Container[str]) -> Restore:
        """The same without numbers of the stream in tables that stay: until the switch the old
        design's consumer counts there.
        """
        shared = {
            each.name
            for each in self.design.schema.follows
            if each.fact == "amount"
            and each.sync == "stream"
            and self.design.entities[each.target].__table__.name not in created
        }
        return replace(self, labels=tuple(n for n in self.labels if n not in shared))

    @property
    def tables(self) -> set[str]:
        """The tables that the structures are about."""
        return {table for label in self.labels for table in self._tables_of(label)}

    def within(self, tables: Container[str]) -> Restore:
        """The same without structures about other tables."""
        kept = (n for n in self.labels if all(table in tables for table in self._tables_of(n)))
        return replace(self, labels=tuple(kept))

    def _tables_of(self, label: str) -> set[str]:
        (each,) = (each for each in self.design.schema.follows if each.name == label)
        return {self.design.entities[n].__table__.name for n in (each.source, each.target)}

    def words(self) -> str:
        return f"restore {', '.join(self.labels)}"

    def run(self, backend: Backend) -> None:
        """Runs while traffic continues, and repeats until nothing differs."""
        opened = self._opened(backend)
        rebuild_structures(opened, self.labels, settle=adding(opened, self.labels))

    def consumer_lag(self, backend: Backend) -> float:
        """The age in seconds of the oldest record that the design's consumer has not read."""
        opened = self._opened(backend)
        return opened.run(status(opened.context), "streams").lag_seconds

    def _opened(self, backend: Backend) -> Db:
        return self.design.open(
            backend.client,
            clock=backend.clock,
            table_prefix=backend.prefix,
            table_names=backend.names,
            create_tables=False,
        )


def restore(design: Design, *labels: str) -> Restore:
    """Correct structures, named as verify names them: `pointer OrderById`."""
    design.complete()
    known = [m.label for m in design.maintainers]
    if unknown := [label for label in labels if label not in known]:
        raise MigrationError(f"{design.name} has no {unknown[0]}; it has {', '.join(known)}")
    return Restore(design, labels)


def recount(design: Design, *fields: str) -> Restore:
    """Recount counters, named as `Catalog.uses`; without names all of the design."""
    design.complete()
    known = [m.label for m in design.maintainers if m.follows.fact == "amount"]
    return restore(design, *([f"counter {name}" for name in fields] or known))


def move(
    old: type[Old],
    new: type[New],
    *,
    forward: Callable[[Old], New] | None = None,
    backward: Callable[[New], Old] | None = None,
    rename: Mapping[str, str] | None = None,
    drops: Iterable[str] = (),
    fill: Mapping[str, Callable[[dict[str, Any]], Any]] | None = None,
) -> Move:
    """Move an entity of one design to an entity of another, with its pointers and markers.

    Without functions, fields keep their values by name; `rename` maps old names to new ones.
    `fill` has a function of the old fields for each new field. Undeclared attributes are kept, and
    so are those that a function omits: `drops` names the attributes to lose.
    """
    if (forward is None) != (backward is None):
        raise MigrationError(
            f"{old.__name__}: a move takes both functions, forward and backward, or none"
        )
    source, target = old.__spec__, new.__spec__
    shared = None
    if source.table.name == target.table.name:
        shared = SharedTable(target.name, target.table.name, source.home, target.home)
        if not shared.is_apart:
            raise MigrationError(shared.refusal)
        was, now = (
            {m.label for m in _structures(s) if m.follows.fact == "claim"} for s in (source, target)
        )
        if twice := sorted(was & now):
            raise MigrationError(one_holder(target.name, twice[0].rpartition(".")[2]))
    back = {name: was for was, name in (rename or {}).items()}
    conversion = ItemConversion(
        source,
        target,
        forward or by_name(new, rename, fill),
        backward or by_name(old, back),
        frozenset(drops),
        {
            source.fields[old].attribute: target.fields[new].attribute
            for old, new in (rename or {}).items()
            if old in source.fields and new in target.fields
        },
    )
    name = target.name if source.name == target.name else f"{source.name} to {target.name}"
    counted = _amounts(_structures(target), "transaction")
    held = [m for m in target.table.design.maintainers if m.follows.target == target.name]
    followed = tuple(dict.fromkeys(_amounts([*_structures(target), *held], "stream")))
    numbers = Restore(cast("Design", target.table.design), followed) if followed else None
    return Move(name, *_routes(name, conversion), counted, numbers, shared)


def _routes(name: str, conversion: ItemConversion) -> tuple[Route, Route]:
    source, target, back = conversion.source, conversion.target, conversion.back

    def forward(item: Item) -> Iterable[Output]:
        made, carried = conversion.carry(item)
        first = Output(
            target.table.name,
            carried,
            onto=(lambda there: conversion.beside_kept(carried, there))
            if conversion.counted_here
            else None,
            moved=True,
            kept=conversion.counted_here,
        )
        return [first, *written_with(target, made)[1:]]

    def backward(item: Item) -> Iterable[Output]:
        made, carried = back.carry(item)
        first = Output(source.table.name, carried, onto=lambda there: back.onto(item, there))
        return [first, *written_with(source, made)[1:]]

    old, new = source.table.name, target.table.name
    both = (source.table.schema, target.table.schema)
    return (
        Route(
            name,
            old,
            new,
            source.recognises,
            forward,
            tables=both,
            follows=follow_test(source),
        ),
        Route(
            f"{name}, back",
            new,
            old,
            target.recognises,
            backward,
            tables=both,
        ),
    )


def follow_test(spec: EntitySpec) -> Selects:
    """Whether an item of an entity's table is a copy or a claim that follows from the entity."""
    table = spec.table.schema
    structures = _structures(spec)
    claims = [m for m in structures if isinstance(m, MarkedStructure)]
    targets = [m.follows.target for m in structures if m.follows.fact == "copy"]
    found = (spec.table.design.entities[name].__spec__ for name in targets)
    copies = [copy for copy in found if copy.table.name == table.name]

    def follows(item: Item) -> bool:
        marked = any(claim.marks(item) for claim in claims)
        return marked or any(copy.recognises(item) for copy in copies)

    return follows


def rebuild(entity: type[Entity]) -> Derive:
    """Create all pointers and unique markers of an entity."""
    spec = entity.__spec__

    def outputs(item: Item) -> Iterable[Output]:
        return written_with(spec, spec.decode(item))[1:]

    name, table = f"the copies of {entity.__name__}", spec.table.name
    schema = spec.table.schema
    route = Route(name, table, table, spec.recognises, outputs, guards=True, tables=(schema,))
    return Derive(name, route)


def written_with(spec: EntitySpec, entity: Entity) -> list[Output]:
    """The item of an entity, followed by its copies and claims.

    Including copies of copies and stream copies: no other code writes them.
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


def _amounts(structures: Iterable[Any], sync: str) -> tuple[str, ...]:
    """The numbers that copying leaves unchanged although it should move them."""
    amounts = (m for m in structures if m.follows.fact == "amount")
    return tuple(m.label for m in amounts if m.sync == sync)
