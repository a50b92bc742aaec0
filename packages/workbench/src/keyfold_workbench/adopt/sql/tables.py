"""CREATE TABLE statements as data: columns, keys, references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from keyfold.errors import KeyfoldError


@dataclass(frozen=True)
class SqlColumn:
    """A column, with its type as in a design file."""

    name: str
    type: str
    required: bool
    values: tuple[str, ...] = ()


@dataclass
class SqlTable:
    """A table of a relational schema."""

    name: str
    columns: dict[str, SqlColumn] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    uniques: list[tuple[str, ...]] = field(default_factory=list)
    references: dict[str, str] = field(default_factory=dict)
    """The table that a column refers to."""


_TYPES: dict[Any, str] = {
    **dict.fromkeys(exp.DataType.NUMERIC_TYPES, "number"),
    **dict.fromkeys(exp.DataType.TEMPORAL_TYPES, "timestamp"),
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.UUID: "id",
    exp.DataType.Type.JSON: "map",
    exp.DataType.Type.JSONB: "map",
    exp.DataType.Type.ARRAY: "list",
    exp.DataType.Type.BINARY: "binary",
    exp.DataType.Type.VARBINARY: "binary",
    exp.DataType.Type.BLOB: "binary",
}


def field_name(column: str) -> str:
    """A column's name in a design file."""
    return re.sub(r"\W+", "_", column).strip("_") or "column"


def read_statements(text: str, dialect: str) -> list[exp.Expr]:
    """The statements of a text; errors name the line and column."""
    if dialect not in sqlglot.Dialect.classes:
        known = ", ".join(sorted(name for name in sqlglot.Dialect.classes if name))
        raise KeyfoldError(f"unknown SQL dialect {dialect!r}; use one of {known}")
    try:
        return [one for one in sqlglot.parse(text, read=dialect) if one is not None]
    except SqlglotError as problem:
        found = getattr(problem, "errors", None) or [{}]
        place = f"line {found[0].get('line', '?')}, column {found[0].get('col', '?')}: "
        words = found[0].get("description") or str(problem)
        raise KeyfoldError(f"the SQL cannot be read: {place}{words}") from None


def read_tables(ddl: str, dialect: str) -> dict[str, SqlTable]:
    """The tables of CREATE TABLE and ALTER TABLE statements, by name."""
    found: dict[str, SqlTable] = {}
    for statement in read_statements(ddl, dialect):
        if isinstance(statement, exp.Create) and statement.kind == "TABLE":
            table = _table(statement)
            found[table.name] = table
        elif isinstance(statement, exp.Alter) and statement.this.name in found:
            for action in statement.args.get("actions") or ():
                _constrain(found[statement.this.name], action)
    if not found:
        raise KeyfoldError("the SQL has no CREATE TABLE statement; give the schema's DDL")
    return found


def _table(statement: exp.Create) -> SqlTable:
    body = statement.this
    table = SqlTable(body.find(exp.Table).name if not isinstance(body, exp.Table) else body.name)
    for part in body.expressions if isinstance(body, exp.Schema) else ():
        if isinstance(part, exp.ColumnDef):
            _column(table, part)
        else:
            _constrain(table, part)
    return table


def _column(table: SqlTable, part: exp.ColumnDef) -> None:
    kinds = [one.kind for one in part.constraints]
    is_key = any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds)
    not_null = any(
        isinstance(kind, exp.NotNullColumnConstraint) and not kind.args.get("allow_null")
        for kind in kinds
    )
    type_ = part.args.get("kind")
    values = _enum_values(type_)
    name = field_name(part.name)
    if is_key:
        table.primary_key = (name,)
    if any(isinstance(kind, exp.UniqueColumnConstraint) for kind in kinds):
        table.uniques.append((name,))
    for kind in kinds:
        if isinstance(kind, exp.Reference):
            table.references[name] = _referenced_table(kind)
        if isinstance(kind, exp.CheckColumnConstraint):
            values = values or _allowed_values(kind, name)
    table.columns[name] = SqlColumn(name, _type(type_), is_key or not_null, values)


def _constrain(table: SqlTable, part: exp.Expr) -> None:
    for key in part.find_all(exp.PrimaryKey):
        table.primary_key = tuple(_names(key.expressions))
    for foreign in part.find_all(exp.ForeignKey):
        reference = foreign.args.get("reference")
        for name in _names(foreign.expressions):
            if isinstance(reference, exp.Reference):
                table.references[name] = _referenced_table(reference)
    for unique in part.find_all(exp.UniqueColumnConstraint):
        if isinstance(unique.this, exp.Schema):
            table.uniques.append(tuple(_names(unique.this.expressions)))


def _names(parts: list[exp.Expr]) -> Iterator[str]:
    for part in parts:
        yield field_name(part.name or part.this.name)


def _referenced_table(reference: exp.Reference) -> str:
    table = reference.find(exp.Table)
    return table.name if table is not None else ""


def _enum_values(type_: exp.Expr | None) -> tuple[str, ...]:
    if not isinstance(type_, exp.DataType) or type_.this != exp.DataType.Type.ENUM:
        return ()
    return tuple(one.name for one in type_.expressions)


def _allowed_values(check: exp.CheckColumnConstraint, name: str) -> tuple[str, ...]:
    """The values of CHECK (name IN ('a', 'b'))."""
    listed = check.find(exp.In)
    if listed is None or field_name(listed.this.name) != name:
        return ()
    return tuple(one.name for one in listed.expressions if isinstance(one, exp.Literal))


def _type(type_: exp.Expr | None) -> str:
    if not isinstance(type_, exp.DataType):
        return "string"
    return _TYPES.get(type_.this, "string")
