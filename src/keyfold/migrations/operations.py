"""Table changes, each reversible and idempotent.

An operation belongs to the phase in which it loses nothing: additions come first (expand), removals
last (contract).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
        return f"create the table {self.table.name} ({_key_words(self.table)})"

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


@dataclass(frozen=True)
class CreateIndex(TableChange):
    """Creates a global index on an existing table; the backend fills it."""

    table: str
    index: Index
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        return f"create the index {self.index.name} of {self.table} ({self.index.key_text})"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.index(self.index.name) is not None

    def apply(self, backend: Backend) -> None:
        found = backend.live(self.table)
        if found is None:
            raise TableNotFound(f"the table {backend.physical(self.table)} was not found")
        if found.index(self.index.name) is not None:
            return
        # Some servers treat the list as complete, so it is.
        types = _types(found) | self.index.key_types
        definitions = [{"AttributeName": n, "AttributeType": t} for n, t in types.items()]
        create = {"Create": index_request(self.index, backend.billing(self.table))}
        _update(
            backend,
            self.table,
            AttributeDefinitions=definitions,
            GlobalSecondaryIndexUpdates=[create],
        )

    def reverse(self) -> TableChange:
        return DropIndex(self.table, self.index)


@dataclass(frozen=True)
class DropIndex(TableChange):
    """Drops a global index; it can be created again from the table."""

    table: str
    index: Index
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"drop the index {self.index.name} of {self.table}"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is None or found.index(self.index.name) is None

    def apply(self, backend: Backend) -> None:
        if self.is_done(backend):
            return
        delete = {"Delete": {"IndexName": self.index.name}}
        _update(backend, self.table, GlobalSecondaryIndexUpdates=[delete])

    def reverse(self) -> TableChange:
        return CreateIndex(self.table, self.index)


@dataclass(frozen=True)
class CreateVector(TableChange):
    """Creates a vector index on an existing table; the backend fills it."""

    table: str
    vector: VectorSchema
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        held = f"{self.vector.attribute}, {self.vector.dimensions} dimensions"
        return f"create the vector index {self.vector.name} of {self.table} ({held})"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.vector(self.vector.name) is not None

    def apply(self, backend: Backend) -> None:
        found = backend.live(self.table)
        if found is None:
            raise TableNotFound(f"the table {backend.physical(self.table)} was not found")
        if found.vector(self.vector.name) is not None:
            return
        types = _types(found)
        numbers = self.vector.numbers
        types |= {name: "N" if name in numbers else "S" for name in self.vector.search_attributes}
        definitions = [{"AttributeName": n, "AttributeType": t} for n, t in types.items()]
        _update(
            backend,
            self.table,
            AttributeDefinitions=definitions,
            VectorIndexUpdates=[{"Create": vector_request(self.vector)}],
        )

    def reverse(self) -> TableChange:
        return DropVector(self.table, self.vector)


@dataclass(frozen=True)
class DropVector(TableChange):
    """Drops a vector index; it can be created again from the table."""

    table: str
    vector: VectorSchema
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"drop the vector index {self.vector.name} of {self.table}"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is None or found.vector(self.vector.name) is None

    def apply(self, backend: Backend) -> None:
        if not self.is_done(backend):
            delete = {"Delete": {"IndexName": self.vector.name}}
            _update(backend, self.table, VectorIndexUpdates=[delete])

    def reverse(self) -> TableChange:
        return CreateVector(self.table, self.vector)


@dataclass(frozen=True)
class AddReplica(TableChange):
    """Adds a region to a table; the backend copies its items there."""

    table: str
    region: str
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        return f"bring {self.table} to the region {self.region}"

    def is_done(self, backend: Backend) -> bool:
        return self.region in backend.regions(self.table)

    def apply(self, backend: Backend) -> None:
        if not self.is_done(backend):
            create = {"Create": {"RegionName": self.region}}
            _update(backend, self.table, ReplicaUpdates=[create])

    def reverse(self) -> TableChange:
        return RemoveReplica(self.table, self.region)


@dataclass(frozen=True)
class RemoveReplica(TableChange):
    """Removes a region from a table; the others keep its items."""

    table: str
    region: str
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"take {self.table} out of the region {self.region}"

    def is_done(self, backend: Backend) -> bool:
        return self.region not in backend.regions(self.table)

    def apply(self, backend: Backend) -> None:
        if not self.is_done(backend):
            delete = {"Delete": {"RegionName": self.region}}
            _update(backend, self.table, ReplicaUpdates=[delete])

    def reverse(self) -> TableChange:
        return AddReplica(self.table, self.region)


@dataclass(frozen=True)
class EnableTtl(TableChange):
    """Enables expiry by this attribute, last of all: nothing may expire during a comparison."""

    table: str
    attribute: str
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"let items of {self.table} expire by {self.attribute}"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.ttl == self.attribute

    def apply(self, backend: Backend) -> None:
        _set_ttl(backend, self.table, self.attribute, enabled=True)

    def reverse(self) -> TableChange:
        return DisableTtl(self.table, self.attribute)


@dataclass(frozen=True)
class DisableTtl(TableChange):
    """Disables expiry."""

    table: str
    attribute: str
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        return f"let items of {self.table} stay (no expiry by {self.attribute})"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is None or found.ttl != self.attribute

    def apply(self, backend: Backend) -> None:
        _set_ttl(backend, self.table, self.attribute, enabled=False)

    def reverse(self) -> TableChange:
        return EnableTtl(self.table, self.attribute)


@dataclass(frozen=True)
class EnableStream(TableChange):
    """Enables a table's stream."""

    table: str
    view: str = "NEW_AND_OLD_IMAGES"
    when: ClassVar[When] = "expand"

    def words(self) -> str:
        return f"open the stream of {self.table} ({self.view})"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is not None and found.stream == self.view

    def apply(self, backend: Backend) -> None:
        if self.is_done(backend):
            return
        specification = {"StreamEnabled": True, "StreamViewType": self.view}
        _update(backend, self.table, StreamSpecification=specification)

    def reverse(self) -> TableChange:
        return DisableStream(self.table, self.view)


@dataclass(frozen=True)
class DisableStream(TableChange):
    """Disables a table's stream."""

    table: str
    view: str = "NEW_AND_OLD_IMAGES"
    when: ClassVar[When] = "contract"

    def words(self) -> str:
        return f"close the stream of {self.table}"

    def is_done(self, backend: Backend) -> bool:
        found = backend.live(self.table)
        return found is None or found.stream is None

    def apply(self, backend: Backend) -> None:
        if self.is_done(backend):
            return
        _update(backend, self.table, StreamSpecification={"StreamEnabled": False})

    def reverse(self) -> TableChange:
        return EnableStream(self.table, self.view)


def _types(table: TableSchema) -> dict[str, str]:
    types: dict[str, str] = {**table.key_types}
    for index in table.indexes:
        types |= index.key_types
    for vector in table.vectors:
        types |= {name: "N" if name in vector.numbers else "S" for name in vector.search_attributes}
    return types


def _key_words(table: TableSchema) -> str:
    return table.key_text


def _update(backend: Backend, table: str, **members: Any) -> None:
    """One UpdateTable, once the table is ready, until it is done."""
    backend.wait_until_active(table)
    try:
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    except TableInUse:
        backend.wait_until_active(table)
        backend.call("UpdateTable", {"TableName": backend.physical(table), **members})
    backend.wait_until_active(table)


def _set_ttl(backend: Backend, table: str, attribute: str, *, enabled: bool) -> None:
    found = backend.live(table)
    if found is None or (found.ttl == attribute) == enabled:
        return
    specification = {"Enabled": enabled, "AttributeName": attribute}
    request = {
        "TableName": backend.physical(table),
        "TimeToLiveSpecification": specification,
    }
    try:
        backend.call("UpdateTimeToLive", request)
    except ValidationError as problem:
        if "already" not in str(problem):
            raise
