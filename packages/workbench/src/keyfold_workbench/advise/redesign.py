"""Builds a design from choices: tables, keys, indexes, copies and rewritten patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from keyfold.design.condition import there
from keyfold.design.schema import (
    Copy,
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    PatternSchema,
    Placement,
    Schema,
    SortCondition,
    TableSchema,
)
from keyfold.design.template import Literal, Slot, Template
from keyfold.review.check.filters import equal_fields
from keyfold_engine.expressions.ast import And, Condition
from keyfold_workbench.advise import new_names
from keyfold_workbench.advise.choice import Access, KeyChoice
from keyfold_workbench.advise.demand import Demand, Shape, written_through


def redesign(schema: Schema, choices: Mapping[str, KeyChoice]) -> Schema:
    """The design for these choices."""
    return _Builder(schema, choices).build()


class _Builder:
    def __init__(self, schema: Schema, choices: Mapping[str, KeyChoice]) -> None:
        self.schema = schema
        self.choices = {name: choice for name, choice in choices.items() if not choice.kept}
        self.tables: dict[str, TableSchema] = dict(schema.by_table)
        self.entities: dict[str, EntitySchema] = dict(schema.by_entity)
        self.patterns: dict[str, PatternSchema] = dict(schema.by_pattern)

    def build(self) -> Schema:
        for name, choice in self.choices.items():
            self._entity(self.schema.by_entity[name], choice)
        tables = tuple(table for table in self.tables.values() if self._in_use(table))
        made = replace(
            self.schema,
            tables=tables,
            entities=tuple(self.entities.values()),
            patterns=tuple(self.patterns.values()),
            steps=(),
            stated=(),
            before=None,
            observed=None,
        )
        return _without_idle(made)

    def _in_use(self, table: TableSchema) -> bool:
        return any(entity.table == table.name for entity in self.entities.values())

    def _entity(self, entity: EntitySchema, choice: KeyChoice) -> None:
        table = self._table(entity, choice)
        generic = table.partition not in {a.name for a in entity.attributes}
        key = entity.key
        if choice.rekeyed or table.name != entity.table:
            key = self._key(entity, choice.base.shape, generic)
        moved = replace(entity, table=table.name, key=key, placements=())
        self.entities[entity.name] = moved
        for demand, access in choice.paths:
            if access.kind == "base":
                self._read_base(demand, self.entities[entity.name])
            elif access.kind == "lookup":
                self._read_lookup(demand, entity, access)
            elif access.kind in ("global", "local"):
                self._read_index(demand, entity, access, generic)
        self._keep_pinned(entity)

    def _keep_pinned(self, entity: EntitySchema) -> None:
        """Keeps indexes that patterns of several entities or consumers read."""
        shared: set[str | None] = {
            pattern.index
            for pattern in self.patterns.values()
            if entity.name in pattern.entities and pattern.index
        }
        shared |= {index for name, index in written_through(self.schema) if name == entity.name}
        now = self.entities[entity.name]
        placed = {placement.index for placement in now.placements}
        kept = [p for p in entity.placements if p.index in shared - placed]
        if now.table == entity.table and kept:
            self.entities[entity.name] = replace(now, placements=(*now.placements, *kept))

    # Tables

    def _table(self, entity: EntitySchema, choice: KeyChoice) -> TableSchema:
        table = self.tables[entity.table]
        copies = bool(choice.of("lookup"))
        if new_names.is_generic(self.schema, table):
            return table
        if not choice.rekeyed and not copies:
            return table
        partition = choice.base.shape.partition
        name = new_names.table_for(
            replace(self.schema, tables=tuple(self.tables.values())), entity, partition[0]
        )
        made = self._own(name, table, entity, choice.base.shape, generic=copies)
        self.tables[name] = made
        return made

    def _own(
        self, name: str, like: TableSchema, entity: EntitySchema, shape: Shape, *, generic: bool
    ) -> TableSchema:
        """A table for one entity, keyed by its own fields or by generic keys that copies can
        share.
        """
        plain = not generic and len(shape.partition) == 1
        sort: str | None = None
        sort_type = "S"
        if plain and len(shape.sort) == 1:
            sort = new_names.disk_name(entity, shape.sort[0])
            sort_type = new_names.key_type(entity, shape.sort[0])
        elif shape.sort or not plain:
            sort = "SK"
        return TableSchema(
            name,
            partition=new_names.disk_name(entity, shape.partition[0]) if plain else "PK",
            sort=sort,
            sort_type=cast("KeyType", sort_type),
            ttl=entity.ttl.attribute if entity.ttl else None,
            stream=like.stream,
            billing=like.billing,
            type_attribute=(like.type_attribute or "type") if generic else like.type_attribute,
        )

    def _key(self, entity: EntitySchema, shape: Shape, generic: bool) -> KeyTemplates:
        if not generic:
            sort = new_names.join_fields(entity, shape.sort) if shape.sort else None
            return KeyTemplates(new_names.join_fields(entity, shape.partition), sort)
        leading = new_names.prefix(self.schema, entity, shape.partition[0])
        own = new_names.prefix(self.schema, entity, entity.name)
        partition = new_names.join_fields(entity, shape.partition, leading)
        if shape.sort:
            return KeyTemplates(partition, new_names.join_fields(entity, shape.sort, own))
        return KeyTemplates(partition, Template((Literal(own),)))

    # Paths

    def _read_base(self, demand: Demand, entity: EntitySchema) -> None:
        assert entity.key is not None, f"{entity.name} has no key"
        self.patterns[demand.name] = _pattern_on(demand, entity, entity.key, None)

    def _read_lookup(self, demand: Demand, entity: EntitySchema, access: Access) -> None:
        name = f"{entity.name}By{new_names.word(entity, access.shape.partition[0])}"
        if name not in self.entities:
            home = self.entities[entity.name]
            self.entities[name] = EntitySchema(
                name,
                home.table,
                self._key(entity, access.shape, generic=True),
                attributes=entity.attributes,
                role="pointer",
                copy=Copy(
                    of=entity.name,
                    fields=tuple(a.field for a in entity.attributes),
                    sync="transaction",
                ),
                bytes=entity.bytes,
                ttl=entity.ttl,
                description=f"{entity.name} by {', '.join(access.shape.partition)}, "
                "kept in the same transaction.",
            )
        pointer = self.entities[name]
        assert pointer.key is not None, f"{name} has no key"
        aimed = _pattern_on(demand, pointer, pointer.key, None)
        self.patterns[demand.name] = replace(aimed, entities=(name,))

    def _read_index(
        self, demand: Demand, entity: EntitySchema, access: Access, generic: bool
    ) -> None:
        home = self.entities[entity.name]
        table = self.tables[home.table]
        placement = self._placement(entity, access, table, generic)
        if placement not in home.placements:
            self.entities[entity.name] = replace(home, placements=(*home.placements, placement))
        self.patterns[demand.name] = _pattern_on(demand, home, placement.key, placement.index)

    def _placement(
        self, entity: EntitySchema, access: Access, table: TableSchema, generic: bool
    ) -> Placement:
        """The key in an index, which is created if necessary."""
        old_table = self.schema.by_table[entity.table]
        rebuilt = generic and not new_names.is_generic(self.schema, old_table)
        # Copies have the same attributes, so an index over plain ones would include them.
        if access.existing is not None and not rebuilt:
            old = old_table.index(access.existing.index)
            assert old is not None, f"{entity.table} has no index {access.existing.index}"
            if table.index(old.name) is None:
                self._add_index(table, old)
            return access.existing
        home = self.entities[entity.name]
        known = [p for p in home.placements if p.key.fields == access.shape.fields]
        if known:
            return known[0]
        # A separate key attribute is used for several fields, and in tables with generic keys.
        generic = generic or len(access.shape.partition) > 1 or len(access.shape.sort) > 1
        index = self._index(entity, access, table, generic)
        self._add_index(table, index)
        if generic:
            key = self._key(entity, access.shape, generic=True)
            key = replace(key, sort=key.sort if index.sort else None)
        else:
            sort = new_names.bare(entity, access.shape.sort[0]) if access.shape.sort else None
            key = KeyTemplates(new_names.bare(entity, access.shape.partition[0]), sort)
        optional = tuple(
            f for f in access.shape.fields if (a := entity.by_field.get(f)) and a.optional
        )
        return Placement(index.name, index.name, key, there(*optional))

    def _index(
        self, entity: EntitySchema, access: Access, table: TableSchema, generic: bool
    ) -> Index:
        local = access.kind == "local"
        if generic:
            placed = {
                p.index
                for one in (self.entities, self.schema.by_entity)
                for p in one[entity.name].placements
            }
            free = new_names.free_index(self.schema, table, placed) if not local else None
            if free is not None:
                return free
            about = access.shape.sort[0] if local else access.shape.partition[0]
            name = new_names.index_for(table, new_names.disk_name(entity, about))
            if access.existing is not None and table.index(access.existing.index) is None:
                name = access.existing.index
            word = name.removesuffix("-index").replace("-", "")
            partition = table.partition if local else f"{word}PK"
            return Index(name, partition, f"{word}SK", local=local)
        partition = new_names.disk_name(entity, access.shape.partition[0])
        sort = access.shape.sort[0] if access.shape.sort else None
        about = new_names.disk_name(entity, sort) if local and sort else partition
        name = new_names.index_for(table, about)
        return Index(
            name,
            partition,
            new_names.disk_name(entity, sort) if sort else None,
            sort_type=cast("KeyType", new_names.key_type(entity, sort) if sort else "S"),
            local=local,
        )

    def _add_index(self, table: TableSchema, index: Index) -> None:
        now = self.tables[table.name]
        if now.index(index.name) is None:
            self.tables[table.name] = replace(now, indexes=(*now.indexes, index))


def _pattern_on(
    demand: Demand, entity: EntitySchema, key: KeyTemplates, index: str | None
) -> PatternSchema:
    """A pattern rewritten for another key."""
    old = demand.pattern
    whole = index is None and set(key.fields) <= set(demand.given)
    condition = SortCondition()
    rest = [f for f in demand.given if f not in key.partition.fields]
    if key.sort is not None:
        cut = _cut(key.sort, set(rest))
        bounded = old.condition.low is not None or old.condition.high is not None
        if bounded and not whole:
            condition = SortCondition("between", cut, old.condition.low, old.condition.high)
        elif len(cut.parts) == len(key.sort.parts):
            condition = SortCondition("eq", key.sort)
        elif cut.parts:
            condition = SortCondition("begins_with", cut)
    kind = old.kind
    if whole and demand.single:
        kind = "get"
    elif kind in ("get", "scan"):
        kind = "latest" if demand.single else "query"
    once = kind in ("get", "latest")
    return replace(
        old,
        kind=kind,
        filter=_drop_terms(old.filter, set(key.fields) & set(demand.given)),
        table=entity.table,
        entities=(entity.name,),
        index=index,
        partition=key.partition,
        other_partitions=(),
        condition=condition,
        limit=1 if kind == "latest" else (None if once else old.limit),
        consistent=old.consistent and index is None,
    )


def _drop_terms(condition: Condition | None, served: set[str]) -> Condition | None:
    """A filter without the terms that the key now serves."""
    terms = condition.terms if isinstance(condition, And) else (condition,)
    kept = [term for term in terms if term is not None and not set(equal_fields(term)) & served]
    if len(kept) == len(terms):
        return condition
    return And(tuple(kept)) if len(kept) > 1 else kept[0] if kept else None


def _cut(template: Template, given: set[str]) -> Template:
    """The template up to its first slot without a value."""
    parts: list[Literal | Slot] = []
    for part in template.parts:
        if isinstance(part, Slot) and part.field not in given:
            break
        parts.append(part)
    return Template(tuple(parts))


def _without_idle(schema: Schema) -> Schema:
    """The design without placements and indexes that no pattern reads."""
    read: set[tuple[str, str | None]] = {(p.table, p.index) for p in schema.patterns if p.index}
    read |= {
        (schema.by_entity[name].table, index)
        for name, index in written_through(schema)
        if name in schema.by_entity
    }
    entities = tuple(
        _with_lost_fields(
            replace(
                entity,
                placements=tuple(p for p in entity.placements if (entity.table, p.index) in read),
            )
        )
        for entity in schema.entities
    )
    tables = tuple(
        replace(
            table,
            indexes=tuple(i for i in table.indexes if (table.name, i.name) in read),
        )
        for table in schema.tables
    )
    return replace(schema, tables=tables, entities=entities)


def _with_lost_fields(entity: EntitySchema) -> EntitySchema:
    """The entity with an attribute for each field that was stored in a key which is gone."""
    keys = [entity.key, *(placement.key for placement in entity.placements)]
    held = {field for key in keys if key is not None for field in key.fields}
    attributes = (replace(a, in_key=a.in_key and a.field in held) for a in entity.attributes)
    return replace(entity, attributes=tuple(attributes))
