"""Keys of a schema as sets: what a template renders, and where an entity's items appear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from keyfold.design.formats import PLAIN
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    KeyTemplates,
    Placement,
    Schema,
)
from keyfold.design.template import Slot, Template
from keyfold.review.keyspace import Space, is_formless, spaces, witness


@dataclass(frozen=True)
class Appearance:
    """An entity's items in a table or index: their key, and its declaration."""

    entity: EntitySchema
    key: KeyTemplates
    placement: Placement | None = None


class KeySets:
    """The keys of a schema, each set computed once."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._spaces: dict[tuple[int, int], tuple[Template, tuple[Space, ...]]] = {}
        self._referred: dict[str, frozenset[str]] = {}
        self._templates: dict[str, dict[str, list[Template]]] = {}
        self._appearances: dict[tuple[str, str | None], tuple[Appearance, ...]] = {}

    def spaces(self, template: Template, entity: EntitySchema | None) -> tuple[Space, ...]:
        # By identity: templates are looked up very often and are slow to hash.
        known = (id(template), id(entity))
        if known not in self._spaces:
            made = spaces(template, entity.by_field if entity else {})
            self._spaces[known] = template, made
        return self._spaces[known][1]

    def meet(
        self, one: Template, owner: EntitySchema | None, other: Template, whose: EntitySchema
    ) -> bool:
        return self.witness(one, owner, other, whose) is not None

    def witness(
        self, one: Template, owner: EntitySchema | None, other: Template, whose: EntitySchema
    ) -> str | None:
        """A key that both templates can render."""
        begins, other_begins = one.literal_prefix, other.literal_prefix
        if not (begins.startswith(other_begins) or other_begins.startswith(begins)):
            return None  # Most pairs of a large design.
        pairs = ((a, b) for a in self.spaces(one, owner) for b in self.spaces(other, whose))
        return next((found for a, b in pairs if (found := witness(a, b)) is not None), None)

    def is_by_chance(
        self, one: Template, owner: EntitySchema | None, other: Template, whose: EntitySchema
    ) -> bool:
        """Whether two keys can only coincide if a free text happens to look like the other."""
        formless = (
            all(is_formless(space) for space in self.spaces(template, entity))
            for template, entity in ((one, owner), (other, whose))
        )
        return len(set(formless)) == 2

    @cached_property
    def all_keys(self) -> tuple[tuple[EntitySchema, KeyTemplates, Placement | None], ...]:
        """Every key of every entity: of its table first, then on its indexes."""
        return tuple(key for entity in self.schema.entities for key in keys_of(entity))

    @cached_property
    def all_attributes(self) -> tuple[tuple[EntitySchema, AttributeSchema], ...]:
        return tuple((e, attribute) for e in self.schema.entities for attribute in e.attributes)

    def entities_of(self, table: str) -> tuple[EntitySchema, ...]:
        return self._by_table.get(table, ())

    @cached_property
    def _by_table(self) -> dict[str, tuple[EntitySchema, ...]]:
        tables = {entity.table for entity in self.schema.entities}
        return {name: tuple(self.schema.entities_of(name)) for name in tables}

    def referred(self, entity: EntitySchema) -> frozenset[str]:
        """The entities whose ids it declares to hold."""
        if entity.name not in self._referred:
            names = [attribute.refers for attribute in entity.attributes]
            self._referred[entity.name] = frozenset(filter(None, names))
        return self._referred[entity.name]

    def type_marker(self, table: str) -> str | None:
        """The attribute that says which entity an item is; not one of some entities' own."""
        name = self.schema.by_table[table].type_attribute
        entities = self.entities_of(table)
        held = [a for entity in entities for a in entity.attributes if name in (a.name, a.field)]
        several = any(len(attribute.values) > 1 for attribute in held)
        return None if several or 0 < len(held) < len(entities) else name

    def appearances(self, table: str, index: str | None) -> tuple[Appearance, ...]:
        """Every way in which items of a table appear in it, or in one of its indexes."""
        known = (table, index)
        if known not in self._appearances:
            self._appearances[known] = tuple(self._appear(table, index))
        return self._appearances[known]

    def _appear(self, table: str, index: str | None) -> Iterator[Appearance]:
        for entity in self.entities_of(table):
            if index is None:
                if entity.key is not None:
                    yield Appearance(entity, entity.key)
                continue
            placed = entity.placement(index)
            for placement in placed:
                yield Appearance(entity, placement.key, placement)
            if not placed and (found := self._by_name(entity, index)):
                yield found

    def is_listed(self, entity: EntitySchema, index: str) -> bool:
        """Whether items have every key attribute of an index; without one they are not in it."""
        declared = self.schema.by_table[entity.table].index(index)
        held = self.templates(entity)
        return declared is None or all(name in held for name in declared.key_attributes)

    def _by_name(self, entity: EntitySchema, index: str) -> Appearance | None:
        """An item is in an index as soon as it has the index's key attributes, meant or not."""
        table = self.schema.by_table[entity.table]
        declared = table.index(index)
        if declared is None:
            return None
        held = self.templates(entity)
        if not all(name in held for name in declared.key_attributes):
            return None
        return Appearance(entity, declared.key_of({name: held[name][0] for name in held}))

    def templates(self, entity: EntitySchema) -> dict[str, list[Template]]:
        """Every attribute of an entity's items that holds a key, with what it holds."""
        if entity.name not in self._templates:
            self._templates[entity.name] = self._held_templates(entity)
        return self._templates[entity.name]

    def _held_templates(self, entity: EntitySchema) -> dict[str, list[Template]]:
        table = self.schema.by_table[entity.table]
        held: dict[str, list[Template]] = {}
        keys = [(table.index(placement.index), placement.key) for placement in entity.placements]
        for owner, key in [(table, entity.key), *keys]:
            if owner is None or key is None:
                continue
            for name, _, template in owner.templates(key):
                if template not in held.setdefault(name, []):
                    held[name].append(template)
        for attribute in (one for one in entity.attributes if one.is_stored):
            held.setdefault(attribute.name, [_bare(attribute.field)])
        return held


def keys_of(
    entity: EntitySchema,
) -> Iterator[tuple[EntitySchema, KeyTemplates, Placement | None]]:
    if entity.key is not None:
        yield entity, entity.key, None
    for placement in entity.placements:
        yield entity, placement.key, placement


def templates_of(key: KeyTemplates) -> tuple[Template, ...]:
    return (key.partition,) if key.sort is None else (key.partition, key.sort)


def _bare(field: str) -> Template:
    return Template((Slot(field, PLAIN),))
