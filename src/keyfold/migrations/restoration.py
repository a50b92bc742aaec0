"""Going back: the tables that stay as they were, item by item and attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyfold.errors import ConditionFailed
from keyfold.migrations.backend import Item
from keyfold.migrations.migration import Migration
from keyfold.migrations.moves import Derive, Output, Route
from keyfold.migrations.progress import Report
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.sides import Sides, Uncopyable, absent, write_over
from keyfold.migrations.spelling import equal
from keyfold.migrations.state import StateStore, key_text
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.undo import UndoLog, UndoRecord

_TRIES: Final = 8


class Restoring:
    """Undoes what a migration did to the items of tables that stay."""

    def __init__(
        self, migration: Migration, store: StateStore, pace: ScanPace, report: Report
    ) -> None:
        self.migration, self.store, self.pace, self.report = migration, store, pace, report
        self.backend, self.log = store.backend, UndoLog(store)
        self.sides = Sides(store.backend, ())

    def run(self) -> None:
        """Each part is safe to repeat."""
        back = self.migration.routes("old")
        staying = [r for r in back if self._stays(r.source) and not r.keeps]
        self._remove_new(staying, moved=True)
        derived = [step.route for step in self.migration.steps if isinstance(step, Derive)]
        self._remove_new([r for r in derived if self._stays(r.target)], moved=False)
        changed = {rewrite.table for rewrite in self.migration.rewrites("backfill")}
        for record in self.log.records():
            if record.kind == "made":
                self._delete(record.table, record.key)
            elif record.kind == "removed":
                self._put_back(record)
            elif record.before:
                changed.add(record.table)
        for table in sorted(changed):
            if self.backend.describe(table) is not None:
                self._restore(table)

    def _stays(self, table: str) -> bool:
        return table not in self.migration.created

    def _restore(self, table: str) -> None:
        rewrites = [r for r in reversed(self.migration.rewrites("backfill")) if r.table == table]

        def handle(items: list[Item]) -> float:
            for item in items:
                self._restore_item(table, item, rewrites)
            return 0.0

        Scan(self.store, f"restore {table}", table, self.pace, self.report).run(handle)

    def _restore_item(self, table: str, item: Item | None, rewrites: Sequence[Rewrite]) -> None:
        for _ in range(_TRIES):
            if item is None:
                return
            key = self.sides.key_of(table, item)
            record = self.log.find(table, key)
            if record is not None and record.before:
                wanted = record.restored(
                    item,
                    lambda now: undone(rewrites, now),
                    lambda now, noted=record.before: undone(_late(rewrites, now, noted), now),  # type: ignore[misc]
                )
            else:
                wanted = undone(rewrites, item)
            if equal(wanted, item) or write_over(self.sides, table, item, wanted):
                return
            item = self._current(table, key)

    def _remove_new(self, routes: Sequence[Route], *, moved: bool) -> None:
        """Take away what the application made on the new side, and what follows from it."""
        natives = frozenset(self.log.natives())
        sides = Sides(self.backend, routes, natives=natives)
        forward = Sides(self.backend, self.migration.routes("new"))
        for table in sides.sources:

            def handle(items: list[Item], table: str = table) -> float:
                for item in items:
                    try:
                        outputs = sides.outputs(table, item)
                        self._remove_item(table, item, outputs, forward, moved)
                    except Uncopyable:
                        continue  # it was never moved
                return 0.0

            Scan(self.store, f"new items of {table}", table, self.pace, self.report).run(
                handle, resume=False
            )

    def _remove_item(
        self,
        table: str,
        item: Item,
        outputs: Mapping[tuple[str, str], Output],
        forward: Sides,
        moved: bool,
    ) -> None:
        address = (table, key_text(self.sides.key_of(table, item)))
        if not outputs or address in outputs:
            return
        made = dict(outputs)
        if moved:
            self._delete(table, self.sides.key_of(table, item))
            made = {}
            for (source, _), original in outputs.items():
                made.update(forward.outputs(source, original.item))
        for (target, _), output in made.items():
            key = self.sides.key_of(target, output.item)
            if not self._stays(target) or self.log.find(target, key) is not None:
                continue
            if output.part is None and equal(self._current(target, key), output.item):
                self._delete(target, key)

    def _delete(self, table: str, key: Item) -> None:
        self.backend.call("DeleteItem", {"TableName": self.backend.physical(table), "Key": key})

    def _put_back(self, record: UndoRecord) -> None:
        request = {
            "TableName": self.backend.physical(record.table),
            "Item": record.before,
            **absent(record.key),
        }
        try:
            self.backend.call("PutItem", request)
        except ConditionFailed:
            return  # the application has made it again

    def _current(self, table: str, key: Item) -> Item | None:
        request = {"TableName": self.backend.physical(table), "Key": key, "ConsistentRead": True}
        found: Item | None = self.backend.call("GetItem", request).get("Item")
        return found


def _late(rewrites: Sequence[Rewrite], item: Item, noted: Mapping[str, Any]) -> list[Rewrite]:
    """Those that would have made an attribute which the application has made by itself."""
    return [r for r in rewrites if any(n in item and n not in noted for n in r.adds)]


def undone(rewrites: Sequence[Rewrite], item: Item) -> Item:
    """An item that was written in the new shape, in the old one as far as steps can say."""
    for rewrite in rewrites:
        if rewrite.undo is not None:
            try:
                item = rewrite.undo(item) or item
            except Exception:  # the user's function; the item stays as it is
                continue
    return item
