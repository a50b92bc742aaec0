"""What a migration leaves behind: items that nobody moved, and those that nobody uses any more."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold.migrations.backend import Item
from keyfold.migrations.migration import Migration
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.progress import silent
from keyfold.migrations.sides import Sides, Uncopyable
from keyfold.migrations.state import StateStore, key_text
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.undo import UndoLog, UndoRecord


def unmoved(store: StateStore, sides: Sides, table: str, pace: ScanPace) -> list[Item]:
    """The keys of a table's items that no route takes along."""
    left: list[Item] = []
    if store.backend.describe(table) is None:
        return left

    def handle(items: list[Item]) -> float:
        left.extend(sides.key_of(table, i) for i in items if not sides.concerns(table, i))
        return 0.0

    Scan(store, f"check {table}", table, pace, silent).run(handle, resume=False)
    return left


def note_natives(migration: Migration, store: StateStore, log: UndoLog, pace: ScanPace) -> None:
    """Note what is on the new side already, where that is a table that stays."""
    routes = [move.backward for move in migration.moves if not move.backward.keeps]
    sides = Sides(store.backend, [r for r in routes if r.source not in migration.created])
    for table in sides.sources:

        def handle(items: list[Item], table: str = table) -> float:
            for item in items:
                key = sides.key_of(table, item)
                if sides.concerns(table, item) and log.find(table, key) is None:
                    log.note(UndoRecord("found", table, key))
            return 0.0

        Scan(store, f"natives of {table}", table, pace, silent).run(handle)


def remove_left_keys(store: StateStore, routes: Sequence[Route], pace: ScanPace) -> None:
    """Delete what these routes moved within its own table, under the keys it had before."""
    backend = store.backend
    sides = Sides(backend, [route for route in routes if route.source == route.target])
    for table in sides.sources:

        def handle(items: list[Item], table: str = table) -> float:
            for item in items:
                key = sides.key_of(table, item)
                outputs = sides.outputs(table, item)
                if outputs and (table, key_text(key)) not in outputs:
                    request = {"TableName": backend.physical(table), "Key": key}
                    backend.call("DeleteItem", request)
            return 0.0

        Scan(store, f"old keys of {table}", table, pace, silent).run(handle, resume=False)


def remove_moved(store: StateStore, routes: Sequence[Route], pace: ScanPace) -> None:
    """Delete what these routes moved to another table, where that table has it."""
    backend = store.backend
    sides = Sides(backend, [route for route in routes if route.source != route.target])

    def has_arrived(output: Output) -> bool:
        request = {
            "TableName": backend.physical(output.table),
            "Key": sides.key_of(output.table, output.item),
            "ConsistentRead": True,
        }
        return "Item" in backend.call("GetItem", request)

    for table in sides.sources:

        def handle(items: list[Item], table: str = table) -> float:
            for item in items:
                try:
                    outputs = sides.outputs(table, item)
                except Uncopyable:
                    continue  # it was never moved
                if outputs and has_arrived(next(iter(outputs.values()))):
                    key = sides.key_of(table, item)
                    backend.call("DeleteItem", {"TableName": backend.physical(table), "Key": key})
            return 0.0

        Scan(store, f"moved from {table}", table, pace, silent).run(handle, resume=False)
