"""Moves: items from one place or shape to another, by small pure functions, in both directions.

A move is made of two routes. A route reads a table and says, for an item of it, which items it
stands for on the other side; for items that are none of its business it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.schema import KeyTemplates, Placement, Schema, TableSchema
from keyfold.design.template import parse_template
from keyfold.errors import MigrationError
from keyfold.maintain import rebuild as rebuild_structures
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.carried_items import Passage, by_name
from keyfold.migrations.frozen_design import design_of
from keyfold.migrations.spelling import equal
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
    onto: Callable[[Item | None], Item] | None = None
    """What it is where something stands already, if that makes a difference."""
    part: frozenset[str] | None = None
    """The attributes that it is, of an item that is more than it and stays without it."""
    moved: bool = False
    """It is the item itself, and nothing that follows from it."""

    def settled(self, there: Item | None) -> Item:
        """The item as it should be where `there` stands."""
        if self.part is not None:
            kept = {n: w for n, w in (there or {}).items() if n not in self.part}
            return {**kept, **self.item} if there is not None else {}
        return self.item if self.onto is None else self.onto(there)

    def stands(self, there: Item | None) -> bool:
        """Whether the other side has it."""
        if there is None:
            return self.part is not None
        return equal(there, self.settled(there))


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
    keeps: bool = False
    """What it reads stays what it is, and is never taken away."""
    tables: tuple[TableSchema, ...] = ()
    """Those that it reads and writes, as far as they are known."""


@dataclass(frozen=True)
class Move:
    """An entity's items from the old side to the new one, and back."""

    name: str
    forward: Route
    backward: Route
    counters: tuple[str, ...] = ()
    """Counters of the moved items: they have to be recounted."""
    partial: bool = False
    """Its items are parts of others, which stay where they are."""

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
    forward: Callable[[Old], New] | None = None,
    backward: Callable[[New], Old] | None = None,
    rename: Mapping[str, str] | None = None,
    drops: Iterable[str] = (),
) -> Move:
    """Move an entity of one design to an entity of another, with its pointers and markers.

    Without functions, fields are taken over by their names, and those of `rename` from the old
    name to the new one. What nobody declares goes along, and so does what a function leaves out:
    `drops` names the attributes that are meant to be lost.
    """
    if (forward is None) != (backward is None):
        raise MigrationError(
            f"{old.__name__}: a move takes two functions, forward and backward, or none"
        )
    source, target = old.__spec__, new.__spec__
    back = {name: was for was, name in (rename or {}).items()}
    passage = Passage(
        source,
        target,
        forward or by_name(new, rename),
        backward or by_name(old, back),
        frozenset(drops),
        {
            source.fields[old].attribute: target.fields[new].attribute
            for old, new in (rename or {}).items()
            if old in source.fields and new in target.fields
        },
    )
    name = target.name if source.name == target.name else f"{source.name} to {target.name}"
    return Move(name, *_routes(name, passage), _counters(target))


def _routes(name: str, passage: Passage) -> tuple[Route, Route]:
    source, target, back = passage.source, passage.target, passage.back

    def forward(item: Item) -> Iterable[Output]:
        made, carried = passage.carried(item)
        first = Output(target.table.name, carried, moved=True)
        return [first, *written_with(target, made)[1:]]

    def backward(item: Item) -> Iterable[Output]:
        made, carried = back.carried(item)
        first = Output(source.table.name, carried, onto=lambda there: back.onto(item, there))
        return [first, *written_with(source, made)[1:]]

    old, new = source.table.name, target.table.name
    both = (source.table.schema, target.table.schema)
    apart = old == new and source.type_name == target.type_name
    return (
        Route(name, old, new, shaped(source) if apart else source.recognises, forward, tables=both),
        Route(
            f"{name}, back",
            new,
            old,
            shaped(target) if apart else target.recognises,
            backward,
            tables=both,
        ),
    )


def shaped(spec: EntitySpec) -> Selects:
    """Whether an item is of an entity, by its type and by the shape of its key."""

    def selects(item: Item) -> bool:
        return spec.recognises(item) and all(
            attribute.template.matches(str(next(iter(item[attribute.attribute].values()))))
            for attribute in spec.key.attributes
        )

    return selects


def rebuild(entity: type[Entity]) -> Derive:
    """Make all pointers and unique markers of an entity that should be there."""
    spec = entity.__spec__

    def outputs(item: Item) -> Iterable[Output]:
        return written_with(spec, spec.decode(item))[1:]

    name, table = f"the copies of {entity.__name__}", spec.table.name
    return Derive(
        name, Route(name, table, table, spec.recognises, outputs, tables=(spec.table.schema,))
    )


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
    described = entity.__spec__.describe()
    places = [
        Placement(f"on_{number}", name, KeyTemplates(*map(parse_template, templates)))
        for number, (name, templates) in enumerate((indexes or {}).items())
    ]
    for place in places:
        if table.index(place.index) is None:
            raise MigrationError(f"the table {table.name} has no index {place.index}")
    before = replace(
        described,
        table=table.name,
        key=KeyTemplates(*map(parse_template, key)),
        placements=tuple(places),
        type_name=type_name or described.type_name,
    )
    old = design_of(Schema(f"{table.name} before", (table,), (before,)))
    return move(old.entities[described.name], entity)
