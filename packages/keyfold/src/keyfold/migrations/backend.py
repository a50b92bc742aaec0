"""The backend of a migration: a client, the physical names of tables, and their definitions."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keyfold.design.schema import TableSchema
from keyfold.errors import (
    InternalFailure,
    OperationError,
    RequestLimitExceeded,
    RequestRateExceeded,
    TableNotFound,
    Throttled,
    TransactionConflict,
    TransportError,
    Unavailable,
)
from keyfold.runtime.table_description import table_schema, ttl_attribute
from keyfold_engine.clients.protocol import Client
from keyfold_engine.clock import Clock, SystemClock

Item = dict[str, Any]

_OF_TABLES: Final = frozenset({"CreateTable", "UpdateTable", "UpdateTimeToLive"})
_LOST: Final = (InternalFailure, Unavailable, TransportError)
_PASSING: Final = (
    Throttled,
    RequestRateExceeded,
    RequestLimitExceeded,
    TransactionConflict,
    *_LOST,
)


@dataclass(frozen=True)
class Backend:
    """A client and the naming of its tables."""

    client: Client
    prefix: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    attempts: int = 10
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """Key names of tables that were described: a table's key never changes."""
    _described: list[dict[str, dict[str, Any] | None]] = field(default_factory=list, compare=False)
    """What tables were when they were last described, inside of `describing_once`."""

    def physical(self, table: str) -> str:
        """The physical name of a design's table."""
        return self.names.get(table) or f"{self.prefix}{table}"

    def with_names_of(self, tables: Iterable[TableSchema]) -> Backend:
        """The backend with these tables' names from environment variables."""
        found = {t.name: t.physical_name(self.prefix, self.names) for t in tables}
        other = {name: given for name, given in found.items() if given != self.physical(name)}
        return replace(self, names={**other, **self.names}) if other else self

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One request, retried after throttling, conflicts and lost answers.

        Everything that migrations write is conditional or idempotent. A table is not created or
        changed twice: if the retry is refused, the lost answer is raised, and the caller checks the
        state first.
        """
        lost: Exception | None = None
        if operation in _OF_TABLES:
            for known in self._described:
                known.clear()
        for attempt in range(self.attempts - 1):
            try:
                return self.client.call(operation, request)
            except _PASSING as problem:
                lost = problem if isinstance(problem, _LOST) else lost
                time.sleep(random.uniform(0, 0.01 * 2 ** min(attempt, 8)))
            except OperationError:
                if lost is None or operation not in _OF_TABLES:
                    raise
                raise lost from None
        return self.client.call(operation, request)

    def item(self, table: str, key: Item) -> Item | None:
        """The current item."""
        request = {"TableName": self.physical(table), "Key": key, "ConsistentRead": True}
        found: Item | None = self.call("GetItem", request).get("Item")
        return found

    def delete(self, table: str, key: Item) -> None:
        self.call("DeleteItem", {"TableName": self.physical(table), "Key": key})

    def describe(self, table: str, *, now: bool = False) -> dict[str, Any] | None:
        """DescribeTable's answer, or None if the table is missing; `now` looks again."""
        known = self._described[-1] if self._described else {}
        if now or table not in known:
            try:
                answer = self.call("DescribeTable", {"TableName": self.physical(table)})
            except TableNotFound:
                answer = {"Table": None}
            known[table] = answer["Table"]
        return known[table]

    @contextmanager
    def describing_once(self) -> Iterator[None]:
        """Inside, a table is described once, until this backend changes one."""
        self._described.append({})
        try:
            yield
        finally:
            self._described.pop()

    def live(self, table: str, *, ttl: bool = True) -> TableSchema | None:
        """The live table, as a design declares it; expiry takes a request of its own."""
        found = self.describe(table)
        if found is None:
            return None
        request = {"TableName": self.physical(table)}
        expires = ttl_attribute(self.call("DescribeTimeToLive", request)) if ttl else None
        return table_schema(found, expires, name=table)

    def billing(self, table: str) -> str:
        """The table's billing mode, which DynamoDB reports only if it is not provisioned."""
        summary = (self.describe(table) or {}).get("BillingModeSummary", {})
        return str(summary.get("BillingMode", "PROVISIONED"))

    def key_attributes(self, table: str) -> tuple[str, ...]:
        if table not in self._keys:
            found = self.describe(table)
            if found is None:
                raise TableNotFound(f"the table {self.physical(table)} was not found")
            self._keys[table] = table_schema(found).key_attributes
        return self._keys[table]

    def wait_until_active(self, table: str) -> None:
        """Wait until the table and all its indexes are active."""
        pause = 0.005
        while True:
            found = self.describe(table, now=True)
            if found is None:
                raise TableNotFound(f"the table {self.physical(table)} was not found")
            states = [found["TableStatus"]]
            states += [i.get("IndexStatus") for i in found.get("GlobalSecondaryIndexes", ())]
            states += [r.get("ReplicaStatus", "ACTIVE") for r in found.get("Replicas") or ()]
            if all(state == "ACTIVE" for state in states):
                return
            time.sleep(pause)
            pause = min(pause * 2, 2.0)

    def wait_until_gone(self, table: str) -> None:
        self._keys.pop(table, None)
        pause = 0.005
        while self.describe(table, now=True) is not None:
            time.sleep(pause)
            pause = min(pause * 2, 2.0)


def backend_of(
    client: Client,
    *,
    prefix: str = "",
    names: Mapping[str, str] | None = None,
    tables: tuple[TableSchema, ...] = (),
    clock: Clock | None = None,
) -> Backend:
    """A backend with the table naming of an open design."""
    given = dict(names or {})
    declared = {table.name: table.physical_name(prefix, given) for table in tables}
    return Backend(client, prefix, {**given, **declared}, clock or SystemClock())
