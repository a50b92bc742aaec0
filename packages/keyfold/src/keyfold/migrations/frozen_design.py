"""A design rebuilt from its schema, so that a plan needs no module of the application.

Fields used by keys, conditions and structures have their types; all others are carried unchanged.
Structures that can be declared again from their records are: pointers, counters, unique values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from types import new_class
from typing import Annotated, Any, cast

from pydantic import BeforeValidator

from keyfold.design.condition import fields_of
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.markers import Name, Stored
from keyfold.design.placement import On
from keyfold.design.recorder import Recorded
from keyfold.design.schema import (
    AttributeSchema,
    Condition,
    EntitySchema,
    Follows,
    KeyTemplates,
    Schema,
)
from keyfold.design.table import Table
from keyfold.design.template import Literal, Template
from keyfold.errors import MigrationError
from keyfold.maintain import Pointer
from keyfold.maintain.shards import TYPE_NAME
from keyfold.maintain.structure import Restatement, restated
from keyfold.runtime import Design

_TYPES: dict[str, Any] = {
    "string": str,
    "id": Annotated[str, "id"],
    "boolean": bool,
    "binary": bytes,
    "timestamp": datetime,
    "date": date,
    "list": list[Any],
    "string_set": set[str],
    "number_set": set[Decimal],
    "binary_set": set[bytes],
}


class FrozenDesign(Design):
    """A plan's design; `other` is the one at the other end."""

    other: FrozenDesign | None = None


def design_of(schema: Schema) -> FrozenDesign:
    """A design with the tables, entities and structures of a schema."""
    return _Making(schema).design


class _Making:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.design = FrozenDesign(schema.name)
        self.tables = {table.name: self._table(table.name) for table in schema.tables}
        self.restated = list(_restate(schema))
        self.typed = _find_typed(schema, self.restated)
        self.amounts = {
            (each.target, each.name.rpartition(".")[2]): Decimal if each.sums else int
            for each in schema.follows
            if each.fact == "amount"
        }
        for each in schema.follows:
            for name in _shared(schema, each) if each.fact == "copy" else ():
                if (each.source, name) in self.amounts:
                    self.amounts[each.target, name] = self.amounts[each.source, name]
        # Originals come before their copies.
        copies = {each.entity: each.canonical for each in self.restated if each.canonical}
        waiting = [
            entity
            for entity in schema.entities
            if entity.key is not None and not self._is_created_by_counter(entity)
        ]
        while waiting:
            ready = [
                e for e in waiting if e.name not in copies or copies[e.name] in self.design.entities
            ]
            if not ready:
                raise MigrationError(
                    f"{waiting[0].name} copies an entity that the snapshot does not have"
                )
            for entity in ready:
                self._entity(entity)
            waiting = [entity for entity in waiting if entity not in ready]
        self.design.complete()

    def _is_created_by_counter(self, entity: EntitySchema) -> bool:
        """Whether a declared counter creates it: its shards."""
        spread = any(each.shards > 1 and restated(each) for each in self.schema.follows)
        return spread and entity.role == "counter" and entity.type_name == TYPE_NAME

    def _table(self, name: str) -> Table:
        table = self.schema.by_table[name]
        return self.design.table(
            name,
            partition=table.partition,
            sort=table.sort,
            partition_type=table.partition_type,
            sort_type=table.sort_type,
            indexes=table.indexes,
            ttl=table.ttl,
            stream=cast("Any", table.stream),
            type_attribute=table.type_attribute,
            name_variable=table.name_variable,
        )

    def _entity(self, entity: EntitySchema) -> None:
        body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
        structures = [each for each in self.restated if each.entity == entity.name]
        kept = {name: mark for each in structures for name, mark in each.marks.items()}
        for attribute in entity.attributes:
            self._field(body, entity, attribute, kept.get(attribute.field))
        assert entity.key is not None
        sort = entity.key.sort
        body["key"] = Key(entity.key.partition.text, sort.text if sort is not None else None)
        for placement in entity.placements:
            when = placement.when
            told: Any = () if when is None else _recorded(when)
            body[placement.name or f"on_{placement.index}"] = On(
                placement.index, *_sides(placement.key), when=told
            )
        options: dict[str, Any] = {"table": self.tables[entity.table]}
        if entity.type_name and entity.type_name != entity.name:
            options["type_name"] = entity.type_name
        base: Any = Entity
        for each in structures:
            body |= each.body
            options |= each.options
            if each.canonical:
                base = Pointer[self.design.entities[each.canonical]]  # type: ignore[name-defined]
        new_class(entity.name, (base,), options, lambda namespace: namespace.update(body))

    def _field(
        self, body: dict[str, Any], entity: EntitySchema, attribute: AttributeSchema, kept: Any
    ) -> None:
        marks: list[Any] = [Name(attribute.name)]
        kind: Any = Any
        if (entity.name, attribute.field) in self.typed:
            kind = self.amounts.get((entity.name, attribute.field), int)
            kind = kind if attribute.type == "number" else _TYPES.get(attribute.type, Any)
            marks += _without_prefix(self.schema, entity, attribute)
        if attribute.type == "timestamp" and kind is not Any and attribute.stored:
            marks.append(Stored(cast("Any", attribute.stored)))
        if kept is not None:
            marks.append(kept)
            body[attribute.field] = 0
        elif kind is Any:
            body[attribute.field] = None
        elif attribute.optional:
            kind = kind | None if not hasattr(kind, "__metadata__") else Annotated[str | None, "id"]
            body[attribute.field] = None
        body["__annotations__"][attribute.field] = Annotated[(kind, *marks)]


def _restate(schema: Schema) -> Iterator[Restatement]:
    for each in schema.follows:
        when = None if each.when is None else _recorded(each.when)
        if (made := restated(each, when)) is not None:
            yield made


def _find_typed(schema: Schema, structures: Sequence[Restatement]) -> set[tuple[str, str]]:
    """The fields, by entity, whose values are used."""
    found: set[tuple[str, str]] = set()
    for entity in schema.entities:
        for key in (entity.key, *(p.key for p in entity.placements)):
            found |= {(entity.name, field) for field in (key.fields if key else ())}
        for placement in entity.placements:
            found |= {(entity.name, field) for field in fields_of(placement.when)}
    for one in structures:
        found |= one.uses
    before = -1
    while len(found) != before:  # A copy and its original have one type.
        before = len(found)
        for each in schema.follows:
            for name in _shared(schema, each) if each.fact == "copy" else ():
                if found & {(each.source, name), (each.target, name)}:
                    found |= {(each.source, name), (each.target, name)}
    return found


def _shared(schema: Schema, each: Follows) -> Iterator[str]:
    source, target = schema.by_entity.get(each.source), schema.by_entity.get(each.target)
    if source is not None and target is not None:
        yield from source.by_field.keys() & target.by_field.keys()


def _without_prefix(schema: Schema, entity: EntitySchema, attribute: AttributeSchema) -> list[Any]:
    """Reads a field from the key that contains it, under its own name."""
    table = schema.by_table[entity.table]
    places: list[tuple[Any, KeyTemplates | None]] = [(table, entity.key)]
    places += [(table.index(p.index), p.key) for p in entity.placements]
    for names, key in places:
        for name, template in _compose(names, key):
            first, *others = template.parts
            if name == attribute.name and isinstance(first, Literal) and len(others) == 1:
                return [BeforeValidator(_Bare(first.text))]
    return []


@dataclass(frozen=True)
class _Bare:
    prefix: str

    def __call__(self, value: Any) -> Any:
        return value.removeprefix(self.prefix) if isinstance(value, str) else value


def _compose(names: Any, key: KeyTemplates | None) -> Iterator[tuple[str, Template]]:
    if names is not None and key is not None:
        yield from ((name, template) for name, _, template in names.templates(key))


def _sides(key: KeyTemplates) -> Iterator[str | tuple[str, ...]]:
    for template in (key.partition, key.sort):
        if template is not None:
            pieces = tuple(piece.text for piece in template.pieces)
            yield pieces or template.text


def _recorded(condition: Condition) -> Callable[[Any], Recorded]:
    """A condition in declaration form."""
    return lambda _: Recorded(condition)
