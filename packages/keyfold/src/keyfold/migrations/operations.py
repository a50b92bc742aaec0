"""Table changes, each reversible and idempotent.

An operation belongs to the phase in which it loses nothing: additions come first (expand), removals
last (contract).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.errors import TableInUse, TableNotFound, ValidationError
from keyfold.migrations.backend import Backend
from keyfold.runtime.tables import create_request, index_request, vector_request

When = Literal["expand", "contract"]


class TableChange(ABC):
    """One change of the tables."""

    when: ClassVar[When]

    @abstractmethod
    def words(self) -> str:
        """What it does, in words."""

    @abstractmethod
    def is_done(self, backend: Backend) -> bool:
        """Whether the tables already have it."""

    @abstractmethod
    def apply(self, backend: Backend) -> None:
        """Apply it; does nothing if it is already done."""

    @abstractmethod
    def reverse(self) -> TableChange | None:
        """The lossless inverse, or None."""


@dataclass(frozen=True)
class CreateTable(TableChange):
    """Creates a table with all its indexes."""

    table: TableSchema
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        return f"create the table {self.table.name} ({self.table.key_text})"

    def is_done(self, backend: Backend) -> bool:
        return backend.describe(self.table.name) is not None

    def apply(self, backend: Backend) -> None:
        if not self.is_done(backend):
            request = create_request(self.table, backend.physical(self.table.name))
            backend.call("CreateTable", request)
        backend.wait_until_active(self.table.name)

    def reverse(self) -> TableChange:
        return DropTable(self.table)


@dataclass(frozen=True)
class DropTable(TableChange):
    """Drops a table; refused while it holds unmoved items, unless `with_items`."""

    table: TableSchema
    with_items: bool = False
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"drop the table {self.table.name}{' with all of its items' * self.with_items}"

    def is_done(self, backend: Backend) -> bool:
        return backend.describe(self.table.name) is None

    def apply(self, backend: Backend) -> None:
        try:
            backend.call("DeleteTable", {"TableName": backend.physical(self.table.name)})
        except TableNotFound:
            return
        backend.wait_until_gone(self.table.name)

    def reverse(self) -> None:
        return None


class PartChange(TableChange):
    """Adds one part to an existing table, or removes it."""

    table: str
    adds: ClassVar[bool]
    says: ClassVar[str]

    def words(self) -> str:
        return self.says.format(self)

    @abstractmethod
    def is_there(self, backend: Backend) -> bool:
        """Whether the table has the part."""

    @abstractmethod
    def update(self, backend: Backend) -> None:
        """Add or remove it."""

    def is_done(self, backend: Backend) -> bool:
        return self.is_there(backend) == self.adds

    def apply(self, backend: Backend) -> None:
        if not self.is_done(backend):
            self.update(backend)


@dataclass(frozen=True)
class IndexChange(PartChange):
    """Of a global index, which the backend fills."""

    table: str
    index: Index

    def is_there(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.index(self.index.name) is not None

    def update(self, backend: Backend) -> None:
        if not self.adds:
            delete = {"Delete": {"IndexName": self.index.name}}
            _update(backend, self.table, GlobalSecondaryIndexUpdates=[delete])
            return
        definitions = _definitions(backend, self.table, self.index.key_types)
        create = {"Create": index_request(self.index, backend.billing(self.table))}
        _update(
            backend,
            self.table,
            AttributeDefinitions=definitions,
            GlobalSecondaryIndexUpdates=[create],
        )

    def reverse(self) -> TableChange:
        return (DropIndex if self.adds else CreateIndex)(self.table, self.index)


class CreateIndex(IndexChange):
    """Creates a global index on an existing table; the backend fills it."""

    when, adds = "expand", True
    says = "create the index {0.index.name} of {0.table} ({0.index.key_text})"


class DropIndex(IndexChange):
    """Drops a global index; it can be created again from the table."""

    when, adds = "contract", False
    says = "drop the index {0.index.name} of {0.table}"


@dataclass(frozen=True)
class VectorIndexChange(PartChange):
    """Of a vector index, which the backend fills."""

    table: str
    vector: VectorSchema

    def is_there(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.vector(self.vector.name) is not None

    def update(self, backend: Backend) -> None:
        if not self.adds:
            delete = {"Delete": {"IndexName": self.vector.name}}
            _update(backend, self.table, VectorIndexUpdates=[delete])
            return
        definitions = _definitions(backend, self.table, _searched(self.vector))
        create = {"Create": vector_request(self.vector)}
        _update(backend, self.table, AttributeDefinitions=definitions, VectorIndexUpdates=[create])

    def reverse(self) -> TableChange:
        return (DropVector if self.adds else CreateVector)(self.table, self.vector)


class CreateVector(VectorIndexChange):
    """Creates a vector index on an existing table; the backend fills it."""

    when, adds = "expand", True
    says = (
        "create the vector index {0.vector.name} of {0.table} "
        "({0.vector.attribute}, {0.vector.dimensions} dimensions)"
    )


class DropVector(VectorIndexChange):
    """Drops a vector index; it can be created again from the table."""

    when, adds = "contract", False
    says = "drop the vector index {0.vector.name} of {0.table}"


@dataclass(frozen=True)
class TtlChange(PartChange):
    """Of the expiry."""

    table: str
    attribute: str

    def is_there(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.ttl == self.attribute

    def update(self, backend: Backend) -> None:
        if backend.describe(self.table) is None:
            return
        request = {
            "TableName": backend.physical(self.table),
            "TimeToLiveSpecification": {"Enabled": self.adds, "AttributeName": self.attribute},
        }
        try:
            backend.call("UpdateTimeToLive", request)
        except ValidationError as problem:
            if "already" not in str(problem):
                raise

    def reverse(self) -> TableChange:
        return (DisableTtl if self.adds else EnableTtl)(self.table, self.attribute)


class EnableTtl(TtlChange):
    """Enables expiry by this attribute, last of all: nothing may expire during a comparison."""

    when, adds = "contract", True
    says = "expire items of {0.table} by {0.attribute}"


class DisableTtl(TtlChange):
    """Disables expiry."""

    when, adds = "expand", False
    says = "stop expiring items of {0.table} by {0.attribute}"


@dataclass(frozen=True)
class StreamChange(PartChange):
    """Of the stream."""

    table: str
    view: str = "NEW_AND_OLD_IMAGES"

    def is_there(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        if found is None or found.stream is None:
            return False
        return found.stream == self.view or not self.adds

    def update(self, backend: Backend) -> None:
        view = {"StreamViewType": self.view} if self.adds else {}
        _update(backend, self.table, StreamSpecification={"StreamEnabled": self.adds, **view})

    def reverse(self) -> TableChange:
        return (DisableStream if self.adds else EnableStream)(self.table, self.view)


class EnableStream(StreamChange):
    """Enables a table's stream."""

    when, adds = "expand", True
    says = "enable the stream of {0.table} ({0.view})"


class DisableStream(StreamChange):
    """Disables a table's stream."""

    when, adds = "contract", False
    says = "disable the stream of {0.table}"


def _definitions(backend: Backend, name: str, more: Mapping[str, str]) -> list[dict[str, str]]:
    """The types of all attributes in keys: some servers treat the list as complete, so it is."""
    table = backend.live(name)
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
    backend.wait_until_active(table)
    try:
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    except TableInUse:
        backend.wait_until_active(table)
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    backend.wait_until_active(table)
