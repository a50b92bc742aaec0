"""A table of a design, as declared in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from keyfold.design import codes, schema
from keyfold.design.declaration import refuse
from keyfold_engine.limits import GLOBAL_INDEXES, INDEX_KEY_ATTRIBUTES, LOCAL_INDEXES

if TYPE_CHECKING:
    from keyfold.design.design import Declarations
    from keyfold.design.entity import Entity


class Table:
    """A table; entities name it in their class line."""

    def __init__(self, design: Declarations, declared: schema.TableSchema, *, camel: bool) -> None:
        self.design = design
        self.schema = declared
        self.camel = camel
        self.entities: list[type[Entity]] = []

    @property
    def name(self) -> str:
        return self.schema.name

    def __repr__(self) -> str:
        return f"Table({self.name!r})"


_KEY_TYPES = get_args(schema.KeyType)
_PROJECTIONS = ("ALL", "KEYS_ONLY", "INCLUDE")
_STREAMS = get_args(schema.StreamView)
_BILLINGS = get_args(schema.Billing)
_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,255}")
_INDEX_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")


def check_table(table: schema.TableSchema) -> None:
    """Refuse what DynamoDB would refuse when the table is created."""
    for message, suggestion in _table_problems(table):
        refuse(codes.TABLE_REFUSED, message, suggestion)


def _table_problems(table: schema.TableSchema) -> Iterator[tuple[str, str]]:
    if not isinstance(table.name, str) or not _TABLE_NAME.fullmatch(table.name):
        yield (
            f"{table.name!r} cannot be the name of a table.",
            "Use letters, digits, _, - and ., up to 255 of them.",
        )
    if table.stream not in (None, *_STREAMS):
        yield (
            f"the table {table.name} has the stream {table.stream!r}.",
            f"Streams are: {', '.join(_STREAMS)}.",
        )
    if table.billing not in _BILLINGS:
        yield (
            f"the table {table.name} has the billing {table.billing!r}.",
            f"Write one of: {', '.join(_BILLINGS)}.",
        )
    if table.ttl is not None and table.ttl in table.key_attributes:
        yield (
            f"the table {table.name} expires items by {table.ttl}, which is part of its key.",
            "Give the moment of expiry an attribute of its own.",
        )
    for index in table.indexes:
        if not isinstance(index, schema.Index):
            yield (
                f"{index!r} is not an index of {table.name}.",
                'Write indexes=[Index("GSI1", "GSI1PK", "GSI1SK")].',
            )
        yield from _index_problems(table, index)
    yield from key_problems(table)
    names = [index.name for index in table.indexes]
    for name in names:
        if names.count(name) > 1:
            refuse(codes.NAME_TAKEN, f"the table {table.name} declares the index {name} twice.")


def _index_problems(table: schema.TableSchema, index: schema.Index) -> Iterator[tuple[str, str]]:
    if not isinstance(index.name, str) or not _INDEX_NAME.fullmatch(index.name):
        yield (
            f"{index.name!r} cannot be the name of an index of {table.name}.",
            "Use letters, digits, _, - and ., from 3 to 255 of them.",
        )
    if index.projection not in _PROJECTIONS:
        yield (
            f"the index {index.name} has the projection {index.projection!r}.",
            'Write "ALL", "KEYS_ONLY", or projection="INCLUDE" with included=("title", ...).',
        )
    if bool(index.included) != (index.projection == "INCLUDE"):
        yield (
            f"the index {index.name} projects {index.projection} and includes "
            f"{', '.join(index.included) or 'no attributes'}.",
            'projection="INCLUDE" and included=("title", ...) go together.',
        )
    for side, names, kinds in (
        ("partition", index.partition, index.partition_type),
        ("sort", index.sort, index.sort_type),
    ):
        several = names if isinstance(names, tuple) else (names,)
        if not 1 <= len(several) <= INDEX_KEY_ATTRIBUTES:
            yield (
                f"the index {index.name} has {len(several)} attributes as its {side} key.",
                f"DynamoDB takes 1 to {INDEX_KEY_ATTRIBUTES}.",
            )
        if len({*several}) != len(several):
            yield (
                f"the index {index.name} has an attribute of its {side} key twice.",
                "Name each attribute once.",
            )
        if isinstance(kinds, tuple) and len(kinds) != len(several):
            yield (
                f"the index {index.name} has {len(several)} {side} attributes and "
                f"{len(kinds)} types for them.",
                f"Give {side}_type one type for all, or one for each.",
            )


def key_problems(table: schema.TableSchema) -> Iterator[tuple[str, str]]:
    """Keys and indexes that DynamoDB refuses, each with what to do."""
    for index in table.indexes:
        yield from _local_problems(table, index)
    for kind, local, most in (("global", False, GLOBAL_INDEXES), ("local", True, LOCAL_INDEXES)):
        found = sum(index.local is local for index in table.indexes)
        if found > most:
            yield (
                f"the table {table.name} has {found} {kind} indexes; DynamoDB takes {most}.",
                "Let several entities share an index under different prefixes.",
            )
    types: dict[str, schema.KeyType] = {}
    owners: list[schema.TableSchema | schema.Index] = [table, *table.indexes]
    for owner in owners:
        twice = owner.partition_types.keys() & owner.sort_types.keys()
        if twice:
            yield (
                f"{owner.name} has {', '.join(sorted(twice))} as partition and as sort key.",
                "Give it two attributes, or sort=None.",
            )
        for attribute, kind in owner.key_types.items():
            if kind not in _KEY_TYPES:
                yield (
                    f"the key attribute {attribute} of {owner.name} has the type {kind!r}.",
                    'Keys are "S" (text), "N" (numbers) or "B" (bytes).',
                )
            if types.setdefault(attribute, kind) != kind:
                yield (
                    f"the key attribute {attribute} is of type {types[attribute]} and, in "
                    f"{owner.name}, of type {kind}.",
                    "An attribute has one type; use another attribute for one of them.",
                )


def _local_problems(table: schema.TableSchema, index: schema.Index) -> Iterator[tuple[str, str]]:
    if not index.local:
        return
    if index.has_several:
        yield (
            f"the local index {index.name} is keyed by {index.key_text}.",
            "Only a global index has several attributes as its key.",
        )
    if index.partition != table.partition or index.sort is None:
        yield (
            f"the local index {index.name} is keyed by {index.partition_text} and {index.sort}.",
            f"A local index has the table's partition key {table.partition}, and a sort key.",
        )
    if table.sort is None:
        yield (
            f"{table.name} has no sort key, so it cannot have the local index {index.name}.",
            "Give the table a sort key, or make the index a global one.",
        )
