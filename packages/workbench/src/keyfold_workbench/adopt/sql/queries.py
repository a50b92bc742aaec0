"""SELECT statements as access patterns: which table, by which columns, in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from keyfold_workbench.adopt.sql.tables import SqlTable, field_name, read_statements

_COUNTED = re.compile(r"^\s*(\d+)\t(.+)$")


@dataclass(frozen=True)
class SqlQuery:
    """What a SELECT reads from one table, and how often it runs."""

    text: str
    table: str
    equals: tuple[str, ...] = ()
    ranged: str = ""
    order: str = ""
    descending: bool = False
    limit: int | None = None
    joins: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Columns of conditions that no key can serve: OR, LIKE, functions."""
    calls: int | None = None


def read_queries(text: str, tables: dict[str, SqlTable], dialect: str) -> list[SqlQuery]:
    """The distinct queries of statements or counted lines, most frequent first."""
    found: dict[str, SqlQuery] = {}
    for calls, statement in _counted_statements(text, dialect):
        select = statement.find(exp.Select)
        if select is None or not isinstance(statement, exp.Select):
            continue
        query = _query(statement, calls)
        if query.table in tables:
            found.setdefault(query.text, query)
    return sorted(found.values(), key=lambda one: -(one.calls or 0))


def _counted_statements(text: str, dialect: str) -> Iterator[tuple[int | None, exp.Expr]]:
    plain: list[str] = []
    for line in text.splitlines():
        if counted := _COUNTED.match(line):
            for statement in read_statements(counted[2], dialect):
                yield int(counted[1]), statement
        else:
            plain.append(line)
    for statement in read_statements("\n".join(plain), dialect) if any(plain) else ():
        yield None, statement


def _query(select: exp.Select, calls: int | None) -> SqlQuery:
    source = select.args.get("from_") or select.args.get("from")
    table = source.this.name if source is not None else ""
    equals: list[str] = []
    ranged: list[str] = []
    others: list[str] = []
    where = select.args.get("where")
    for part in where.this.flatten() if where and isinstance(where.this, exp.And) else _only(where):
        column = field_name(part.this.name) if isinstance(part.this, exp.Column) else ""
        if isinstance(part, exp.EQ) and column:
            equals.append(column)
        elif isinstance(part, exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between) and column:
            ranged.append(column)
        else:
            others += [one.name for one in part.find_all(exp.Column)]
    order = select.args.get("order")
    first = order.expressions[0] if order else None
    limit = select.args.get("limit")
    number = limit.expression.name if limit is not None else ""
    return SqlQuery(
        text=select.sql(),
        table=table,
        equals=tuple(dict.fromkeys(equals)),
        ranged=ranged[0] if ranged else "",
        order=field_name(first.this.name) if first is not None else "",
        descending=bool(first is not None and first.args.get("desc")),
        limit=int(number) if number.isdecimal() else None,
        joins=tuple(join.this.name for join in select.args.get("joins") or ()),
        others=tuple(dict.fromkeys([*others, *ranged[1:]])),
        calls=calls,
    )


def _only(where: exp.Expr | None) -> list[exp.Expr]:
    return [where.this] if where is not None else []
