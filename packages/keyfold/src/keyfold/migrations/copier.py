"""The guarded copier: changes of one side reach the other exactly and in order.

Every copied change leaves a marker with its sequence number, in the same transaction. A change that
is not newer than its marker is skipped, so a repeated record has no effect. A copy of a scanned
item (backfill) requires that the item has no marker, so it can neither overwrite a newer write nor
restore a deleted item.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from keyfold.migrations.backend import Item
from keyfold.migrations.changes import ChangeReader, ItemChange
from keyfold.migrations.copy_writes import REFUSED, CopyWrites, refusal
from keyfold.migrations.migration import Side
from keyfold.migrations.moves import Output
from keyfold.migrations.ownership import Address
from keyfold.migrations.sides import Sides, Tally, Uncopyable, rewrite_item
from keyfold.migrations.state import CopyFailure, ForeignWrite, StateStore, key_text
from keyfold_engine.limits import TRANSACTION_ITEMS

_ATTEMPTS: Final = 12
POLL_SECONDS: Final = 0.02
_TELL_EVERY: Final = 0.1
_NOTE_EVERY: Final = 1.0


class Copier:
    """Copies towards one side."""

    def __init__(
        self, store: StateStore, sides: Sides, towards: Side, back: Sides | None = None
    ) -> None:
        self.backend, self.store, self.sides, self.towards = store.backend, store, sides, towards
        self.back = back or Sides(store.backend, ())
        """The way back, which says where an item came from."""
        self.writes = CopyWrites(store, sides, towards, self.back)
        self._readers = [
            ChangeReader(self.backend, store, towards, table) for table in sides.sources
        ]
        self._lock = threading.Lock()
        self._told = 0.0
        self.clears = False
        """Nothing is written, but what was deleted is deleted here too."""
        self._noted_foreign = float("-inf")
        self._reached = 0.0
        """Every change before this moment has been copied."""
        self._spent: dict[str, float] = {}
        self._spending = threading.Lock()

    def poll(self) -> int:
        """Copy one read of each shard; returns the number of changes."""
        seen, over = 0, False
        with self._lock:
            reached = self.backend.clock.now()
            for reader in self._readers:
                for shard, records in reader.batches():
                    if records and self.store.load().writes == self.towards:
                        # Another migrator has switched. What changes on this side now are copies,
                        # and would come back over newer writes; what was before has its markers.
                        over = True
                        continue
                    self.copy_changes(records)
                    if records:
                        reader.done(shard, records[-1])
                        reached = min(reached, records[-1].created)
                    seen += len(records)
            self._reached = max(self._reached, reached)
        if not over and self._reached > self._told + _TELL_EVERY:
            self.store.caught_up(self._reached)
            self._told = self._reached
        return seen

    @property
    def lag(self) -> float:
        """Seconds since the last moment before which every change is copied."""
        return max(self.backend.clock.now() - self._reached, 0.0) if self._reached else 0.0

    def take_units(self, table: str) -> float:
        """Write units used for a table's changes since the last call."""
        with self._spending:
            return self._spent.pop(table, 0.0)

    def _spend(self, table: str, tally: Tally) -> None:
        with self._spending:
            self._spent[table] = self._spent.get(table, 0.0) + tally.write_units

    def catch_up(self) -> None:
        """Copy everything that has changed so far, while traffic continues."""
        now = self.backend.clock.now()
        while self._reached < now:
            self.poll()

    def settle(self, seconds: float) -> None:
        """Copy for this long, since streams may lag, then all that has changed so far."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not self.poll():
                time.sleep(POLL_SECONDS)
        self.catch_up()

    def skip_to_end(self) -> None:
        """Skip all changes so far: they are on both sides."""
        while self.skip():
            pass

    def skip(self) -> bool:
        """Skip one read of each shard; returns whether there were changes."""
        found = False
        for reader in self._readers:
            for shard, records in reader.batches():
                if records:
                    reader.done(shard, records[-1])
                    found = True
        return found

    def copy_changes(self, records: Sequence[ItemChange], tries: int = _ATTEMPTS) -> None:
        """Copy changes to the other side, once each, in order per item.

        Changes of different items share a transaction. If one of them is refused, its transaction
        is split.
        """
        batch: list[tuple[ItemChange, list[Item]]] = []
        taken: set[tuple[str, str]] = set()
        size = 0
        current = self._current_of(records)
        for record in records:
            item = current.get((record.table, key_text(record.key)))
            planned = self._plan_copy(record, item)
            if planned is None:
                continue
            addresses, actions = planned
            if size + len(actions) > TRANSACTION_ITEMS or addresses & taken:
                self._copy_together(batch, tries)
                batch, taken, size = [], set(), 0
                # What it depends on may just have been written.
                planned = self._plan_copy(record, item)
                if planned is None:
                    continue
                addresses, actions = planned
            batch.append((record, actions))
            taken |= addresses
            size += len(actions)
        self._copy_together(batch, tries)

    def _current_of(self, records: Sequence[ItemChange]) -> dict[tuple[str, str], Item]:
        """The changed items in their current state.

        Several items can map to one of the other side over time, and their changes arrive in any
        order: a deleted item must not be restored by an older change.
        """
        routed = {route.source for route in self.sides.routes}
        return self.writes.items_at(
            (one.table, key_text(one.key)) for one in records if one.table in routed
        )

    def _plan_copy(
        self, record: ItemChange, item: Item | None
    ) -> tuple[set[tuple[str, str]], list[Item]] | None:
        """What one change writes, its marker last; None if there is nothing to do.

        `item` is its current state.
        """
        try:
            self._rewrite(record.table, record.new, record.old)
            images = [image for image in (record.old, record.new) if image is not None]
            if not any(self.sides.concerns(record.table, image) for image in images):
                return None
            after = self._outputs_after(record, item)
            left = self.writes.outdated_by(record, after)
            if self.clears:
                after = {}
            marker = (f"marker of {record.table}", key_text(record.key))
            source = (record.table, key_text(record.key))
            actions = [
                *self.writes.actions(left, after, source, item),
                self.writes.marker_update(record),
            ]
            return {*left, *after, marker, source}, actions
        except Uncopyable as problem:
            self._trouble(record.table, record.key, str(problem))
            return None

    def _outputs_after(self, record: ItemChange, item: Item | None) -> dict[Address, Output]:
        """What a changed item maps to in its current state.

        If it was deleted and made again since, what is stored there is of the deleted one, and
        nothing of it stays but numbers, which are counted there.
        """
        after = self.sides.outputs(record.table, item)
        if record.new is not None:
            return after
        return {a: one if one.kept else replace(one, onto=None) for a, one in after.items()}

    def _copy_together(self, batch: list[tuple[ItemChange, list[Item]]], tries: int) -> None:
        if not batch:
            return
        try:
            outcome = self._transact(
                batch[0][0].table, [action for _, actions in batch for action in actions]
            )
        except Uncopyable as problem:
            if len(batch) == 1:
                record = batch[0][0]
                self._trouble(record.table, record.key, str(problem))
                return
            outcome = [REFUSED]
        if outcome is None:
            for record, _ in batch:
                self.store.clear_problem(record.table, record.key)
            self._note_foreign([record for record, _ in batch])
        elif len(batch) > 1:
            for one in batch:
                self._copy_together([one], tries)
        elif outcome[-1] != REFUSED:
            record, actions = batch[0]
            if tries and self.writes.is_race(outcome, actions):
                self.copy_changes([record], tries - 1)
                return
            self._trouble(record.table, record.key, refusal(outcome, actions))
        else:
            self._copy_touched(batch[0][0])

    def copy_scanned(self, table: str, items: Sequence[Item]) -> Tally:
        """Copy scanned items, except those that changed since copying began."""
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
                source = (table, key_text(key))
                actions = self.writes.actions({}, outputs, source, item, scanned=True)
            except Uncopyable as problem:
                tally.add(self._trouble(table, key, str(problem)))
                continue
            actions.append(self.writes.marker_check(table, key, None))
            if size + len(actions) > TRANSACTION_ITEMS:
                tally.add(self._copy_batch(table, batch))
                batch, size, addresses = [], 0, set()
            batch.append((key, actions))
            size += len(actions)
            addresses |= outputs.keys()
        tally.add(self._copy_batch(table, batch))
        return tally

    def copy_again(self, table: str, key: Item) -> None:
        """Copy an item in its current state, for repairs; a concurrent change restarts it."""
        for _ in range(_ATTEMPTS):
            marker = self.store.marker(self.towards, table, key)
            item = self.backend.item(table, key)
            try:
                self._rewrite(table, item)
                outputs = self.sides.outputs(table, item)
                actions = self.writes.actions({}, outputs, (table, key_text(key)), item)
            except Uncopyable as problem:
                self._trouble(table, key, str(problem))
                return
            check = self.writes.marker_check(table, key, marker)
            outcome = self._transact(table, [*actions, check])
            if outcome is None:
                self.store.clear_problem(table, key)
                return
            if outcome[-1] != REFUSED and not self.writes.is_race(outcome, actions):
                self._trouble(table, key, refusal(outcome, actions))
                return

    def remove_extra(
        self, copies: Mapping[tuple[str, str], Item], source: str, source_key: Item
    ) -> None:
        """Delete copies whose original is gone, if they are unchanged."""
        marker = self.store.marker(self.towards, source, source_key)
        if self.backend.item(source, source_key) is None:
            deletes = [self.writes.delete(table, item) for (table, _), item in copies.items()]
            check = self.writes.marker_check(source, source_key, marker)
            self._transact(source, [*deletes, check])

    def _copy_batch(self, table: str, batch: list[tuple[Item, list[Item]]]) -> Tally:
        """Items by key, each with its writes, marker last."""
        tally = Tally()
        while batch:
            owners = [number for number, (_, mine) in enumerate(batch) for _ in mine]
            outcome = self.writes.transact([action for _, mine in batch for action in mine], tally)
            if outcome is None:
                tally.copied += len(batch)
                return tally
            refused = {owners[n] for n, code in enumerate(outcome) if code != "None"}
            for number in refused:
                key, mine = batch[number]
                codes = [code for n, code in enumerate(outcome) if owners[n] == number]
                if codes[-1] == REFUSED:
                    tally.skipped += 1
                elif self.writes.is_race(codes, mine):
                    self.copy_again(table, key)
                else:
                    tally.add(self._trouble(table, key, refusal(codes, mine)))
            batch = [pair for number, pair in enumerate(batch) if number not in refused]
        return tally

    def _rewrite(self, table: str, item: Item | None, image: Item | None = None) -> None:
        if item is not None:
            tally = Tally()
            rewrite_item(self.sides, table, item, image, tally)
            self._spend(table, tally)

    def _transact(self, table: str, actions: list[Item]) -> list[str] | None:
        """Write the effects of a table's change, and count the units."""
        tally = Tally()
        outcome = self.writes.transact(actions, tally)
        self._spend(table, tally)
        return outcome

    def _copy_touched(self, record: ItemChange) -> None:
        """Copy the current state of an item that applications write on both sides."""
        for _ in range(_ATTEMPTS):
            marker = self.store.marker(self.towards, record.table, record.key)
            if not marker.touches or (marker.sequence or "") >= record.order:
                return
            current = self.backend.item(record.table, record.key)
            try:
                after = self._outputs_after(record, current)
                left = self.writes.outdated_by(record, after)
                source = (record.table, key_text(record.key))
                after = {} if self.clears else after
                actions = self.writes.actions(left, after, source, current)
            except Uncopyable as problem:
                self._trouble(record.table, record.key, str(problem))
                return
            # More changes than applications made on both sides come from another writer.
            foreign = marker.followed >= marker.touches
            update = self.writes.marker_update(record)
            values = update["Update"]["ExpressionAttributeValues"]
            values[":t"] = {"N": str(marker.touches)}
            if not foreign:
                update["Update"]["UpdateExpression"] = "SET #s = :s ADD followed :one"
                values[":one"] = {"N": "1"}
            update["Update"]["ConditionExpression"] = (
                "(attribute_not_exists(#s) OR #s < :s) AND touches = :t"
            )
            outcome = self._transact(record.table, [*actions, update])
            if outcome is None:
                self.store.clear_problem(record.table, record.key)
                if foreign:
                    self._note_foreign([record])
                return
            if outcome[-1] != REFUSED and not self.writes.is_race(outcome, actions):
                self._trouble(record.table, record.key, refusal(outcome, actions))
                return

    def _note_foreign(self, records: Sequence[ItemChange]) -> None:
        """Record a write to the old side alone, unless it was this migration's."""
        moment = time.monotonic()
        if self.towards != "new" or moment <= self._noted_foreign + _NOTE_EVERY:
            return
        for record in reversed(records):
            if not self._is_own(record):
                self._noted_foreign = moment
                now = self.backend.clock.now()
                # Streams report whole seconds.
                at = min(record.created + 1.0, now) if record.created else now
                self.store.note_foreign(ForeignWrite(record.table, record.key, at))
                return

    def _is_own(self, record: ItemChange) -> bool:
        """Whether a change is one of this migration's rewrites."""
        log = self.sides.log
        if log is None or record.old is None or record.new is None:
            return False
        if not any(rewrite.table == record.table for rewrite in self.sides.rewrites):
            return False
        noted = log.find(record.table, record.key)
        return noted is not None and noted.is_of(record.old, record.new)

    def _trouble(self, table: str, key: Item, reason: str) -> Tally:
        self.store.add_problem(CopyFailure(table, key, reason))
        return Tally(problems=1)
