"""Least-privilege permissions: of the application, of a read-only caller, and of each consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from keyfold.design.schema import EntitySchema, Schema, TableSchema
from keyfold.streams.support_table import TABLE as SUPPORT
from keyfold_workbench.infra.plan import Stack, StreamFunction

Statement = dict[str, Any]
Arn = Callable[[TableSchema, str], Any]
"""The ARN of a table; the second part is nothing, `index/NAME`, `stream`, or `stream/*` for all."""
Place = tuple[str, str | None]
"""A table, and an index of it or nothing."""

CHANGES = ("put", "update", "delete")


def application(made: Stack, arn: Arn) -> list[Statement]:
    """The calls of the design's patterns and writes."""
    schema = made.schema
    gets, queries, scans = _read(schema)
    # A write reads its item first if copies or versions depend on it.
    gets |= {(table.name, None) for table in schema.tables if schema.entities_of(table.name)}
    queries |= _cascade_places(schema)
    written = [table.name for table in schema.tables]
    found = _reading(made, arn, gets, queries, scans)
    return [*found, _statement(made, arn, "Write", _writes(schema), _bases(written))]


def reader(made: Stack, arn: Arn) -> list[Statement]:
    """The reads of the patterns: items and ranges of the tables and indexes they name."""
    return _reading(made, arn, *_read(made.schema))


def consumer(made: Stack, of: StreamFunction, arn: Arn) -> list[Statement]:
    """The calls of one consumer: its stream, its items, its own records."""
    schema = made.schema
    touched = _entities_written(schema, of)
    # Events wait for their sinks in the support table.
    queries: set[Place] = {(name, None) for name in (*touched, SUPPORT.name)}
    queries |= {(t.name, i.name) for t in schema.tables if t.name in touched for i in t.indexes}
    stream = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
    single = ["BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "DeleteItem", "GetItem"]
    single += ["PutItem", "UpdateItem"]
    kept = _bases((*touched, SUPPORT.name))
    return [
        _statement(made, arn, "Start", ["DescribeTable"], _bases([SUPPORT.name])),
        {
            "Sid": "Stream",
            "Effect": "Allow",
            "Action": stream,
            "Resource": [arn(of.table, "stream")],
        },
        {
            # A mapping cannot be created without it.
            "Sid": "Streams",
            "Effect": "Allow",
            "Action": ["dynamodb:ListStreams"],
            "Resource": [arn(of.table, "stream/*")],
        },
        _statement(made, arn, "Keep", single, kept),
        _statement(made, arn, "Find", ["Query"], queries),
    ]


def _reading(
    made: Stack, arn: Arn, gets: set[Place], queries: set[Place], scans: set[Place]
) -> list[Statement]:
    searches: set[Place] = {(one.table, one.index) for one in made.schema.searches}
    named = (
        ("Get", ["BatchGetItem", "GetItem"], gets),
        ("Query", ["Query"], queries),
        ("Scan", ["Scan"], scans),
        ("Search", ["SearchVectors"], searches),
    )
    return [_statement(made, arn, sid, what, places) for sid, what, places in named if places]


def _statement(
    made: Stack, arn: Arn, sid: str, actions: list[str], places: Iterable[Place]
) -> Statement:
    tables = {table.name: table for table in made.tables}
    known = [place for place in places if place[0] in tables]
    ordered = sorted(known, key=lambda place: (place[0], place[1] or ""))
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": [arn(tables[n], f"index/{index}" if index else "") for n, index in ordered],
    }


def _bases(names: Iterable[str]) -> set[Place]:
    return {(name, None) for name in names}


def _read(schema: Schema) -> tuple[set[Place], set[Place], set[Place]]:
    """Where patterns and feeds get, query and scan."""
    gets: set[Place] = set()
    queries: set[Place] = set()
    scans: set[Place] = set()
    for pattern in schema.patterns:
        into = scans if pattern.kind == "scan" else queries
        if pattern.kind == "get" and pattern.index is None:
            into = gets
        into.add((pattern.table, pattern.index))
    for feed in schema.feeds:
        named = (feed.post, feed.item, feed.flag, feed.edge, *feed.edges)
        homes = {schema.by_entity[n].table for n in named if n in schema.by_entity}
        queries |= _bases(homes)
        gets |= _bases(homes)
        edges = (schema.by_entity[n] for n in (feed.edge, *feed.edges) if n in schema.by_entity)
        queries |= {(one.table, index) for one in edges for index in feed.listed_on}
    return gets, queries, scans


def _cascade_places(schema: Schema) -> set[Place]:
    """Where a write looks for dependent items, in its own transaction."""
    return {
        (schema.by_entity[each.target].table, each.found or None)
        for each in schema.follows
        if each.fact == "job" and each.joins and each.target in schema.by_entity
    }


def _writes(schema: Schema) -> list[str]:
    actions = {effect.action for operation in schema.operations for effect in operation.effects}
    whole = not actions or any(_is_kept(schema, entity) for entity in schema.entities)
    asked = {*CHANGES, *actions} if whole else actions
    found = {"ConditionCheckItem"}
    if whole:
        found.add("BatchWriteItem")
    if asked & {"put", "create"}:
        found.add("PutItem")
    # A put over an existing item is an update, which keeps undeclared attributes.
    if asked & {"put", "update", "increment", "decrement"}:
        found.add("UpdateItem")
    if "delete" in asked:
        found.add("DeleteItem")
    return sorted(found)


def _is_kept(schema: Schema, entity: EntitySchema) -> bool:
    """Whether writes of an entity write more than its own item."""
    return any(each.source == entity.name and each.joins for each in schema.follows)


def _entities_written(schema: Schema, of: StreamFunction) -> list[str]:
    """The tables that a consumer reads and writes: a processor may use any."""
    mine = [c for c in schema.consumers if c.name in of.keeps]
    if any(not each.effects for each in mine):
        return [table.name for table in schema.tables]
    names = {effect.entity for each in mine for effect in each.effects}
    names |= {each.target or each.source for each in schema.follows if each.name in of.keeps}
    for feed in schema.feeds:
        names |= {feed.item, feed.edge, feed.flag, *feed.edges} if feed.name in of.keeps else set()
    homes = {schema.by_entity[name].table for name in names if name in schema.by_entity}
    return [t.name for t in schema.tables if t.name in homes | {of.table.name}]
