"""What a migration leaves behind: unmoved items, and unused ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from keyfold.migrations.backend import Item
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.migration import Migration
from keyfold.migrations.moves import Move
from keyfold.migrations.progress import silent
from keyfold.migrations.state import key_text
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.undo import UndoLog, UndoRecord


def find_unmoved(store: StateStore, direction: Direction, table: str, pace: ScanPace) -> list[Item]:
    """The keys of a table's items that no route moves."""
    left: list[Item] = []
    if store.backend.describe(table) is None:
        return left

    def check(item: Item) -> None:
        if not direction.accounts_for(table, item):
            left.append(direction.key_of(table, item))

    Scan(store, f"check {table}", table, pace, silent).run_each(check, resume=False)
    return left


def note_natives(migration: Migration, store: StateStore, log: UndoLog, pace: ScanPace) -> None:
    """Record what is already on the new side, if that table stays."""
    routes = [move.backward for move in migration.moves]
    direction = Direction(store.backend, [r for r in routes if r.source not in migration.created])

    def note(table: str, item: Item) -> None:
        key = direction.key_of(table, item)
        if direction.concerns(table, item) and log.find(table, key) is None:
            log.note(UndoRecord("found", table, key))

    for table in direction.sources:
        Scan(store, f"natives of {table}", table, pace, silent).run_each(partial(note, table))


def remove_moved(store: StateStore, moves: Sequence[Move], pace: ScanPace) -> set[str]:
    """Delete what was moved away, with what followed from it; returns the items that stay.

    An item stays if the new side does not have it: an application of before may have written it
    after the last comparison.
    """
    backend = store.backend
    direction = Direction(backend, [move.forward for move in moves])
    back = Direction(backend, [move.backward for move in moves])

    def remove(table: str, item: Item) -> bool:
        key = direction.key_of(table, item)
        own, outputs = (table, key_text(key)), direction.outputs(table, item)
        if not outputs or own in outputs:
            return True
        made = next(iter(outputs.values()))
        if backend.item(made.table, direction.key_of(made.table, made.item)) is None:
            return False
        # The item goes last: until then, another run finds what follows from it.
        formers = back.outputs(made.table, made.item)
        for address, former in formers.items():
            place = back.key_of(former.table, former.item)
            if (
                place != key
                and address not in outputs
                and former.stands(backend.item(address[0], place))
            ):
                backend.delete(address[0], place)
        backend.delete(table, key)
        return True

    staying = set[str]()

    def handle(table: str, item: Item) -> None:
        with suppress(Uncopyable):  # It was never moved.
            if not remove(table, item):
                staying.add(f"{table} {key_text(direction.key_of(table, item))}")

    for table in direction.sources:
        scan = Scan(store, f"moved from {table}", table, pace, silent)
        scan.run_each(partial(handle, table), resume=False)
    return staying
