"""The guarded copier: what changed on one side reaches the other exactly as it was, in order.

Every copied change leaves a marker with its sequence number, in the transaction that copies it.
A change that is not newer than its marker is skipped, so a repeated record has no second effect;
a copy of a scanned item (backfill) demands that there is no marker, so that it can neither
overwrite a newer write nor bring a deleted item back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from keyfold.errors import (
    MigrationError,
    TransactionCanceled,
    TransactionConflict,
    ValidationError,
)
from keyfold.limits import TRANSACTION_ITEMS
from keyfold.migrations.backend import Item
from keyfold.migrations.changes import ChangeReader, ItemChange
from keyfold.migrations.migration import Side
from keyfold.migrations.moves import Output
from keyfold.migrations.sides import Sides, Uncopyable, rewrite_item
from keyfold.migrations.state import CopyFailure, StateStore, key_text
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import PASSING, transact

_ATTEMPTS: Final = 12
_TELL_EVERY: Final = 0.1
_REFUSED: Final = "ConditionalCheckFailed"


@dataclass
class Tally:
    """What copying did."""

    copied: int = 0
    skipped: int = 0
    problems: int = 0
    write_units: float = 0.0

    def add(self, other: Tally) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Copier:
    """Copies towards one side."""

    def __init__(self, store: StateStore, sides: Sides, towards: Side) -> None:
        self.backend, self.store, self.sides, self.towards = store.backend, store, sides, towards
        self._readers = [
            ChangeReader(self.backend, store, towards, table) for table in sides.sources
        ]
        self._lock = threading.Lock()
        self._told = 0.0
        self._reached = 0.0
        """Every change before this moment has been copied."""
        self._troubled = {(p.table, key_text(p.key)) for p in store.problems()}

    def poll(self) -> int:
        """Copy what one read of each shard gives; says how many changes there were."""
        seen = 0
        with self._lock:
            reached = self.backend.clock.now()
            for reader in self._readers:
                for shard, records in reader.batches():
                    self.copy_changes(records)
                    if records:
                        reader.done(shard, records[-1])
                        reached = min(reached, records[-1].created)
                    seen += len(records)
            self._reached = max(self._reached, reached)
        if self._reached > self._told + _TELL_EVERY:
            self.store.caught_up(self._reached)
            self._told = self._reached
        return seen

    def catch_up(self) -> None:
        """Copy everything that has changed so far; traffic goes on."""
        now = self.backend.clock.now()
        while self._reached < now:
            self.poll()

    def drain(self, settle: float = 0.0) -> None:
        """Copy until nothing is left, and nothing comes for `settle` seconds; nobody writes."""
        quiet_since: float | None = None
        while True:
            if self.poll():
                quiet_since = None
                continue
            quiet_since = quiet_since or time.monotonic()
            if time.monotonic() - quiet_since >= settle:
                return
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

    def copy_changes(self, records: Sequence[ItemChange]) -> None:
        """Bring changes to the other side, each once, in order for each item.

        Changes of different items share a transaction. Where one of them is refused, those of
        its transaction go one by one.
        """
        batch: list[tuple[ItemChange, list[Item]]] = []
        taken: set[tuple[str, str]] = set()
        for record in records:
            planned = self._planned(record)
            if planned is None:
                continue
            addresses, actions = planned
            if len(taken) + len(addresses) > TRANSACTION_ITEMS or addresses & taken:
                self._copy_together(batch)
                batch, taken = [], set()
            batch.append((record, actions))
            taken |= addresses
        self._copy_together(batch)

    def _planned(self, record: ItemChange) -> tuple[set[tuple[str, str]], list[Item]] | None:
        """What one change writes, its marker last; None where there is nothing to do."""
        try:
            self._rewrite(record.table, record.new)
            images = [image for image in (record.old, record.new) if image is not None]
            if not any(self.sides.concerns(record.table, image) for image in images):
                return None
            after = self.sides.outputs(record.table, record.new)
            before = self._before(record, after)
            marker = (f"marker of {record.table}", key_text(record.key))
            actions = [*self._actions(before, after), self._marker_update(record)]
            return {*before, *after, marker}, actions
        except Uncopyable as problem:
            self._trouble(record.table, record.key, str(problem))
            return None

    def _copy_together(self, batch: list[tuple[ItemChange, list[Item]]]) -> None:
        if not batch:
            return
        try:
            outcome = self._transact([action for _, actions in batch for action in actions])
        except Uncopyable as problem:
            if len(batch) == 1:
                record = batch[0][0]
                self._trouble(record.table, record.key, str(problem))
                return
            outcome = [_REFUSED]
        if outcome is None:
            for record, _ in batch:
                self._untrouble(record.table, record.key)
        elif len(batch) > 1:
            for one in batch:
                self._copy_together([one])
        elif outcome[-1] != _REFUSED:
            record, actions = batch[0]
            self._trouble(record.table, record.key, _taken(outcome, actions))

    def copy_scanned(self, table: str, items: Sequence[Item]) -> Tally:
        """Copy items as a scan found them, except those that changed since copying began."""
        tally = Tally()
        batch: list[tuple[Item, dict[tuple[str, str], Output]]] = []
        size, addresses = 0, set[tuple[str, str]]()
        for item in items:
            try:
                outputs = self.sides.outputs(table, item)
            except Uncopyable as problem:
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
            except Uncopyable as problem:
                self._trouble(table, key, str(problem))
                return
            actions = self._actions({}, outputs)
            outcome = self._transact([*actions, self._marker_check(table, key, marker)])
            if outcome is None:
                self._untrouble(table, key)
                return
            if outcome[-1] != _REFUSED:
                self._trouble(table, key, _taken(outcome, actions))
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
                if codes[-1] == _REFUSED:
                    tally.skipped += 1
                else:
                    key = self.sides.key_of(table, item)
                    mine = self._actions({}, outputs)
                    tally.add(self._trouble(table, key, _taken(codes, mine)))
            batch = [pair for number, pair in enumerate(batch) if number not in refused]
        return tally

    def _rewrite(self, table: str, item: Item | None) -> None:
        if item is not None:
            rewrite_item(self.sides, table, item)

    def _before(
        self, record: ItemChange, after: Mapping[tuple[str, str], Output]
    ) -> dict[tuple[str, str], Output]:
        """What the item stood for; a value that another item holds was never its own."""
        try:
            outputs = self.sides.outputs(record.table, record.old)
        except Uncopyable:
            return {}  # what could not be copied has left nothing on the other side
        return {
            address: output
            for address, output in outputs.items()
            if address in after or not output.claim or self._is_held(output)
        }

    def _is_held(self, output: Output) -> bool:
        key = self.sides.key_of(output.table, output.item)
        return self.current(output.table, key) in (None, output.item)

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
                deletes.append({"Delete": {**request, **output.claim}})
        return puts + deletes

    def _marker_update(self, record: ItemChange) -> Item:
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
        try:
            answer = run_by(self.backend.call, transact("TransactWriteItems", request))
        except TransactionCanceled as cancelled:
            codes = [reason.code for reason in cancelled.reasons]
            return [code if code not in PASSING else "None" for code in codes]
        except ValidationError as problem:
            raise Uncopyable(f"the backend refuses it: {problem}") from problem
        except TransactionConflict as conflict:
            raise MigrationError(
                "the backend refused a transaction as conflicting, again and again"
            ) from conflict
        if tally is not None:
            for used in answer.get("ConsumedCapacity", ()):
                tally.write_units += float(used.get("CapacityUnits", 0))
        return None

    def _trouble(self, table: str, key: Item, reason: str) -> Tally:
        self.store.add_problem(CopyFailure(table, key, reason))
        self._troubled.add((table, key_text(key)))
        return Tally(problems=1)

    def _untrouble(self, table: str, key: Item) -> None:
        if (table, key_text(key)) in self._troubled:
            self.store.clear_problem(table, key)
            self._troubled.discard((table, key_text(key)))


def _taken(codes: Sequence[str], actions: Sequence[Item]) -> str:
    for code, action in zip(codes, actions, strict=False):
        if code == _REFUSED and "Put" in action:
            request = action["Put"]
            held = next(iter(next(iter(request["Item"].values())).values()))
            return f"the value {held} in {request['TableName']} is held by another item"
    refused = next((code for code in codes if code != "None"), "unknown")
    return f"the backend refused the copy: {refused}"
