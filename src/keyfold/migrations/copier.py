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
from keyfold.migrations.spelling import equal
from keyfold.migrations.state import CopyFailure, CopyMarker, ForeignWrite, StateStore, key_text
from keyfold.migrations.undo import UndoRecord
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import PASSING, transact

_ATTEMPTS: Final = 12
_TELL_EVERY: Final = 0.1
_NOTE_EVERY: Final = 1.0
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
        self._noted_foreign = float("-inf")
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

    @property
    def lag(self) -> float:
        """Seconds since the last moment before which every change is copied."""
        return max(self.backend.clock.now() - self._reached, 0.0) if self._reached else 0.0

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
        size = 0
        for record in records:
            planned = self._planned(record)
            if planned is None:
                continue
            addresses, actions = planned
            if size + len(actions) > TRANSACTION_ITEMS or addresses & taken:
                self._copy_together(batch)
                batch, taken, size = [], set(), 0
                # What it stands on may just have been written.
                planned = self._planned(record)
                if planned is None:
                    continue
                addresses, actions = planned
            batch.append((record, actions))
            taken |= addresses
            size += len(actions)
        self._copy_together(batch)

    def _planned(self, record: ItemChange) -> tuple[set[tuple[str, str]], list[Item]] | None:
        """What one change writes, its marker last; None where there is nothing to do."""
        try:
            self._rewrite(record.table, record.new, record.old)
            images = [image for image in (record.old, record.new) if image is not None]
            if not any(self.sides.concerns(record.table, image) for image in images):
                return None
            after = self.sides.outputs(record.table, record.new)
            before = self._before(record, after)
            marker = (f"marker of {record.table}", key_text(record.key))
            source = (record.table, key_text(record.key))
            actions = [*self._actions(before, after, source), self._marker_update(record)]
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
            self._note_foreign(batch[-1][0])
        elif len(batch) > 1:
            for one in batch:
                self._copy_together([one])
        elif outcome[-1] != _REFUSED:
            record, actions = batch[0]
            if self._is_race(outcome, actions):
                self.copy_changes([record])
                return
            self._trouble(record.table, record.key, _taken(outcome, actions))
        elif self.towards == "new":
            self._copy_touched(batch[0][0])

    def copy_scanned(self, table: str, items: Sequence[Item]) -> Tally:
        """Copy items as a scan found them, except those that changed since copying began."""
        tally = Tally()
        batch: list[tuple[Item, list[Item]]] = []
        size, addresses = 0, set[tuple[str, str]]()
        for item in items:
            key = self.sides.key_of(table, item)
            try:
                outputs = self.sides.outputs(table, item)
                if not outputs:
                    continue
                if addresses & outputs.keys():
                    tally.add(self._copy_batch(table, batch))
                    batch, size, addresses = [], 0, set()
                actions = self._actions({}, outputs, (table, key_text(key)), scanned=True)
            except Uncopyable as problem:
                tally.add(self._trouble(table, key, str(problem)))
                continue
            actions.append(self._marker_check(table, key, None))
            if size + len(actions) > TRANSACTION_ITEMS:
                tally.add(self._copy_batch(table, batch))
                batch, size, addresses = [], 0, set()
            batch.append((key, actions))
            size += len(actions)
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
                actions = self._actions({}, outputs, (table, key_text(key)))
            except Uncopyable as problem:
                self._trouble(table, key, str(problem))
                return
            outcome = self._transact([*actions, self._marker_check(table, key, marker)])
            if outcome is None:
                self._untrouble(table, key)
                return
            if outcome[-1] != _REFUSED and not self._is_race(outcome, actions):
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

    def _copy_batch(self, table: str, batch: list[tuple[Item, list[Item]]]) -> Tally:
        """Items by their keys, each with what copies it; its marker is the last."""
        tally = Tally()
        while batch:
            owners = [number for number, (_, mine) in enumerate(batch) for _ in mine]
            outcome = self._transact([action for _, mine in batch for action in mine], tally)
            if outcome is None:
                tally.copied += len(batch)
                return tally
            refused = {owners[n] for n, code in enumerate(outcome) if code != "None"}
            for number in refused:
                key, mine = batch[number]
                codes = [code for n, code in enumerate(outcome) if owners[n] == number]
                if codes[-1] == _REFUSED:
                    tally.skipped += 1
                elif self._is_race(codes, mine):
                    self.copy_again(table, key)
                else:
                    tally.add(self._trouble(table, key, _taken(codes, mine)))
            batch = [pair for number, pair in enumerate(batch) if number not in refused]
        return tally

    def _rewrite(self, table: str, item: Item | None, image: Item | None = None) -> None:
        if item is not None:
            rewrite_item(self.sides, table, item, image)

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
        source: tuple[str, str],
        *,
        scanned: bool = False,
    ) -> list[Item]:
        """Puts first, in the order of `after`, then deletes of what is no longer stood for."""
        actions: list[Item] = []
        for address, output in after.items():
            if output.part is not None and self._is_gone(output):
                continue
            actions += (
                self._noted(output, address == source, scanned)
                if self.sides.stays(output.table)
                else [self._put(output)]
            )
        for address, output in before.items():
            if address not in after and not (output.part is not None and self._is_gone(output)):
                actions.append(self._delete(output))
        return actions

    def _is_race(self, codes: Sequence[str], actions: Sequence[Item]) -> bool:
        """Whether another of this migration's writers was faster, and nothing else is wrong."""
        refused = [a for c, a in zip(codes, actions, strict=False) if c == _REFUSED]
        return bool(refused) and all(
            a.get("Put", {}).get("TableName") == self.store.table for a in refused
        )

    def _is_gone(self, output: Output) -> bool:
        """Whether there is nothing any more that this could be a part of."""
        return self.current(output.table, self.sides.key_of(output.table, output.item)) is None

    def _noted(self, output: Output, own: bool, scanned: bool) -> list[Item]:
        """A put into a table that stays, with what undoes it."""
        log = self.sides.log
        assert log is not None
        key = self.sides.key_of(output.table, output.item)
        record = log.find(output.table, key)
        if record is not None and record.kind == "made":
            return [self._put(output)]
        there = self.current(output.table, key)
        item = output.settled(there)
        if there is None:
            if output.part is not None:
                return []
            made = UndoRecord("made", output.table, key, revision=_after(record))
            return [self._put(output), *log.writes(made)]
        if equal(there, item):
            if record is None and scanned and not own and output.part is None:
                log.note(UndoRecord("found", output.table, key))
            return []
        if output.moved and not own:
            raise Uncopyable(f"{_shown(output.table, key)} is taken by another item")
        if output.claim:
            return [self._put(output)]
        changed = (record or UndoRecord("changed", output.table, key, revision=-1)).noting(
            there, item
        )
        changed.kind = "changed"
        return [self._put(output), *log.writes(changed)]

    def _put(self, output: Output) -> Item:
        name = self.backend.physical(output.table)
        key = self.sides.key_of(output.table, output.item)
        if output.part is not None:
            rest = {n: w for n, w in output.item.items() if n not in key}
            return {"Update": {"TableName": name, "Key": key, **_part(rest, output.part, key)}}
        item = output.item
        if output.onto is not None:
            item = output.onto(self.current(output.table, key))
        return {"Put": {"TableName": name, "Item": item, **output.claim}}

    def _delete(self, output: Output) -> Item:
        name = self.backend.physical(output.table)
        key = self.sides.key_of(output.table, output.item)
        if output.part is not None:
            return {"Update": {"TableName": name, "Key": key, **_part({}, output.part, key)}}
        return {"Delete": {"TableName": name, "Key": key, **output.claim}}

    def _marker_update(self, record: ItemChange) -> Item:
        return {
            "Update": {
                "TableName": self.store.table,
                "Key": self.store.marker_key(self.towards, record.table, record.key),
                "UpdateExpression": "SET #s = :s",
                "ConditionExpression": "(attribute_not_exists(#s) OR #s < :s) AND "
                "attribute_not_exists(touches)",
                "ExpressionAttributeNames": {"#s": "sequence"},
                "ExpressionAttributeValues": {":s": {"S": record.order}},
            }
        }

    def _copy_touched(self, record: ItemChange) -> None:
        """Copy an item that applications write on both sides: as it is, not as it once was."""
        for _ in range(_ATTEMPTS):
            marker = self.store.marker(self.towards, record.table, record.key)
            if not marker.touches or (marker.sequence or "") >= record.order:
                return
            current = self.current(record.table, record.key)
            try:
                after = self.sides.outputs(record.table, current)
                before = self._before(record, after)
                source = (record.table, key_text(record.key))
                actions = self._actions(before, after, source)
            except Uncopyable as problem:
                self._trouble(record.table, record.key, str(problem))
                return
            update = self._marker_update(record)
            update["Update"]["UpdateExpression"] = "SET #s = :s ADD followed :one"
            update["Update"]["ConditionExpression"] = (
                "(attribute_not_exists(#s) OR #s < :s) AND touches = :t"
            )
            update["Update"]["ExpressionAttributeValues"] |= {
                ":one": {"N": "1"},
                ":t": {"N": str(marker.touches)},
            }
            outcome = self._transact([*actions, update])
            if outcome is None:
                self._untrouble(record.table, record.key)
                if marker.followed >= marker.touches:
                    self._note_foreign(record)
                return
            if outcome[-1] != _REFUSED and not self._is_race(outcome, actions):
                self._trouble(record.table, record.key, _taken(outcome, actions))
                return

    def _note_foreign(self, record: ItemChange) -> None:
        """Somebody wrote the old side alone."""
        now = time.monotonic()
        if self.towards == "new" and now > self._noted_foreign + _NOTE_EVERY:
            self._noted_foreign = now
            at = self.backend.clock.now()
            self.store.note_foreign(ForeignWrite(record.table, record.key, at))

    def _marker_check(self, table: str, key: Item, expected: CopyMarker | None) -> Item:
        check: Item = {
            "TableName": self.store.table,
            "Key": self.store.marker_key(self.towards, table, key),
            "ConditionExpression": "attribute_not_exists(#s)",
            "ExpressionAttributeNames": {"#s": "sequence"},
        }
        expected = expected or CopyMarker()
        values: Item = {}
        if expected.sequence is not None:
            check["ConditionExpression"] = "#s = :s"
            values[":s"] = {"S": expected.sequence}
        if expected.touches:
            check["ConditionExpression"] += " AND touches = :t"
            values[":t"] = {"N": str(expected.touches)}
        else:
            check["ConditionExpression"] += " AND attribute_not_exists(touches)"
        if values:
            check["ExpressionAttributeValues"] = values
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


def _part(values: Item, part: frozenset[str], key: Item) -> Item:
    """An update that makes an item's part this, and leaves the rest alone."""
    names = {f"#n{number}": name for number, name in enumerate(sorted(part))}
    sets = [p for p, name in names.items() if name in values]
    removes = [p for p, name in names.items() if name not in values]
    clauses = [f"SET {', '.join(f'{p} = :{p[1:]}' for p in sets)}"] * bool(sets)
    clauses += [f"REMOVE {', '.join(removes)}"] * bool(removes)
    request: Item = {
        "UpdateExpression": " ".join(clauses),
        "ConditionExpression": "attribute_exists(#key)",
        "ExpressionAttributeNames": {**names, "#key": next(iter(key))},
    }
    if sets:
        request["ExpressionAttributeValues"] = {f":{p[1:]}": values[names[p]] for p in sets}
    return request


def _after(record: UndoRecord | None) -> int:
    return 0 if record is None else record.revision + 1


def _shown(table: str, key: Item) -> str:
    return f"{table} {', '.join(f'{n}={next(iter(v.values()))}' for n, v in key.items())}"


def _taken(codes: Sequence[str], actions: Sequence[Item]) -> str:
    for code, action in zip(codes, actions, strict=False):
        if code == _REFUSED and "Put" in action:
            request = action["Put"]
            held = next(iter(next(iter(request["Item"].values())).values()))
            return f"the value {held} in {request['TableName']} is held by another item"
    refused = next((code for code in codes if code != "None"), "unknown")
    return f"the backend refused the copy: {refused}"
