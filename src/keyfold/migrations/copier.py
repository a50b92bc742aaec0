"""The guarded copier: what changed on one side reaches the other exactly as it was, in order.

Every copied change leaves a marker with its sequence number, in the transaction that copies it.
A change that is not newer than its marker is skipped, so a repeated record has no second effect;
a copy of a scanned item (backfill) demands that there is no marker, so that it can neither
overwrite a newer write nor bring a deleted item back.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.errors import (
    KeyfoldError,
    MigrationError,
    OperationError,
    TransactionCanceled,
    TransactionConflict,
    ValidationError,
)
from keyfold.limits import TRANSACTION_ITEMS
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.changes import ChangeReader, Record
from keyfold.migrations.migration import Side
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.state import Problem, StateStore, key_text

_ATTEMPTS: Final = 12
_SHORT_READ: Final = 200
"""A read with fewer changes has reached the end of the streams."""
_TELL_EVERY: Final = 0.1
_TRANSIENT: Final = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)


class Refused(MigrationError):
    """An item that cannot be copied as it is."""


@dataclass
class Tally:
    """What copying did."""

    copied: int = 0
    deleted: int = 0
    skipped: int = 0
    problems: int = 0
    write_units: float = 0.0
    read_units: float = 0.0

    def add(self, other: Tally) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Sides:
    """The routes of one direction, by the table they read, with key names of all tables."""

    backend: Backend
    routes: Sequence[Route]
    rewrites: Sequence[Rewrite] = ()
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        tables = [route.source for route in self.routes]
        return list(dict.fromkeys([*tables, *(rewrite.table for rewrite in self.rewrites)]))

    def key_of(self, table: str, item: Mapping[str, Any]) -> Item:
        names = self._keys.get(table)
        if names is None:
            names = self._keys[table] = self.backend.key_attributes(table)
        return {name: item[name] for name in names}

    def outputs(self, table: str, item: Item | None) -> dict[tuple[str, str], Output]:
        """What an item stands for on the other side, by address; Refused where it cannot say."""
        found: dict[tuple[str, str], Output] = {}
        if item is None:
            return found
        for route in self.routes:
            if route.source != table or not route.selects(item):
                continue
            for output in self._made(route, item):
                found[output.table, key_text(self.key_of(output.table, output.item))] = output
        if len(found) >= TRANSACTION_ITEMS:
            raise Refused(f"it stands for {len(found)} items, more than one transaction takes")
        return found

    def _made(self, route: Route, item: Item) -> Iterable[Output]:
        try:
            return list(route.outputs(item))
        except Exception as problem:  # the user's function, or an item it did not foresee
            kind = "" if isinstance(problem, KeyfoldError) else f"{type(problem).__name__}: "
            raise Refused(f"{route.name}: {kind}{problem}") from problem

    def concerns(self, table: str, item: Item) -> bool:
        return any(route.source == table and route.selects(item) for route in self.routes)


class Copier:
    """Copies towards one side."""

    def __init__(self, store: StateStore, sides: Sides, towards: Side) -> None:
        self.backend, self.store, self.sides, self.towards = store.backend, store, sides, towards
        self._readers = [
            ChangeReader(self.backend, store, towards, table) for table in sides.sources
        ]
        self._lock = threading.Lock()
        self._told = 0.0
        self._troubled = {(p.table, key_text(p.key)) for p in store.problems()}

    def poll(self) -> int:
        """Copy what one read of each shard gives; says how many changes there were."""
        seen = 0
        with self._lock:
            started = self.backend.clock.now()
            for reader in self._readers:
                for shard, records in reader.batches():
                    for record in records:
                        self.copy_change(record)
                    if records:
                        reader.done(shard, records[-1])
                    seen += len(records)
        if seen < _SHORT_READ and started > self._told + _TELL_EVERY:
            self.store.caught_up(started)
            self._told = started
        return seen

    def drain(self, settle: float = 0.0) -> int:
        """Copy until nothing is left, and nothing comes for `settle` seconds."""
        total = 0
        quiet_since: float | None = None
        while True:
            seen = self.poll()
            total += seen
            if seen:
                quiet_since = None
                continue
            quiet_since = quiet_since or time.monotonic()
            if time.monotonic() - quiet_since >= settle:
                return total
            time.sleep(min(settle, 0.05))

    def skip_to_end(self) -> None:
        """Take all changes so far for known: they are this migration's own copies."""
        for reader in self._readers:
            found = True
            while found:
                found = False
                for shard, records in reader.batches():
                    if records:
                        reader.done(shard, records[-1])
                        found = True

    def copy_change(self, record: Record) -> Tally:
        """Bring one change to the other side, once."""
        try:
            self._rewrite(record.table, record.new)
        except Refused as problem:
            return self._trouble(record.table, record.key, str(problem))
        if not any(i and self.sides.concerns(record.table, i) for i in (record.old, record.new)):
            return Tally()
        try:
            after = self.sides.outputs(record.table, record.new)
            actions = self._actions(self._before(record), after)
            marker = self._marker_update(record)
            outcome = self._transact([*actions, marker])
        except Refused as problem:
            return self._trouble(record.table, record.key, str(problem))
        if outcome is None:
            self._untrouble(record.table, record.key)
            return Tally(copied=len(after), deleted=len(actions) - len(after))
        if outcome[-1] == "ConditionalCheckFailed":
            return Tally(skipped=1)
        return self._trouble(record.table, record.key, _taken(outcome, after))

    def copy_scanned(self, table: str, items: Sequence[Item]) -> Tally:
        """Copy items as a scan found them, except those that changed since copying began."""
        tally = Tally()
        batch: list[tuple[Item, dict[tuple[str, str], Output]]] = []
        size, addresses = 0, set[tuple[str, str]]()
        for item in items:
            try:
                outputs = self.sides.outputs(table, item)
            except Refused as problem:
                tally.add(self._trouble(table, self.sides.key_of(table, item), str(problem)))
                continue
            if not outputs:
                continue
            if size + len(outputs) + 1 > TRANSACTION_ITEMS or addresses & outputs.keys():
                tally.add(self._copy_batch(table, batch))
                batch, size, addresses = [], 0, set()
            batch.append((item, outputs))
            size += len(outputs) + 1
            addresses |= outputs.keys()
        tally.add(self._copy_batch(table, batch))
        return tally

    def copy_again(self, table: str, key: Item) -> None:
        """Copy an item as it is now, for repairs; a change that comes meanwhile starts it over."""
        for _ in range(_ATTEMPTS):
            marker = self.store.marker(self.towards, table, key)
            item = self.current(table, key)
            try:
                self._rewrite(table, item)
                outputs = self.sides.outputs(table, item)
            except Refused as problem:
                self._trouble(table, key, str(problem))
                return
            actions = self._actions({}, outputs)
            outcome = self._transact([*actions, self._marker_check(table, key, marker)])
            if outcome is None:
                self._untrouble(table, key)
                return
            if outcome[-1] != "ConditionalCheckFailed":
                self._trouble(table, key, _taken(outcome, outputs))
                return

    def remove_extra(
        self, copies: Iterable[tuple[str, Item]], source: str, source_key: Item
    ) -> None:
        """Delete copies whose original is gone."""
        marker = self.store.marker(self.towards, source, source_key)
        if self.current(source, source_key) is None:
            deletes: list[Item] = [
                {"Delete": {"TableName": self.backend.physical(table), "Key": key}}
                for table, key in copies
            ]
            self._transact([*deletes, self._marker_check(source, source_key, marker)])

    def current(self, table: str, key: Item) -> Item | None:
        request = {
            "TableName": self.backend.physical(table),
            "Key": key,
            "ConsistentRead": True,
        }
        found: Item | None = self.backend.call("GetItem", request).get("Item")
        return found

    def _copy_batch(
        self, table: str, batch: list[tuple[Item, dict[tuple[str, str], Output]]]
    ) -> Tally:
        tally = Tally()
        while batch:
            actions: list[Item] = []
            owners: list[int] = []
            for number, (item, outputs) in enumerate(batch):
                mine = self._actions({}, outputs)
                key = self.sides.key_of(table, item)
                actions += [*mine, self._marker_check(table, key, None)]
                owners += [number] * (len(mine) + 1)
            outcome = self._transact(actions, tally)
            if outcome is None:
                tally.copied += sum(len(outputs) for _, outputs in batch)
                return tally
            refused = {owners[n] for n, code in enumerate(outcome) if code != "None"}
            for number in refused:
                item, outputs = batch[number]
                codes = [code for n, code in enumerate(outcome) if owners[n] == number]
                if codes[-1] == "ConditionalCheckFailed":
                    tally.skipped += 1
                else:
                    key = self.sides.key_of(table, item)
                    tally.add(self._trouble(table, key, _taken(codes, outputs)))
            batch = [pair for number, pair in enumerate(batch) if number not in refused]
        return tally

    def _rewrite(self, table: str, item: Item | None) -> None:
        for rewrite in self.sides.rewrites:
            if item is not None and rewrite.table == table:
                rewrite_item(self.backend, rewrite, self.sides, item)

    def _before(self, record: Record) -> dict[tuple[str, str], Output]:
        try:
            return self.sides.outputs(record.table, record.old)
        except Refused:
            return {}  # what could not be copied has left nothing on the other side

    def _actions(
        self,
        before: Mapping[tuple[str, str], Output],
        after: Mapping[tuple[str, str], Output],
    ) -> list[Item]:
        """Puts first, in the order of `after`, then deletes of what is no longer stood for."""
        puts = [
            {
                "Put": {
                    "TableName": self.backend.physical(output.table),
                    "Item": output.item,
                    **output.claim,
                }
            }
            for output in after.values()
        ]
        deletes = []
        for address, output in before.items():
            if address not in after:
                key = self.sides.key_of(output.table, output.item)
                request = {"TableName": self.backend.physical(output.table), "Key": key}
                deletes.append({"Delete": request})
        return puts + deletes

    def _marker_update(self, record: Record) -> Item:
        return {
            "Update": {
                "TableName": self.store.table,
                "Key": self.store.marker_key(self.towards, record.table, record.key),
                "UpdateExpression": "SET #s = :s",
                "ConditionExpression": "attribute_not_exists(#s) OR #s < :s",
                "ExpressionAttributeNames": {"#s": "sequence"},
                "ExpressionAttributeValues": {":s": {"S": record.order}},
            }
        }

    def _marker_check(self, table: str, key: Item, expected: str | None) -> Item:
        check: Item = {
            "TableName": self.store.table,
            "Key": self.store.marker_key(self.towards, table, key),
            "ConditionExpression": "attribute_not_exists(#s)",
            "ExpressionAttributeNames": {"#s": "sequence"},
        }
        if expected is not None:
            check["ConditionExpression"] = "#s = :s"
            check["ExpressionAttributeValues"] = {":s": {"S": expected}}
        return {"ConditionCheck": check}

    def _transact(self, actions: list[Item], tally: Tally | None = None) -> list[str] | None:
        """None when all was written; else why each part was refused. Conflicts are retried."""
        request: Item = {"TransactItems": actions}
        if tally is not None:
            request["ReturnConsumedCapacity"] = "TOTAL"
        for attempt in range(_ATTEMPTS):
            try:
                answer = self.backend.call("TransactWriteItems", request)
            except TransactionCanceled as cancelled:
                codes = [reason.code for reason in cancelled.reasons]
                if not set(codes) - {"None"} <= _TRANSIENT:
                    return [code if code not in _TRANSIENT else "None" for code in codes]
            except TransactionConflict:
                pass
            except ValidationError as problem:
                raise Refused(f"the backend refuses it: {problem}") from problem
            else:
                if tally is not None:
                    for used in answer.get("ConsumedCapacity", ()):
                        tally.write_units += float(used.get("CapacityUnits", 0))
                return None
            time.sleep(random.uniform(0, 0.005 * 2 ** min(attempt, 8)))
        raise MigrationError("the backend refused a transaction as conflicting, again and again")

    def _trouble(self, table: str, key: Item, reason: str) -> Tally:
        self.store.add_problem(Problem(table, key, reason))
        self._troubled.add((table, key_text(key)))
        return Tally(problems=1)

    def _untrouble(self, table: str, key: Item) -> None:
        if (table, key_text(key)) in self._troubled:
            self.store.clear_problem(table, key)
            self._troubled.discard((table, key_text(key)))


def rewrite_item(backend: Backend, rewrite: Rewrite, sides: Sides, item: Item) -> bool:
    """Change an item in place, only as long as it is still what the change was computed from."""
    try:
        changed = rewrite.change(item)
    except Exception as problem:  # the user's function
        raise Refused(f"{rewrite.name}: {type(problem).__name__}: {problem}") from problem
    if changed == item:
        return False
    key = sides.key_of(rewrite.table, item)
    request = {"TableName": backend.physical(rewrite.table), "Key": key}
    names: dict[str, str] = {}
    values: Item = {}
    sets, removes, conditions = [], [], []
    for number, name in enumerate(sorted(item.keys() | changed.keys())):
        before, after = item.get(name), changed.get(name)
        if before == after or name in key:
            continue
        placeholder = f"#n{number}"
        names[placeholder] = name
        if before is None:
            conditions.append(f"attribute_not_exists({placeholder})")
        else:
            values[f":b{number}"] = before
            conditions.append(f"{placeholder} = :b{number}")
        if after is None:
            removes.append(placeholder)
        else:
            values[f":a{number}"] = after
            sets.append(f"{placeholder} = :a{number}")
    if not names:
        return False
    clauses = [f"SET {', '.join(sets)}"] * bool(sets) + [f"REMOVE {', '.join(removes)}"] * bool(
        removes
    )
    request["UpdateExpression"] = " ".join(clauses)
    names["#key"] = next(iter(key))
    request["ConditionExpression"] = " AND ".join(["attribute_exists(#key)", *conditions])
    request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = values
    try:
        backend.call("UpdateItem", request)
    except OperationError as problem:
        if problem.wire_name != "ConditionalCheckFailedException":
            raise
        return False  # somebody wrote it meanwhile: that change comes by the stream
    return True


def _taken(codes: Sequence[str], outputs: Mapping[tuple[str, str], Output]) -> str:
    for code, output in zip(codes, outputs.values(), strict=False):
        if code == "ConditionalCheckFailed":
            held = ", ".join(next(iter(v.values())) for v in list(output.item.values())[:1])
            return f"the value {held} in {output.table} is held by another item"
    refused = next((code for code in codes if code != "None"), "unknown")
    return f"the backend refused the copy: {refused}"
