"""The guarded copier: changes of one side reach the other exactly and in order.

Every copied change leaves a marker with its sequence number, in the same transaction. A change that
is not newer than its marker is skipped, so a repeated record has no effect. A copy of a scanned
item (backfill) requires that the item has no marker, so it can neither overwrite a newer write nor
restore a deleted item.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

from keyfold.migrations.backend import Item
from keyfold.migrations.changes import ChangeReader, ItemChange
from keyfold.migrations.copy_writes import REFUSED, CopyWrites, Outdated, refusal
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.migration import Side
from keyfold.migrations.moves import Output
from keyfold.migrations.ownership import Address
from keyfold.migrations.progress import BatchSize
from keyfold.migrations.state import CopyFailure, CopyMarker, ForeignWrite, key_text
from keyfold.migrations.state_store import StateStore

_ATTEMPTS: Final = 12
POLL_SECONDS: Final = 0.02
_TELL_EVERY: Final = 0.1
_NOTE_EVERY: Final = 1.0


@dataclass(frozen=True)
class _Source:
    """An item to copy, as it is stored; without a record it was scanned."""

    table: str
    key: Item
    item: Item | None
    record: ItemChange | None = None

    @property
    def address(self) -> Address:
        return self.table, key_text(self.key)


_Planned: TypeAlias = tuple[_Source, list[Item]]
"""An item, and what its copy writes."""


class Copier:
    """Copies towards one side."""

    def __init__(
        self, store: StateStore, direction: Direction, towards: Side, back: Direction | None = None
    ) -> None:
        self.backend, self.store, self.direction, self.towards = (
            store.backend,
            store,
            direction,
            towards,
        )
        self.back = back or Direction(store.backend, ())
        """The way back, which says where an item came from."""
        self.writes = CopyWrites(store, direction, towards, self.back)
        self._readers = [
            ChangeReader(self.backend, store, towards, table) for table in direction.sources
        ]
        self._size = BatchSize()
        self._lock = threading.Lock()
        self._told = 0.0
        self.clears = False
        """Nothing is written, but what was deleted is deleted here too."""
        self._noted_foreign = float("-inf")
        self._reached = 0.0
        """Every change before this moment has been copied."""

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
            began = time.monotonic()
            self.store.caught_up(self._reached)
            self._size.notice(time.monotonic() - began)
            self._told = self._reached
        return seen

    @property
    def lag(self) -> float:
        """Seconds since the last moment before which every change is copied."""
        return max(self.backend.clock.now() - self._reached, 0.0) if self._reached else 0.0

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
        """Copy changes to the other side, once each, in order per item."""
        current = self._current_of(records)
        for table in dict.fromkeys(record.table for record in records):
            found = (
                _Source(table, one.key, current.get((table, key_text(one.key))), one)
                for one in records
                if one.table == table
            )
            self._copy(found, tries)

    def copy_scanned(self, table: str, items: Sequence[Item]) -> None:
        """Copy scanned items, except those that changed since copying began."""
        found = (_Source(table, self.direction.key_of(table, item), item) for item in items)
        self._copy(found, _ATTEMPTS)

    def _current_of(self, records: Sequence[ItemChange]) -> dict[Address, Item]:
        """The changed items in their current state.

        Several items can map to one of the other side over time, and their changes arrive in any
        order: a deleted item must not be restored by an older change.
        """
        routed = {route.source for route in self.direction.routes}
        return self.writes.items_at(
            (one.table, key_text(one.key)) for one in records if one.table in routed
        )

    def _copy(self, sources: Iterable[_Source], tries: int) -> None:
        """Copy items, as many in one transaction as it takes and as do not touch each other."""
        batch, taken = list[_Planned](), set[Address]()
        for source in sources:
            planned = self._plan(source)
            size = sum(len(actions) for _, actions in batch)
            if planned is not None and (
                size + len(planned[1]) > self._size.actions or planned[0] & taken
            ):
                self._write(batch, tries)
                batch, taken = [], set()
                # What it depends on may just have been written.
                planned = self._plan(source)
            if planned is not None:
                batch.append((source, planned[1]))
                taken |= planned[0]
        self._write(batch, tries)

    def _plan(
        self, source: _Source, marker: CopyMarker | None = None
    ) -> tuple[set[Address], list[Item]] | None:
        """What an item's copy touches, and writes, its marker last; None if there is nothing.

        `marker` is that of an item that is copied again.
        """
        table, record, again = source.table, source.record, marker is not None
        left: dict[Address, Outdated] = {}
        try:
            if record is None:
                self._rewrite(table, source.item if again else None)
                after = self.direction.outputs(table, source.item)
                last = self.writes.marker_check(table, source.key, marker)
            else:
                self._rewrite(table, None if again else record.new, record.old)
                left, after = self._meaning(record, source.item)
                last = self.writes.marker_update(record, marker)
            if not again and not (after if record is None else self._concerns(record)):
                return None
            actions = self.writes.actions(
                left, after, source.address, source.item, scanned=record is None and not again
            )
        except Uncopyable as problem:
            self._trouble(table, source.key, str(problem))
            return None
        own = (f"marker of {table}", source.address[1])
        return {*left, *after, own, source.address}, [*actions, last]

    def _concerns(self, record: ItemChange) -> bool:
        images = (image for image in (record.old, record.new) if image is not None)
        return any(self.direction.concerns(record.table, image) for image in images)

    def _meaning(
        self, record: ItemChange, item: Item | None
    ) -> tuple[dict[Address, Outdated], dict[Address, Output]]:
        """What a changed item no longer maps to, and what it maps to in its current state.

        If it was deleted and made again since, what is stored there is of the deleted one, and
        nothing of it stays but numbers, which are counted there.
        """
        after = self.direction.outputs(record.table, item)
        if record.new is None:
            after = {a: one if one.kept else replace(one, onto=None) for a, one in after.items()}
        left = self.writes.outdated_by(record, after)
        return left, {} if self.clears else after

    def _write(self, batch: list[_Planned], tries: int) -> None:
        """Write copies in one transaction, without those that are refused."""
        while batch:
            try:
                outcome = self.writes.transact([one for _, mine in batch for one in mine])
            except Uncopyable as problem:
                if len(batch) == 1:
                    source = batch[0][0]
                    self._trouble(source.table, source.key, str(problem))
                    return
                for planned in batch:
                    self._write([planned], tries)
                return
            if outcome is None:
                for source, _ in batch:
                    self.store.clear_problem(source.table, source.key)
                self._note_foreign([source.record for source, _ in batch if source.record])
                return
            codes, written = iter(outcome), list[_Planned]()
            for source, actions in batch:
                own = list(islice(codes, len(actions)))
                if all(code == "None" for code in own):
                    written.append((source, actions))
                else:
                    self._settle(source, actions, own, tries)
            batch = written

    def _settle(self, source: _Source, actions: list[Item], codes: list[str], tries: int) -> None:
        """Copy an item whose writes were refused in another way, or note that it cannot be."""
        table, key, record = source.table, source.key, source.record
        if codes[-1] == REFUSED:
            if record is not None:  # Otherwise the item has changed since it was scanned.
                self.copy_again(table, key, record)
        elif not tries or not self.writes.is_race(codes, actions):
            self._trouble(table, key, refusal(codes, actions))
        elif record is None:
            self.copy_again(table, key)
        else:
            self.copy_changes([record], tries - 1)

    def copy_again(self, table: str, key: Item, record: ItemChange | None = None) -> None:
        """Copy an item in its current state: a concurrent change restarts it.

        For repairs, and with its record where applications write it on both sides.
        """
        for _ in range(_ATTEMPTS):
            marker = self.store.marker(self.towards, table, key)
            if record is not None and (
                not marker.touches or (marker.sequence or "") >= record.order
            ):
                break
            source = _Source(table, key, self.backend.item(table, key), record)
            planned = self._plan(source, marker)
            if planned is None:
                break
            try:
                outcome = self.writes.transact(planned[1])
            except Uncopyable as problem:
                self._trouble(table, key, str(problem))
                break
            if outcome is None:
                self.store.clear_problem(table, key)
                # More changes than applications made on both sides come from another writer.
                if record is not None and marker.followed >= marker.touches:
                    self._note_foreign([record])
                break
            if outcome[-1] != REFUSED and not self.writes.is_race(outcome, planned[1]):
                self._trouble(table, key, refusal(outcome, planned[1]))
                break

    def remove_extra(
        self, copies: Mapping[tuple[str, str], Item], source: str, source_key: Item
    ) -> None:
        """Delete copies whose original is gone, if they are unchanged."""
        marker = self.store.marker(self.towards, source, source_key)
        if self.backend.item(source, source_key) is None:
            deletes = [self.writes.delete(table, item) for (table, _), item in copies.items()]
            check = self.writes.marker_check(source, source_key, marker)
            self.writes.transact([*deletes, check])

    def _rewrite(self, table: str, item: Item | None, image: Item | None = None) -> None:
        if item is not None:
            InPlace(self.direction, table).rewrite(item, image)

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
        log = self.direction.log
        if log is None or record.old is None or record.new is None:
            return False
        if not any(rewrite.table == record.table for rewrite in self.direction.rewrites):
            return False
        noted = log.find(record.table, record.key)
        return noted is not None and noted.is_of(record.old, record.new)

    def _trouble(self, table: str, key: Item, reason: str) -> None:
        self.store.add_problem(CopyFailure(table, key, reason))
