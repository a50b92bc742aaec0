"""Clients for applications that follow migrations: the application knows only its new design.

From `verify` on the new side is complete and is read. Until writes have switched, a write goes to
both sides in one transaction: the request itself, and its equivalent on the old side. So other
processes see it at once, wherever they read, including an old application.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, Final

from keyfold.errors import Pending, Unavailable
from keyfold.migrations.double_write import DoubleWrite, OutOfStep
from keyfold.migrations.echoes import echoed
from keyfold.migrations.migration import Migration, reached
from keyfold.migrations.routed_migration import RoutedMigration
from keyfold.migrations.write_request import WRITES, actions_of, tables_of
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow, Pause, drive, drive_async
from keyfold.runtime.walk import all_written
from keyfold_engine.clients.protocol import AsyncClient, Client

_TRIES: Final = 40


class Routed:
    """A client's logic for a migration, without I/O."""

    def __init__(self, routed: RoutedMigration) -> None:
        self.routed, self.routing = routed, routed.routing

    @classmethod
    def of(cls, migration: Migration, context: Context) -> Routed:
        """With the table names of an open design; other tables keep their given names."""
        tables = [t.schema for t in context.design.tables.values()]
        names = {t.name: context.physical(t) for t in (*migration.tables, *tables)}
        return cls(RoutedMigration(migration, names, context.table_prefix, context.clock))

    def call(self, operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
        """One request, to one side or to both."""
        named = {*tables_of(request)}
        if named.isdisjoint(self.routed.tables) and named.isdisjoint(self.routed.echoes):
            answer: Answer = yield Call(operation, request)
            return answer
        self._refuse_early()
        if operation not in WRITES:
            answer = yield Call(operation, request)
            return answer
        return (yield from self._write(operation, request))

    def _refuse_early(self) -> None:
        state = self.routing.state
        if state.phase == "contract":
            return
        if not reached(state.phase, "verify") or state.returning:
            raise Pending(
                f"the migration {self.routed.migration.name} is at {state.phase}"
                f"{', rolling back' if state.returning else ''}: its new tables can be used "
                "from verify on. Apply it before you deploy this application"
            )

    def _write(self, operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
        """A write according to the current state, which is read again while waiting for a copy."""
        moved = not self.routed.tables.isdisjoint(tables_of(request))
        for attempt in range(_TRIES):
            state = self.routing.state
            self.routing.begin(state)
            try:
                sent = request
                if state.active and not state.contracting and self.routed.echoes:
                    sent = yield from echoed(self.routed, operation, request)
                one_side = not state.active or (state.writes == "new" and not state.doubled)
                if one_side or not moved:
                    answer: Answer = yield Call(operation, sent)
                    return answer
                if operation != "BatchWriteItem":
                    returning = state.writes == "new"
                    both = DoubleWrite(self.routed, operation, sent, returning=returning)
                    return (yield from both.run())
            except OutOfStep as found:
                late = found
            finally:
                self.routing.end(state)
            if operation == "BatchWriteItem":
                return (yield from self._one_by_one(request))
            yield Pause(late.pause * min(attempt + 1, 5))
            yield from self.routing.refresh()
        raise Unavailable(
            f"{self.routed.migration.name}: the two sides have differed for too long, at {late}. "
            "Keep copying while applications follow: keyfold migrations apply"
        )

    def _one_by_one(self, request: Mapping[str, Any]) -> Flow[Answer]:
        for kind, one in actions_of("BatchWriteItem", request):
            yield from self._write(f"{kind}Item", one)
        return all_written()


class RoutedClient:
    """The client of a migrating application."""

    def __init__(self, client: Client, routed: Routed) -> None:
        self._client, self._routed = client, routed
        self._lock = threading.Lock()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        routing = self._routed.routing
        if not routing.is_fresh():
            with self._lock:
                if not routing.is_fresh():
                    drive(routing.refresh(), self._call)
        return drive(self._routed.call(operation, request), self._call)

    def close(self) -> None:
        drive(self._routed.routing.leave(), self._call)
        self._client.close()

    def _call(self, one: Call) -> Answer:
        return self._client.call(one.operation, one.request)


class AsyncRoutedClient:
    """`RoutedClient` for an event loop."""

    def __init__(self, client: AsyncClient, routed: Routed) -> None:
        self._client, self._routed = client, routed
        self._lock = asyncio.Lock()

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        routing = self._routed.routing
        if not routing.is_fresh():
            async with self._lock:
                if not routing.is_fresh():
                    await drive_async(routing.refresh(), self._call)
        return await drive_async(self._routed.call(operation, request), self._call)

    async def close(self) -> None:
        await drive_async(self._routed.routing.leave(), self._call)
        await self._client.close()

    async def _call(self, one: Call) -> Answer:
        return await self._client.call(one.operation, one.request)
