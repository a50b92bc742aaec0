"""Table changes as data: a part of a table that is added or removed.

For each kind of part: how it is seen, and which request adds or removes it. A change belongs to the
phase in which it loses nothing: additions come first (expand), removals last (contract).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.errors import TableInUse, TableNotFound, ValidationError
from keyfold.migrations.backend import Backend
from keyfold.runtime.tables import create_request, index_request, vector_request

When = Literal["expand", "contract"]
VIEW: Final = "NEW_AND_OLD_IMAGES"


@dataclass(frozen=True)
class TimeToLive:
    """Expiry of a table's items by an attribute."""

    attribute: str


@dataclass(frozen=True)
class Stream:
    """A table's stream."""

    view: str = VIEW


Part = TableSchema | Index | VectorSchema | TimeToLive | Stream


@dataclass(frozen=True)
class TableChange:
    """A table, or a part of one, that is added or removed."""

    part: Part
    table: str
    adds: bool
    with_items: bool = False
    """A removed table goes with the items that no step moved; otherwise it must have none."""

    @property
    def when(self) -> When:
        # Nothing may expire while the sides are compared.
        return "expand" if self.adds != isinstance(self.part, TimeToLive) else "contract"

    @property
    def makes_table(self) -> bool:
        return self.adds and isinstance(self.part, TableSchema)

    @property
    def drops_table(self) -> bool:
        return not self.adds and isinstance(self.part, TableSchema)

    def words(self) -> str:
        """What it does, in words."""
        said = _KINDS[type(self.part)].says[not self.adds].format(self.part, self.table)
        return f"{said}{' with all of its items' * self.with_items}"

    @property
    def reverse(self) -> TableChange | None:
        """The lossless inverse, or None."""
        return None if self.drops_table else replace(self, adds=not self.adds)

    def is_done(self, backend: Backend) -> bool:
        """Whether the tables already have it."""
        if isinstance(self.part, TableSchema):
            return (backend.describe(self.table) is not None) == self.adds
        found = backend.live(self.table, ttl=isinstance(self.part, TimeToLive))
        there = found is not None and _KINDS[type(self.part)].is_in(found, self.part, self.adds)
        return there == self.adds

    def apply(self, backend: Backend) -> None:
        """Apply it; does nothing if it is already done."""
        if self.drops_table:
            try:
                backend.call("DeleteTable", {"TableName": backend.physical(self.table)})
            except TableNotFound:
                return
            backend.wait_until_gone(self.table)
        elif isinstance(self.part, TableSchema):
            if not self.is_done(backend):
                backend.call("CreateTable", create_request(self.part, backend.physical(self.table)))
            backend.wait_until_active(self.table)
        elif not self.is_done(backend):
            _KINDS[type(self.part)].change(backend, self)


def add(part: Part, table: str = "") -> TableChange:
    """Add a table with all its indexes, or a part to the named table."""
    return TableChange(part, part.name if isinstance(part, TableSchema) else table, adds=True)


def remove(part: Part, table: str = "", *, with_items: bool = False) -> TableChange:
    """Remove a table, or a part of the named table."""
    return replace(add(part, table), adds=False, with_items=with_items)


@dataclass(frozen=True)
class _Kind:
    says: tuple[str, str]
    """What adding it does, and removing it: `{0}` is the part, `{1}` the table."""
    is_in: Callable[[TableSchema, Any, bool], bool] = lambda *_: True
    """Whether a live table has it, asked by a change that adds or removes it."""
    change: Callable[[Backend, TableChange], None] = lambda *_: None


def _change_index(backend: Backend, change: TableChange) -> None:
    part = change.part
    assert isinstance(part, Index | VectorSchema)
    types: Mapping[str, str]
    if isinstance(part, Index):
        member, types = "GlobalSecondaryIndexUpdates", part.key_types
        made = index_request(part, backend.billing(change.table)) if change.adds else {}
    else:
        member, types, made = "VectorIndexUpdates", _searched(part), vector_request(part)
    if change.adds:
        definitions = _definitions(backend, change.table, types)
        updates = {member: [{"Create": made}]}
        _update(backend, change.table, AttributeDefinitions=definitions, **updates)
    else:
        _update(backend, change.table, **{member: [{"Delete": {"IndexName": part.name}}]})


def _change_ttl(backend: Backend, change: TableChange) -> None:
    assert isinstance(change.part, TimeToLive)
    if backend.describe(change.table) is None:
        return
    request = {
        "TableName": backend.physical(change.table),
        "TimeToLiveSpecification": {
            "Enabled": change.adds,
            "AttributeName": change.part.attribute,
        },
    }
    try:
        backend.call("UpdateTimeToLive", request)
    except ValidationError as problem:
        if "already" not in str(problem):
            raise


def _change_stream(backend: Backend, change: TableChange) -> None:
    assert isinstance(change.part, Stream)
    view = {"StreamViewType": change.part.view} if change.adds else {}
    _update(backend, change.table, StreamSpecification={"StreamEnabled": change.adds, **view})


_KINDS: Final[dict[type, _Kind]] = {
    TableSchema: _Kind(("create the table {1} ({0.key_text})", "drop the table {1}")),
    Index: _Kind(
        ("create the index {0.name} of {1} ({0.key_text})", "drop the index {0.name} of {1}"),
        lambda table, index, _: table.index(index.name) is not None,
        _change_index,
    ),
    VectorSchema: _Kind(
        (
            "create the vector index {0.name} of {1} ({0.attribute}, {0.dimensions} dimensions)",
            "drop the vector index {0.name} of {1}",
        ),
        lambda table, vector, _: table.vector(vector.name) is not None,
        _change_index,
    ),
    TimeToLive: _Kind(
        ("expire items of {1} by {0.attribute}", "stop expiring items of {1} by {0.attribute}"),
        lambda table, ttl, _: table.ttl == ttl.attribute,
        _change_ttl,
    ),
    Stream: _Kind(
        ("enable the stream of {1} ({0.view})", "disable the stream of {1}"),
        lambda table, stream, adds: (
            table.stream is not None and (table.stream == stream.view or not adds)
        ),
        _change_stream,
    ),
}


def _definitions(backend: Backend, name: str, more: Mapping[str, str]) -> list[dict[str, str]]:
    """The types of all attributes in keys: some servers treat the list as complete, so it is."""
    table = backend.live(name, ttl=False)
    if table is None:
        raise TableNotFound(f"the table {backend.physical(name)} was not found")
    types: dict[str, str] = {**table.key_types}
    for index in table.indexes:
        types |= index.key_types
    for vector in table.vectors:
        types |= _searched(vector)
    return [{"AttributeName": n, "AttributeType": t} for n, t in (types | {**more}).items()]


def _searched(vector: VectorSchema) -> dict[str, str]:
    """The attributes that a search can name, with their types."""
    return {name: "N" if name in vector.numbers else "S" for name in vector.search_attributes}


def _update(backend: Backend, table: str, **members: Any) -> None:
    """One UpdateTable, once the table is ready, until it is done."""
    try:
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    except TableInUse:
        backend.wait_until_active(table)
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    backend.wait_until_active(table)
