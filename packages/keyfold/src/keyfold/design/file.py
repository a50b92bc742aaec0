"""Design files: a whole design in YAML, read and written.

Needs PyYAML (the extra `review`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from keyfold.design import records, shorthand
from keyfold.design.change import Statement
from keyfold.design.consequence_words import with_follows
from keyfold.design.key_nodes import (
    index_attributes,
    key_attributes,
    key_templates,
    placements,
    plain_placements,
)
from keyfold.design.nodes import Node, compose
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    PatternSchema,
    Schema,
    SearchSchema,
    SortCondition,
    StepSchema,
    TableSchema,
    TtlSchema,
)
from keyfold.design.yaml_text import DesignFileError as DesignFileError
from keyfold.design.yaml_writer import dump, dumps
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold.settings import nearest

KINDS = ("get", "query", "collection", "merge", "latest", "count", "exists", "scan")
_Also = dict[str, Callable[[Node], dict[str, Any]]]


def load(path: str | Path) -> Schema:
    """Read a design file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise KeyfoldError(f"{path}: the design file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KeyfoldError(f"{path}: the design file is not UTF-8 text") from None
    return loads(text, file=str(path))


def loads(text: str, *, file: str = "design.yaml") -> Schema:
    """Read a design from YAML text."""
    root = compose(text, file)
    if "design" not in dict(records.fields(Schema, root, _WORDS)):
        root.refuse("the design file has no name; add a line such as design: orders")
    return _schema(root)


def _schema(value: Node) -> Schema:
    parts = dict(records.fields(Schema, value, _WORDS))
    named = records.named(parts.get("tables"), _table)
    tables = named or (TableSchema("main", place=value.place),)
    reader = _Reader(tables)
    entities = records.named(parts.get("entities"), reader.entity)
    if not named:
        # An undeclared table gets the attributes that its entities need.
        expiring = next((e.ttl.attribute for e in entities if e.ttl is not None), None)
        tables = (replace(tables[0], ttl=expiring),)
    reader.entities = {entity.name: entity for entity in entities}
    own: _Also = {
        "$schema": _elsewhere,
        "design": lambda v: {"name": v.name("the design's name")},
        "tables": _elsewhere,
        "entities": _elsewhere,
        "patterns": lambda v: {"patterns": records.named(v, reader.pattern)},
        "searches": lambda v: {"searches": records.named(v, reader.search)},
        "stated": lambda v: {"stated": tuple(_statements(v))},
        "before": lambda v: {"before": _schema(v)},
        "observed": lambda v: {"observed": _schema(v)},
    }
    stated = records.read(Schema, value, also=own)
    return with_follows(Schema(**{"name": "", **stated, "tables": tables, "entities": entities}))


_WORDS = ("$schema", "design")


def _elsewhere(_: Node) -> dict[str, Any]:
    """A word that was already read, because others depend on it."""
    return {}


def _statements(value: Node) -> Iterator[Statement]:
    for name, inner in value.items("figures by what they are about"):
        yield Statement(name.text("a subject"), inner.text("a figure"), place=name.place)


def _table(name: str, value: Node) -> TableSchema:
    own: _Also = {
        "key": key_attributes,
        "indexes": lambda v: {"indexes": records.named(v, _index)},
    }
    stated = records.read(TableSchema, value, also=own)
    return TableSchema(**{**stated, "name": name})


def _index(name: str, value: Node) -> Index:
    stated = {**records.read(Index, value, also={"key": index_attributes}), "name": name}
    if "partition" not in stated:
        value.refuse(f"the index {name} needs its key attributes, as key: [GSI1PK, GSI1SK]")
    built: Index = records.build(Index, stated, value)
    return built


class _Reader:
    """Reads the parts that depend on the tables: entities and patterns."""

    def __init__(self, tables: tuple[TableSchema, ...]) -> None:
        self.tables = {table.name: table for table in tables}
        self.entities: dict[str, EntitySchema] = {}

    def _table_of(self, value: Node) -> TableSchema:
        for name, inner in value.items("fields"):
            if name.text("a field") == "table":
                wanted = inner.text("a table's name")
                if wanted not in self.tables:
                    inner.refuse(f"unknown table {wanted!r}; {nearest(wanted, self.tables)}")
                return self.tables[wanted]
        if len(self.tables) > 1:
            value.refuse(f"add the table, one of: {', '.join(self.tables)}")
        return next(iter(self.tables.values()))

    def entity(self, name: str, value: Node) -> EntitySchema:
        records.fields(EntitySchema, value, ("indexes",))
        table = self._table_of(value)
        own: _Also = {
            "key": lambda v: {"key": key_templates(v, table.partition, table.sort)},
            "attributes": lambda v: {"attributes": _attributes(v)},
            "indexes": lambda v: {"placements": placements(v, table)},
            "ttl": lambda v: {"ttl": _ttl(v, table)},
        }
        stated = {**records.read(EntitySchema, value, also=own), "name": name, "table": table.name}
        read = EntitySchema(**{"key": None, **stated})
        return replace(read, placements=(*read.placements, *plain_placements(read, table)))

    def pattern(self, name: str, value: Node) -> PatternSchema:
        kinds: _Also = {kind: partial(_verb, kind) for kind in KINDS}
        own: _Also = {
            **kinds,
            "partition": _partitions,
            "limit": _limit,
            "where": lambda v: {"where": v},
            "condition": lambda v: {"condition": _condition(v)},
            "table": _elsewhere,
        }
        stated = {**records.read(PatternSchema, value, also=own), "name": name}
        if "kind" not in stated:
            value.refuse(f"the pattern {name!r} needs one of {', '.join(KINDS)} with its entities")
        table = self._pattern_table(stated, value)
        where = stated.pop("where", None)
        if where is not None:
            self._known_index(table, value)
            stated.update(_where(where, table, stated.get("index")))
        stated["table"] = table.name
        built: PatternSchema = records.build(PatternSchema, stated, value)
        return built

    def _known_index(self, table: TableSchema, value: Node) -> None:
        """A condition on index keys requires the index."""
        names = [index.name for index in table.indexes]
        for name, inner in value.items("fields"):
            wanted = inner.text("an index") if name.text("a field") == "index" else None
            if wanted is not None and wanted not in names:
                known = nearest(wanted, names) if names else "declare it with the table"
                inner.refuse(f"the table {table.name} has no index {wanted!r}; {known}")

    def search(self, name: str, value: Node) -> SearchSchema:
        stated = {**records.read(SearchSchema, value, also={"table": _elsewhere}), "name": name}
        entity = self.entities.get(stated.get("entity", ""))
        stated["table"] = entity.table if entity is not None else self._table_of(value).name
        built: SearchSchema = records.build(SearchSchema, stated, value)
        vectors = [vector.name for vector in self.tables[built.table].vectors]
        if built.index not in vectors:
            value.refuse(
                f"the table {built.table} has no vector index {built.index!r}; "
                f"{nearest(built.index, vectors)}"
            )
        return built

    def _pattern_table(self, stated: dict[str, Any], value: Node) -> TableSchema:
        spelled = any(n.text("a field") == "table" for n, _ in value.items("fields"))
        for name in () if spelled else stated["entities"]:
            if name in self.entities:
                return self.tables[self.entities[name].table]
        return self._table_of(value)


def _verb(kind: str, value: Node) -> dict[str, Any]:
    names = [v.name("an entity's name") for v in value.elements("entities")]
    if not names:
        value.refuse(f"{kind} needs the entities that it reads, or everything")
    found = tuple(part.strip() for name in names for part in name.split(",") if part.strip())
    return {"kind": kind, "entities": () if found == ("everything",) else found}


def _limit(value: Node) -> dict[str, Any]:
    text = "" if value.is_value else value.text("a number or a parameter")
    if text.isidentifier():
        return {"limit_parameter": text}
    number = value.scalar("a number or a parameter")
    if type(number) is not int or number < 1:
        value.refuse(f"limit must be 1 or more, or the name of a parameter, found {value.kind}")
    return {"limit": number}


def _partitions(value: Node) -> dict[str, Any]:
    first, *others = [records.template(v) for v in value.elements("partition keys")] or [
        records.template(value)
    ]
    return {"partition": first, "other_partitions": tuple(others)}


def _condition(value: Node) -> SortCondition:
    if value.is_mapping:
        built: SortCondition = records.build(
            SortCondition, records.read(SortCondition, value), value
        )
        return built
    text = value.text("a condition such as: SK begins_with MEMBER#")
    found = _clause(value, text)
    if found is None:
        value.refuse(
            f"{text!r} is not a key condition; write SK = X, SK begins_with X, SK > X, SK >= X, "
            "SK < X, SK <= X or SK between X and Y"
        )
    return found[1]


def _clause(value: Node, text: str) -> tuple[str, SortCondition] | None:
    try:
        return shorthand.condition(text)
    except DeclarationError as error:
        value.refuse(f"{error.message} {error.suggestion}")


def _where(value: Node, table: TableSchema, index: str | None) -> dict[str, Any]:
    """`PK=ROOM#<roomId>, SK begins_with MEMBER#`, as a document writes it."""
    owner = (table.index(index) if index else None) or table
    partition, sort = owner.partition, owner.sort
    if isinstance(owner, Index) and owner.has_several:
        value.refuse(
            f"{owner.name} is keyed by several attributes; write partition: apart "
            f"{{{'}, {'.join(owner.partition_types)}}} and condition: instead of where:"
        )
    stated: dict[str, Any] = {}
    for text in shorthand.clauses(value.name("a key condition")):
        clause = _clause(value, text)
        if clause is None:
            value.refuse(
                f"{text!r} is not a key condition; write {partition} = X, and the sort key with "
                "one of =, <, <=, >, >=, begins_with X, between X and Y"
            )
        name, asked = clause
        if name == partition and asked.operator == "eq":
            stated["partition"] = asked.template
        elif name == sort:
            stated["condition"] = asked
        elif name == partition:
            value.refuse(f"{text!r} is a range; give the whole partition key: {partition} = X")
        else:
            known = owner.key_attributes
            value.refuse(f"{text!r} is not about {' or '.join(known)}; {nearest(name, known)}")
    return stated


def _attributes(value: Node) -> tuple[AttributeSchema, ...]:
    found = []
    for name, inner in value.items("attributes with their types"):
        field = name.filled("an attribute")
        if inner.is_nothing:
            name.refuse(
                f"{field} has no type; write {field}: string. Inside braces, quote a type that "
                f'has a comma: "string one of a, b"'
            )
        if inner.is_mapping:
            own: _Also = {"states": _states, "type": _type}
            stated = {"name": field, **records.read(AttributeSchema, inner, also=own)}
            stated["field"] = field
            found.append(records.build(AttributeSchema, stated, inner))
            continue
        first, *others = [_attribute(field, each) for each in inner.elements("types")] or [
            _attribute(field, inner)
        ]
        found.append(replace(first, also=tuple(other.type for other in others)))
    return tuple(found)


def _type(value: Node) -> dict[str, Any]:
    word = value.text("a type")
    if word not in shorthand.TYPES:
        value.refuse(_no_type(word))
    return {"type": word}


def _states(value: Node) -> dict[str, Any]:
    """`{new: [paid, void], paid: {sent: ship}}`: the transitions, and the operations that make
    them.
    """
    steps: list[StepSchema] = []
    for name, inner in value.items("states with those that follow"):
        before = name.text("a state")
        if inner.is_mapping:
            steps += [
                StepSchema(before, after.text("a state"), by.text("what makes the step"))
                for after, by in inner.items("states with what makes the step")
            ]
        elif not inner.is_nothing:
            steps += [StepSchema(before, one.text("a state")) for one in inner.elements("states")]
    return {"states": tuple(steps)}


def _attribute(field: str, value: Node) -> AttributeSchema:
    read = shorthand.attribute(field, value.text("a type"))
    if isinstance(read, str):
        value.refuse(_no_type(read) if read.isidentifier() else read)
    return read


def _no_type(word: str) -> str:
    return f"{word!r} is not a type; {nearest(word, shorthand.TYPES)}"


def _ttl(value: Node, table: TableSchema) -> dict[str, Any] | TtlSchema:
    if value.is_mapping:
        built: TtlSchema = records.build(
            TtlSchema, {"attribute": "ttl", **records.read(TtlSchema, value)}, value
        )
        return built
    number, _, unit = value.text("a time such as: 90 days").partition(" ")
    if not number.replace(".", "", 1).isdigit() or unit not in ("day", "days"):
        value.refuse("ttl must be a time such as: 90 days, or a mapping with its attribute")
    return TtlSchema(table.ttl or "ttl", days=float(number))


__all__ = ["DesignFileError", "dump", "dumps", "load", "loads"]
