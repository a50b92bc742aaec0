"""Rollback: restores tables that stay, item by item and attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from keyfold.errors import ConditionFailed
from keyfold.migrations.backend import Item
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.former_structures import find_outdated, removals
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.migration import Migration
from keyfold.migrations.moves import Derive, Output, Restore, Route
from keyfold.migrations.progress import Report
from keyfold.migrations.rewrites import Rewrite, undo_rewrites
from keyfold.migrations.state import key_text
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.undo import UndoLog, UndoRecord
from keyfold.migrations.wire_equality import equal
from keyfold.migrations.write_conditions import absent
from keyfold.runtime import Design


class Restoring:
    """Undoes a migration's changes to items of tables that stay."""

    def __init__(
        self, migration: Migration, store: StateStore, pace: ScanPace, report: Report
    ) -> None:
        self.migration, self.store, self.pace, self.report = migration, store, pace, report
        self.backend, self.log = store.backend, UndoLog(store)
        self.direction = Direction(store.backend, ())

    def run(self) -> None:
        """Each part is idempotent."""
        back = self.migration.routes("old")
        staying = [r for r in back if self._stays(r.source)]
        self._remove_new(staying, moved=True)
        if self.migration.between is None or self.migration.is_part:
            derived = [step.route for step in self.migration.steps if isinstance(step, Derive)]
            self._remove_new([r for r in derived if self._stays(r.target)], moved=False)
        rewrites = self.migration.rewrites("backfill")
        changed = {rewrite.table for rewrite in rewrites}
        for record in self.log.records():
            if record.kind == "made":
                self.backend.delete(record.table, record.key)
            elif record.kind == "removed":
                self._put_back(record)
            elif record.before:
                changed.add(record.table)
        for table in sorted(changed):
            if self.backend.describe(table) is not None:
                self._restore(table, [r for r in rewrites if r.table == table])
        if self.migration.between is not None:
            self._restore_structures(*self.migration.between)

    def _stays(self, table: str) -> bool:
        return table not in self.migration.created

    def _restore(self, table: str, rewrites: Sequence[Rewrite]) -> None:
        scan = Scan(self.store, f"restore {table}", table, self.pace, self.report)
        scan.run_each(lambda item: self._restore_item(table, item, rewrites))

    def _restore_structures(self, old: Design, new: Design) -> None:
        wanted = self.migration.restores_back
        for removal in removals(old, new, wanted):
            if self._stays(removal.table) and self.backend.describe(removal.table) is not None:
                self._remove(removal)
        touched = {route.source for route in self.migration.routes("new")}
        if labels := tuple(filter(wanted, find_outdated(old, new, touched))):
            Restore(old, labels).run(self.backend)

    def _remove(self, removal: Rewrite) -> None:
        direction = Direction(self.backend, (), [removal])
        scan = Scan(self.store, removal.name, removal.table, self.pace, self.report)
        in_place = InPlace(direction, removal.table)
        scan.run_each(lambda item: in_place.replace(item, in_place.apply))

    def _restore_item(self, table: str, item: Item, rewrites: Sequence[Rewrite]) -> None:
        def restored(now: Item) -> Item:
            record = self.log.find(table, self.direction.key_of(table, now))
            known = record or UndoRecord("changed", table, {})
            return known.restore(now, lambda one: undo_rewrites(rewrites, one))

        InPlace(self.direction, table).replace(item, restored)

    def _remove_new(self, routes: Sequence[Route], *, moved: bool) -> None:
        """Remove what the application created on the new side, with its consequences."""
        natives = frozenset(self.log.natives())
        direction = Direction(self.backend, routes, natives=natives)
        forward = Direction(self.backend, self.migration.routes("new"))

        def remove(table: str, item: Item) -> None:
            with suppress(Uncopyable):  # It was never moved.
                self._remove_item(table, item, direction.outputs(table, item), forward, moved)

        for table in direction.sources:
            scan = Scan(self.store, f"new items of {table}", table, self.pace, self.report)
            scan.run_each(partial(remove, table), resume=False)

    def _remove_item(
        self,
        table: str,
        item: Item,
        outputs: Mapping[tuple[str, str], Output],
        forward: Direction,
        moved: bool,
    ) -> None:
        address = (table, key_text(self.direction.key_of(table, item)))
        if not outputs or address in outputs:
            return
        made = dict(outputs)
        if moved:
            self.backend.delete(table, self.direction.key_of(table, item))
            made = {}
            for (source, _), original in outputs.items():
                made.update(forward.outputs(source, original.item))
            # What follows from the original, too, is of both sides.
            made = {address: one for address, one in made.items() if address not in outputs}
        for (target, _), output in made.items():
            key = self.direction.key_of(target, output.item)
            if not self._stays(target) or self.log.find(target, key) is not None:
                continue
            if equal(self.backend.item(target, key), output.item):
                self.backend.delete(target, key)

    def _put_back(self, record: UndoRecord) -> None:
        request = {
            "TableName": self.backend.physical(record.table),
            "Item": record.before,
            **absent(record.key),
        }
        try:
            self.backend.call("PutItem", request)
        except ConditionFailed:
            return  # The application has created it again.
