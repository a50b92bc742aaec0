"""What changed between two schemas, in words, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema

ChangeKind = Literal[
    "table added",
    "table removed",
    "table key changed",
    "index added",
    "index removed",
    "index changed",
    "ttl changed",
    "stream changed",
    "entity added",
    "entity removed",
    "entity moved",
    "entity re-keyed",
    "attribute added",
    "attribute removed",
    "attribute changed",
    "index keys changed",
    "unique added",
    "pointer added",
    "counter added",
]


MOVES: tuple[ChangeKind, ...] = ("entity moved", "entity re-keyed")


@dataclass(frozen=True)
class SchemaChange:
    """One difference. `old` and `new` are the tables, indexes or entities concerned."""

    kind: ChangeKind
    subject: str
    words: str
    old: TableSchema | Index | EntitySchema | None = None
    new: TableSchema | Index | EntitySchema | None = None
    detail: str = ""

    def __str__(self) -> str:
        return self.words


def diff(before: Schema, after: Schema) -> list[SchemaChange]:
    """All differences of tables, entities and counters, tables first."""
    entities = list(_entities(before, after))
    return [*diff_tables(before, after), *entities, *_counters(before, after, entities)]


def diff_tables(before: Schema, after: Schema) -> list[SchemaChange]:
    """Differences that DescribeTable can show; live tables are compared by this."""
    return list(_tables(before, after))


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
            words = f"the key of {name} changes from {_shown(old)} to {_shown(new)}"
            yield SchemaChange("table key changed", name, words, old, new)
            continue
        yield from _indexes(old, new)
        if old.ttl != new.ttl:
            words = f"items of {name} expire by {new.ttl or 'nothing'}, before by "
            yield SchemaChange(
                "ttl changed", name, words + (old.ttl or "nothing"), old, new, new.ttl or ""
            )
        if old.stream != new.stream:
            words = f"the stream of {name} is {new.stream or 'closed'}, before "
            yield SchemaChange("stream changed", name, words + (old.stream or "closed"), old, new)
    for name, old in before.by_table.items():
        if name not in after.by_table:
            yield SchemaChange("table removed", name, f"the table {name} is gone", old)


def _key(table: TableSchema) -> tuple[object, ...]:
    sort = (table.sort, table.sort_type) if table.sort else ()
    return (table.partition, table.partition_type, *sort)


def _shown(table: TableSchema) -> str:
    return " / ".join(table.key_attributes)


def _indexes(old: TableSchema, new: TableSchema) -> Iterator[SchemaChange]:
    table = new.name
    for index in new.indexes:
        found = old.index(index.name)
        if found is None:
            words = f"{table} has a new index {index.name}"
            yield SchemaChange("index added", table, words, None, index)
        elif _shape(found) != _shape(index):
            words = f"the index {index.name} of {table} is another one now"
            yield SchemaChange("index changed", table, words, found, index)
    for index in old.indexes:
        if new.index(index.name) is None:
            words = f"{table} loses the index {index.name}"
            yield SchemaChange("index removed", table, words, index)


def _shape(index: Index) -> tuple[object, ...]:
    sort = (index.sort, index.sort_type) if index.sort else ()
    included = tuple(sorted(index.included))
    return (index.partition, index.partition_type, *sort, index.projection, included, index.local)


def _entities(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    for name, new in after.by_entity.items():
        old = before.by_entity.get(name)
        if old is None:
            kind: ChangeKind = "pointer added" if new.role == "pointer" else "entity added"
            yield SchemaChange(kind, name, f"{name} is new, in {new.table}", None, new)
            continue
        if old.table != new.table:
            words = f"{name} moves from {old.table} to {new.table}"
            yield SchemaChange("entity moved", name, words, old, new)
        elif str(old.key) != str(new.key):
            words = f"{name} has the key {new.key}, before {old.key}"
            yield SchemaChange("entity re-keyed", name, words, old, new)
        else:
            yield from _places(old, new)
        yield from _attributes(old, new, _placed(new, after.by_table.get(new.table)))
        for unique in new.uniques:
            if unique.fields not in [u.fields for u in old.uniques]:
                words = f"{' + '.join(unique.fields)} of {name} is unique now"
                yield SchemaChange("unique added", name, words, old, new)
    for name, old in before.by_entity.items():
        if name not in after.by_entity:
            yield SchemaChange("entity removed", name, f"{name} is gone from {old.table}", old)


def _counters(
    before: Schema, after: Schema, entities: list[SchemaChange]
) -> Iterator[SchemaChange]:
    """New counters, and those whose counted items move: copying does not count."""
    known = {counter.name for counter in before.counters}
    moved = {c.subject for c in entities if c.kind in MOVES}
    for counter in after.counters:
        if counter.name not in known:
            words = f"{counter.name} counts {counter.counts}"
        elif counter.counts in moved:
            words = f"{counter.name} is counted again, because {counter.counts} moves"
        else:
            continue
        yield SchemaChange("counter added", counter.target, words, detail=counter.name)


def _places(old: EntitySchema, new: EntitySchema) -> Iterator[SchemaChange]:
    before = {(p.index, str(p.key), p.when) for p in old.placements}
    after = {(p.index, str(p.key), p.when) for p in new.placements}
    for index in sorted({index for index, _, _ in after - before}):
        words = f"items of {new.name} get other keys in {index}"
        yield SchemaChange("index keys changed", new.name, words, old, new, index)


def _placed(entity: EntitySchema, table: TableSchema | None) -> set[str | None]:
    """The attributes that hold an entity's keys in indexes, though they may be no fields."""
    indexes = [table.index(p.index) for p in entity.placements] if table else []
    return {name for index in indexes if index for name in (index.partition, index.sort)}


def _attributes(
    old: EntitySchema, new: EntitySchema, placed: set[str | None]
) -> Iterator[SchemaChange]:
    before = {a.name: a for a in old.attributes}
    after = {a.name: a for a in new.attributes}
    for name, attribute in after.items():
        found = before.get(name)
        if found is None:
            need = "may have" if attribute.optional else "has"
            words = f"{new.name} {need} the attribute {name}"
            yield SchemaChange("attribute added", new.name, words, old, new, name)
        elif (found.type, found.stored) != (attribute.type, attribute.stored):
            words = (
                f"{name} of {new.name} is a {attribute.type}{_in(attribute.stored)}, "
                f"before a {found.type}{_in(found.stored)}"
            )
            yield SchemaChange("attribute changed", new.name, words, old, new, name)
    for name in sorted(before.keys() - after.keys() - placed):
        words = f"{new.name} loses the attribute {name}"
        yield SchemaChange("attribute removed", new.name, words, old, new, name)


def _in(stored: str) -> str:
    return f" as {stored}" if stored else ""
