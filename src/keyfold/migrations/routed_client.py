"""Clients of an application that follows migrations: it knows its new design, and nothing else.

From `verify` on the new side is complete, and is read. Until writes have changed sides, a write
goes to both in one transaction: the request itself, and what it means for the old side. So other
processes see it at once, wherever they read, and an old application beside them does too.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from keyfold.clients.protocol import AsyncClient, Client
from keyfold.clock import Clock
from keyfold.errors import (
    CancellationReason,
    ConditionFailed,
    KeyfoldError,
    Pending,
    TransactionCanceled,
    Unavailable,
)
from keyfold.expressions.bind import Placeholders
from keyfold.migrations.applications import ROUTER_REFRESH
from keyfold.migrations.backend import Item
from keyfold.migrations.migration import Migration, reached
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.router import Routing
from keyfold.migrations.sides import absent, difference, unchanged
from keyfold.migrations.spelling import equal
from keyfold.migrations.state import SUPPORT, State, key_text, marker_key
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow, Pause, drive, drive_async
from keyfold.runtime.walk import all_written

_TRIES: Final = 40
_SINGLE: Final = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
_WRITES: Final = frozenset((*_SINGLE, "TransactWriteItems", "BatchWriteItem"))
_REFUSED: Final = "ConditionalCheckFailed"


class _OutOfStep(Exception):
    """The sides differ at this moment: a change is on its way."""

    pause = 0.05


class _Raced(_OutOfStep):
    """Somebody else wrote the same item."""

    pause = 0.005


class RoutedMigration:
    """One migration as an application follows it."""

    def __init__(
        self, migration: Migration, physical: Mapping[str, str], prefix: str, clock: Clock
    ):
        self.migration = migration
        self.routing = Routing(migration.name, prefix, clock, doubles=True)
        self.names = physical
        self.logical = {name: table for table, name in physical.items()}
        self.prefix = prefix
        self.back: list[Route] = migration.routes("old")
        self.forward: list[Route] = migration.routes("new")
        self.tables = {self.physical(route.source) for route in self.back}
        self.keys: dict[str, tuple[str, ...]] = {}

    def physical(self, table: str) -> str:
        return self.names.get(table) or f"{self.prefix}{table}"

    def key_names(self, table: str) -> Flow[tuple[str, ...]]:
        if table not in self.keys:
            answer = yield Call("DescribeTable", {"TableName": self.physical(table)})
            schema = sorted(answer["Table"]["KeySchema"], key=lambda part: part["KeyType"])
            self.keys[table] = tuple(part["AttributeName"] for part in schema)
        return self.keys[table]

    def meaning(self, table: str, item: Item | None) -> dict[str, list[Output]]:
        """What an item of the new side stands for on the old one."""
        found: dict[str, list[Output]] = {}
        if item is None:
            return found
        for route in self.back:
            if route.source == table and route.selects(item):
                found.setdefault(route.name, []).extend(route.outputs(item))
        return found

    def stands_for(self, old: Output, there: Item | None, item: Item) -> bool:
        """Whether the old side has what the new one shows."""
        if there is None:
            return False
        if old.part is not None:
            return equal(old.settled(there), there)
        for route in self.forward:
            if route.source == old.table and route.selects(there):
                return any(equal(output.item, item) for output in route.outputs(there))
        return False


Places: TypeAlias = dict[tuple[str, str], tuple[Output, Item]]
"""Items of the old side with their keys, by table and key."""


@dataclass
class _Meaning:
    """What the items of a request stand for on the old side: one place may have two of them, one
    before and one after."""

    places: Places = field(default_factory=dict)
    shown: dict[tuple[str, str], Item | None] = field(default_factory=dict)
    """The items themselves, by where they stand: not what follows from them."""


class Routed:
    """What a client does for a migration; it does no I/O."""

    def __init__(self, routed: RoutedMigration) -> None:
        self.routed, self.routing = routed, routed.routing

    @classmethod
    def of(cls, migration: Migration, context: Context) -> Routed:
        """With the table names of an open design; other tables have those that are given."""
        tables = [t.schema for t in context.design.tables.values()]
        names = {t.name: context.physical(t) for t in (*migration.tables, *tables)}
        return cls(RoutedMigration(migration, names, context.table_prefix, context.clock))

    def call(self, operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
        """One request, to one side or to both."""
        if self.routed.tables.isdisjoint(_tables(request)):
            answer: Answer = yield Call(operation, request)
            return answer
        self._refuse_early()
        if operation not in _WRITES:
            answer = yield Call(operation, request)
            return answer
        return (yield from self._written(operation, request))

    def _refuse_early(self) -> None:
        state = self.routing.state
        if state.phase == "contract":
            return
        if not reached(state.phase, "verify") or state.returning:
            raise Pending(
                f"the migration {self.routed.migration.name} is at {state.phase}"
                f"{', on its way back' if state.returning else ''}: its new tables can be used "
                "from verify on. Apply it before this application is deployed"
            )

    def _written(self, operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
        """A write by the state of this moment; whoever waits for a copy looks at it again."""
        started = time.monotonic()
        for attempt in range(_TRIES):
            state = yield from self._opened(started)
            self.routing.begin(state)
            try:
                if not state.active or state.writes == "new":
                    answer: Answer = yield Call(operation, request)
                    return answer
                if operation != "BatchWriteItem":
                    return (yield from self._doubled(operation, request))
            except _OutOfStep as found:
                late = found
            finally:
                self.routing.end(state)
            if operation == "BatchWriteItem":
                return (yield from self._one_by_one(request))
            yield Pause(late.pause * min(attempt + 1, 5))
            yield from self.routing.refresh()
        raise Unavailable(
            f"{self.routed.migration.name}: the two sides differ for too long, at {late}. "
            "Copying has to go on while applications follow: keyfold migrations apply"
        )

    def _opened(self, started: float) -> Flow[State]:
        """The state, once it lets writes through."""
        while (state := self.routing.state).closed:
            if self.routing.waited(time.monotonic() - started):
                yield from self.routing.open_again(state)
            yield Pause(ROUTER_REFRESH / 5)
            yield from self.routing.refresh()
        return state

    def _one_by_one(self, request: Mapping[str, Any]) -> Flow[Answer]:
        for name, requests in request["RequestItems"].items():
            for each in requests:
                ((kind, inner),) = each.items()
                operation = "PutItem" if kind == "PutRequest" else "DeleteItem"
                yield from self._written(operation, {"TableName": name, **inner})
        return all_written()

    def _doubled(self, operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
        """The request and what it means for the old side, in one transaction."""
        actions = list(_actions(operation, request))
        images: list[tuple[Item | None, Item | None]] = []
        was, becomes = _Meaning(), _Meaning()
        for kind, one in actions:
            images.append((yield from self._meant(kind, one, was, becomes)))
        more = yield from self._old_side(was, becomes)
        parts = [{kind: one} for kind, one in actions]
        try:
            yield Call("TransactWriteItems", {"TransactItems": [*parts, *more]})
        except TransactionCanceled as cancelled:
            own, others = cancelled.reasons[: len(parts)], cancelled.reasons[len(parts) :]
            if any(reason.code == _REFUSED for reason in own):
                raise _refusal(operation, own) from None
            if not any(reason.code not in ("None", _REFUSED) for reason in (*own, *others)):
                raise _Raced(", ".join(sorted(set(_tables(request))))) from None
            raise
        return _answer(operation, request, images)

    def _meant(
        self, kind: str, one: Mapping[str, Any], was: _Meaning, becomes: _Meaning
    ) -> Flow[tuple[Item | None, Item | None]]:
        """An item before and after a write; what each means for the old side is added."""
        routed, name = self.routed, one["TableName"]
        if name not in routed.tables:
            return None, None
        table = routed.logical.get(name) or name.removeprefix(routed.prefix)
        names = yield from routed.key_names(table)
        source = one["Item"] if "Item" in one else one["Key"]
        key = {attribute: source[attribute] for attribute in names}
        before = yield from _get(name, key)
        after = _after(kind, one, before, key)
        if before is None and kind == "Update":
            try:
                routed.meaning(table, after)
            except KeyfoldError:
                # Its condition refuses it; without one, it makes what no entity is.
                return before, after
        for meaning, item in ((was, before), (becomes, after)):
            for outputs in routed.meaning(table, item).values():
                addressed = yield from self._addressed(outputs)
                meaning.places |= addressed
                meaning.shown |= dict.fromkeys(list(addressed)[:1], item)
        return before, after

    def _old_side(self, was: _Meaning, becomes: _Meaning) -> Flow[list[Item]]:
        """The writes that make the old side what the new one becomes."""
        routed = self.routed
        actions: list[Item] = []
        for address, (output, key) in {**was.places, **becomes.places}.items():
            there = yield from _get(routed.physical(output.table), key)
            marker = yield from self._marker(output.table, key)
            before = was.shown.get(address)
            if before is not None:
                in_step = routed.stands_for(was.places[address][0], there, before)
            else:
                made = address in becomes.shown and address not in was.places
                in_step = not made or there is None or output.part is not None
            if not in_step:
                raise _OutOfStep(f"{output.table} {address[1]}")
            new = becomes.places.get(address)
            wanted = new[0].settled(there) if new is not None else None
            if output.part is not None and new is None:
                wanted = {n: w for n, w in (there or {}).items() if n not in output.part}
            if output.part is not None and there is None:
                continue
            physical = routed.physical(output.table)
            if (change := _change(physical, key, there, wanted)) is not None:
                actions += [change, marker]
        return actions

    def _addressed(self, outputs: list[Output]) -> Flow[Places]:
        found: Places = {}
        for output in outputs:
            names = yield from self.routed.key_names(output.table)
            key = {name: output.item[name] for name in names}
            found[output.table, key_text(key)] = (output, key)
        return found

    def _marker(self, table: str, key: Item) -> Flow[Item]:
        """The touch of a marker, refused when the item was touched or copied meanwhile."""
        name = f"{self.routed.prefix}{SUPPORT.name}"
        place = marker_key(self.routed.migration.name, "new", table, key)
        found = (yield from _get(name, place)) or {}
        seen = int(found["touches"]["N"]) if "touches" in found else 0
        conditions = ["attribute_not_exists(touches)" if not seen else "touches = :seen"]
        values: Item = {":one": {"N": "1"}, ":zero": {"N": str(seen)}}
        if seen:
            values[":seen"] = {"N": str(seen)}
        if "sequence" in found:
            conditions.append("#s = :s")
            values[":s"] = found["sequence"]
        else:
            conditions.append("attribute_not_exists(#s)")
        return {
            "Update": {
                "TableName": name,
                "Key": place,
                "UpdateExpression": "SET touches = :zero + :one",
                "ConditionExpression": " AND ".join(conditions),
                "ExpressionAttributeNames": {"#s": "sequence"},
                "ExpressionAttributeValues": values,
            }
        }


def _tables(request: Mapping[str, Any]) -> Iterator[str]:
    if "TableName" in request:
        yield request["TableName"]
    yield from request.get("RequestItems", ())
    for action in request.get("TransactItems", ()):
        ((_, one),) = action.items()
        yield one["TableName"]


def _actions(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if operation in _SINGLE:
        kept = {n: v for n, v in request.items() if n not in _NOT_IN_TRANSACTIONS}
        yield _SINGLE[operation], kept
        return
    for action in request["TransactItems"]:
        ((kind, one),) = action.items()
        yield kind, one


_NOT_IN_TRANSACTIONS: Final = frozenset(
    ("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics")
)


def _after(kind: str, one: Mapping[str, Any], before: Item | None, key: Item) -> Item | None:
    if kind == "ConditionCheck":
        return before
    if kind == "Put":
        return dict(one["Item"])
    if kind == "Delete":
        return None
    names, values = one.get("ExpressionAttributeNames"), one.get("ExpressionAttributeValues")
    placeholders = Placeholders(names, values)
    if "UpdateExpression" not in one:
        return before or key
    return dict(
        placeholders.update(one["UpdateExpression"]).apply(before or key, placeholders.values)
    )


def _change(name: str, key: Item, there: Item | None, wanted: Item | None) -> Item | None:
    """The write that makes an item another one, if nobody changes it meanwhile."""
    if wanted is None:
        return (
            None
            if there is None
            else {"Delete": {"TableName": name, "Key": key, **unchanged(there, key)}}
        )
    if there is None:
        return {"Put": {"TableName": name, "Item": wanted, **absent(key)}}
    if equal(there, wanted):
        return None
    return {"Update": {"TableName": name, "Key": key, **difference(there, wanted, key)}}


def _refusal(operation: str, reasons: list[CancellationReason]) -> Exception:
    if operation in _SINGLE:
        return ConditionFailed(item=reasons[0].item)
    return TransactionCanceled(reasons=reasons)


def _answer(
    operation: str, request: Mapping[str, Any], images: list[tuple[Item | None, Item | None]]
) -> Answer:
    before, after = images[0] if images else (None, None)
    wanted = request.get("ReturnValues", "NONE") if operation in _SINGLE else "NONE"
    returned = {"ALL_OLD": before, "UPDATED_OLD": before, "ALL_NEW": after, "UPDATED_NEW": after}
    found = returned.get(wanted)
    return {"Attributes": found} if found else {}


def _get(name: str, key: Item) -> Flow[Item | None]:
    answer = yield Call("GetItem", {"TableName": name, "Key": key, "ConsistentRead": True})
    found: Item | None = answer.get("Item")
    return found


class RoutedClient:
    """A client of a migrating application."""

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
        self._client.close()

    def _call(self, one: Call) -> Answer:
        return self._client.call(one.operation, one.request)


class AsyncRoutedClient:
    """The same for an event loop."""

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
        await self._client.close()

    async def _call(self, one: Call) -> Answer:
        return await self._client.call(one.operation, one.request)
