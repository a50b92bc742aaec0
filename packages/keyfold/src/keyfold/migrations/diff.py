"""Differences between two schemas, in words, and what they require."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    Schema,
    TableSchema,
    VectorSchema,
)
from keyfold.migrations.schema_change import ChangeKind, SchemaChange
from keyfold.migrations.structure_diff import condition_words, diff_structures
from keyfold_engine.expressions.text import condition_text


def diff(before: Schema, after: Schema) -> list[SchemaChange]:
    """All differences of tables, entities and consequences, tables first."""
    entities = list(_entities(before, after))
    tables = [*diff_tables(before, after)]
    return [*tables, *entities, *diff_structures(before, after, entities)]


def diff_tables(before: Schema, after: Schema) -> list[SchemaChange]:
    """Differences that DescribeTable can show, for live tables."""
    return list(_tables(before, after))


def lacking(expected: TableSchema, live: TableSchema) -> list[SchemaChange]:
    """What a live table does not have of an expected one: its key, and its indexes."""
    kinds = ("table key changed", "index changed", "index removed")
    both = (Schema("", (one,)) for one in (expected, live))
    return [change for change in diff_tables(*both) if change.kind in kinds]


def _tables(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    for name, new in after.by_table.items():
        old = before.by_table.get(name)
        if old is None:
            keys = " / ".join(new.key_attributes)
            count = len(new.indexes)
            words = f"the table {name} is new ({keys}, {count} index{'es' * (count != 1)})"
            yield SchemaChange("table added", name, words, None, new)
            continue
        if _key(old) != _key(new):
            words = f"the key of {name} changes from {_words_of(old)} to {_words_of(new)}"
            yield SchemaChange("table key changed", name, words, old, new)
            continue
        yield from _indexes(old, new)
        if old.ttl != new.ttl:
            was, now = old.ttl or "none", new.ttl or "none"
            words = f"the TTL attribute of {name} changes from {was} to {now}"
            yield SchemaChange("ttl changed", name, words, old, new, new.ttl or "")
        if old.stream != new.stream:
            words = (
                f"the stream of {name} changes from {old.stream or 'off'} to {new.stream or 'off'}"
            )
            yield SchemaChange("stream changed", name, words, old, new)
    for name, old in before.by_table.items():
        if name not in after.by_table:
            yield SchemaChange("table removed", name, f"the table {name} is removed", old)


def _key(table: TableSchema) -> tuple[object, ...]:
    sort = (table.sort, table.sort_type) if table.sort else ()
    return (table.partition, table.partition_type, *sort)


def _words_of(table: TableSchema) -> str:
    return " / ".join(table.key_attributes)


_OF_INDEXES: Final[dict[str, tuple[ChangeKind, ChangeKind, ChangeKind]]] = {
    "index": ("index added", "index changed", "index removed"),
    "vector index": ("vector added", "vector changed", "vector removed"),
}


def _indexes(old: TableSchema, new: TableSchema) -> Iterator[SchemaChange]:
    """Indexes and vector indexes, by name."""
    for called, (added, changed, removed) in _OF_INDEXES.items():
        sides = [one.indexes if called == "index" else one.vectors for one in (old, new)]
        was, now = ({one.name: one for one in side} for side in sides)
        for name, one in now.items():
            if name not in was:
                words = f"{new.name} has a new {called} {name}"
                yield SchemaChange(added, new.name, words, None, one)
            elif _shape(was[name]) != _shape(one):
                words = f"the {called} {name} of {new.name} changes"
                yield SchemaChange(changed, new.name, words, was[name], one)
        for name, one in was.items():
            if name not in now:
                words = f"{new.name} no longer has the {called} {name}"
                yield SchemaChange(removed, new.name, words, one)


def _shape(index: Index | VectorSchema) -> object:
    if isinstance(index, VectorSchema):
        return index
    sort = (index.sort, index.sort_type) if index.sort else ()
    included = tuple(sorted(index.included))
    return (index.partition, index.partition_type, *sort, index.projection, included, index.local)


def _entities(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    copies, copied = _copies(after), _copies(before)
    renamed = dict(_find_renames(before, after))
    for name, new in after.by_entity.items():
        old = before.by_entity.get(name)
        was = renamed.get(name)
        if was is not None:
            words = f"{was.name} is renamed to {name}"
            yield SchemaChange("entity renamed", name, words, was, new)
            old = was
        if old is None:
            kind: ChangeKind = "pointer added" if name in copies else "entity added"
            words = f"{name} is new, in {new.table}"
            yield SchemaChange(kind, name, words, None, new, copies.get(name, ""))
            continue
        if old.table != new.table:
            words = f"{name} moves from {old.table} to {new.table}"
            yield SchemaChange("entity moved", name, words, old, new)
        elif str(old.key) != str(new.key):
            words = f"the key of {name} changes from {old.key} to {new.key}"
            yield SchemaChange("entity re-keyed", name, words, old, new)
        else:
            yield from _places(old, new)
            table = after.by_table.get(new.table)
            if table and table.type_attribute and _type_name(old) != _type_name(new):
                words = (
                    f"the type of {name} items changes from {_type_name(old)} to {_type_name(new)}"
                )
                yield SchemaChange("type name changed", name, words, old, new)
        yield from _attributes(old, new, _index_attributes(new, after.by_table.get(new.table)))
    gone = {was.name for was in renamed.values()}
    for name, old in before.by_entity.items():
        if name not in after.by_entity and name not in gone:
            words = f"{name} is removed from {old.table}"
            yield SchemaChange("entity removed", name, words, old, None, copied.get(name, ""))


def _find_renames(before: Schema, after: Schema) -> Iterator[tuple[str, EntitySchema]]:
    """Entities that were renamed in Python."""
    for new in after.entities:
        for old in before.entities:
            if new.name in before.by_entity or old.name in after.by_entity:
                continue
            table = after.by_table.get(new.table)
            named = table is not None and table.type_attribute is not None
            alike = not named or _type_name(old) == _type_name(new)
            if alike and old.table == new.table and str(old.key) == str(new.key):
                yield new.name, old
                break


def _type_name(entity: EntitySchema) -> str:
    return entity.type_name or entity.name


def _copies(schema: Schema) -> dict[str, str]:
    """The entities that are copies, with their canonicals."""
    return {each.target: each.source for each in schema.follows if each.fact == "copy"}


def _places(old: EntitySchema, new: EntitySchema) -> Iterator[SchemaChange]:
    for index in sorted({p.index for p in (*old.placements, *new.placements)}):
        before, after = _keys(old, index), _keys(new, index)
        if before == after:
            continue
        if not after:
            words = f"items of {new.name} are no longer in {index}"
        elif {key for key, _ in before} != {key for key, _ in after}:
            words = f"the keys of {new.name} in {index} change"
        else:
            words = f"items of {new.name} are in {index} {_when(after)} (before: {_when(before)})"
        yield SchemaChange("index keys changed", new.name, words, old, new, index)


def _keys(entity: EntitySchema, index: str) -> list[tuple[str, str]]:
    """The keys of an entity in an index, each with its condition."""
    places = entity.placement(index)
    return sorted((str(p.key), "" if p.when is None else condition_text(p.when)) for p in places)


def _when(keys: list[tuple[str, str]]) -> str:
    return " and ".join(condition_words(text) for _, text in keys)


def _index_attributes(entity: EntitySchema, table: TableSchema | None) -> set[str]:
    """The attributes that hold an entity's index keys, even if they are not fields."""
    indexes = [table.index(p.index) for p in entity.placements] if table else []
    return {name for index in indexes if index for name in index.key_attributes}


def _attributes(old: EntitySchema, new: EntitySchema, placed: set[str]) -> Iterator[SchemaChange]:
    before = {a.name: a for a in old.attributes if a.is_stored}
    after = {a.name: a for a in new.attributes if a.is_stored}
    for name, attribute in after.items():
        found = before.get(name)
        if found is None:
            need = "may have" if attribute.optional else "has"
            words = f"{new.name} {need} the attribute {name}"
            yield SchemaChange("attribute added", new.name, words, old, new, name)
        elif (found.type, found.stored) != (attribute.type, attribute.stored):
            words = (
                f"{name} of {new.name} changes from {found.type}{_in(found.stored)} "
                f"to {attribute.type}{_in(attribute.stored)}"
            )
            yield SchemaChange("attribute changed", new.name, words, old, new, name)
        elif {(s.before, s.after) for s in found.states} != {
            (s.before, s.after) for s in attribute.states
        }:
            words = f"the transitions of {name} of {new.name} change: {_steps(found, attribute)}"
            yield SchemaChange("states changed", new.name, words, old, new, name)
    for name in sorted(before.keys() - after.keys() - placed):
        words = f"{new.name} no longer has the attribute {name}"
        yield SchemaChange("attribute removed", new.name, words, old, new, name)


def _steps(old: AttributeSchema, new: AttributeSchema) -> str:
    was, now = ({(s.before, s.after) for s in one.states} for one in (old, new))
    added = [f"{a} to {b} is new" for a, b in sorted(now - was)]
    return ", ".join(added + [f"{a} to {b} is removed" for a, b in sorted(was - now)])


def _in(stored: str) -> str:
    return f" as {stored}" if stored else ""
