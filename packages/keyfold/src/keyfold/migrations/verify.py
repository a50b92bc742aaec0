"""Compares both sides item by item through the transform, while traffic continues."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

import orjson

from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.copier import Copier
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.moves import Output
from keyfold.migrations.ownership import Address, Ownership
from keyfold.migrations.progress import Report, silent
from keyfold.migrations.state import key_text, place_text
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_scan import Scan, ScanPace

_LOOKS: Final = 6
"""How often a differing item is checked again: it may just be in flight."""


@dataclass(frozen=True)
class Difference:
    """One item that is not what it should be."""

    kind: Literal["missing", "different", "extra", "unmoved", "lacking", "shared"]
    table: str
    key: Item
    source: str
    source_key: Item

    def __str__(self) -> str:
        place = place_text(self.table, self.key)
        source = place_text(self.source, self.source_key)
        words = {
            "missing": "is missing",
            "different": "differs",
            "extra": "has no original",
            "unmoved": "is not moved by any step",
            "lacking": "lacks what the new design needs",
            "shared": f"and {source} would be one item",
        }
        return f"{place} {words[self.kind]}"


@dataclass
class Comparison:
    """The result of a comparison."""

    compared: int = 0
    equal: int = 0
    drifts: list[Difference] = field(default_factory=list)
    repaired: int = 0

    @property
    def clean(self) -> bool:
        return not self.drifts

    @property
    def lost(self) -> list[Difference]:
        """Items that the other side has no place for."""
        return [drift for drift in self.drifts if drift.kind == "shared"]

    def words(self) -> str:
        return (
            f"{self.compared:,} items compared, {self.equal:,} equal, {len(self.drifts)} differ, "
            f"{self.repaired} repaired"
        )


class MigrationVerifier:
    """Compares what a copier's routes say with what is stored."""

    def __init__(
        self,
        store: StateStore,
        copier: Copier,
        *,
        dropped: Iterable[str] = (),
        at_once: bool = False,
    ) -> None:
        self.backend: Backend = store.backend
        self.store, self.copier, self.direction, self.back = (
            store,
            copier,
            copier.direction,
            copier.back,
        )
        self.dropped = set(dropped)
        self.at_once = at_once
        """Nothing is on its way: what differs, differs."""
        self.result = Comparison()
        self._suspects: dict[Address, tuple[str, Item]] = {}
        self._extras: dict[Address, Difference] = {}
        self._shared: dict[Address, tuple[Address, Direction]] = {}
        """Items that may map to the target of another item, that item, and their routes."""
        self._lock = threading.Lock()
        self.mended: list[Difference] = []
        """What was copied again."""

    def run(self, pace: ScanPace, *, repair: bool = True, report: Report = silent) -> Comparison:
        for table in self.direction.sources:
            scan = Scan(self.store, f"verify {table}", table, pace, report)
            scan.run(partial(self._compare, table), resume=False)
        for table in {route.source for route in self.back.routes}:
            scan = Scan(self.store, f"verify {table}", table, pace, report)
            scan.run(partial(self._seek, table), resume=False)
        self._look_again()
        if repair and self.result.drifts:
            self._repair()
        return self.result

    def _compare(self, table: str, items: Sequence[Item]) -> None:
        expected: list[tuple[Item, dict[Address, Output]]] = []
        for item in items:
            key = self.direction.key_of(table, item)
            if table in self.dropped and not self.direction.accounts_for(table, item):
                with self._lock:
                    self.result.drifts.append(Difference("unmoved", table, key, table, key))
                continue
            try:
                outputs = self.direction.outputs(table, item)
            except Uncopyable:
                continue  # Listed among the problems.
            if InPlace(self.direction, table).lacks(item):
                with self._lock:
                    self._suspects[table, key_text(key)] = (table, key)
                    self.result.compared += 1
            elif outputs or self._is_rewritten(table):
                expected.append((key, outputs))
        found = self.copier.writes.items_at(
            [address for _, outputs in expected for address in outputs]
        )
        self._note_shared(self.direction, table, expected, found)
        with self._lock:
            for key, outputs in expected:
                self.result.compared += 1
                if all(output.stands(found.get(a)) for a, output in outputs.items()):
                    self.result.equal += 1
                else:
                    self._suspects[table, key_text(key)] = (table, key)

    def _seek(self, table: str, items: Sequence[Item]) -> None:
        """Items of the other side whose original is gone."""
        originals: dict[Address, Difference] = {}
        for item in items:
            if (extra := self._extra(table, item)) is not None:
                originals[extra.source, key_text(extra.source_key)] = extra
        there = self.copier.writes.items_at(originals)
        if self.copier.towards == "old":
            # Data that only the old side has, because another item took its place, would be lost.
            expected = [
                (self.back.key_of(table, i), _outputs_of(self.back, table, i)) for i in items
            ]
            self._note_shared(self.back, table, expected, there)
        with self._lock:
            for address in originals.keys() - there.keys():
                self._extras[address] = originals[address]

    def _note_shared(
        self,
        direction: Direction,
        table: str,
        expected: Sequence[tuple[Item, dict[Address, Output]]],
        there: Mapping[Address, Item],
    ) -> None:
        each = [((table, key_text(key)), outputs) for key, outputs in expected]
        collisions = self._ownership(direction).collisions(each, there)
        with self._lock:
            self._shared |= {address: (rival, direction) for address, rival in collisions.items()}

    def _ownership(self, direction: Direction) -> Ownership:
        other = self.back if direction is self.direction else self.direction
        return Ownership(direction, other, self.copier.writes.items_at)

    def _extra(self, table: str, item: Item) -> Difference | None:
        """What an item of the other side is, if its original is gone."""
        if not self.back.concerns(table, item):
            return None
        try:
            outputs = self.back.outputs(table, item)
        except Uncopyable:
            return None
        for (source, _), output in outputs.items():
            key, original = self.back.key_of(table, item), self.back.key_of(source, output.item)
            return Difference("extra", table, key, source, original)
        return None

    def _look_again(self) -> None:
        """Check differing items again: those in flight arrive meanwhile."""
        for _ in range(_LOOKS):
            if not self._suspects and not self._extras and not self._shared:
                return
            if not self.at_once:
                self.copier.catch_up()
            self.result.drifts = [d for d in self.result.drifts if d.kind == "unmoved"]
            for address, (table, key) in list(self._suspects.items()):
                if self._same(table, key):
                    self.result.equal += 1
                    del self._suspects[address]
            self._look_at_shared()
            current = self.backend.item
            for address, drift in list(self._extras.items()):
                item = current(drift.table, drift.key)
                # Another original may have it by now.
                extra = self._extra(drift.table, item) if item is not None else None
                if extra is None or current(extra.source, extra.source_key) is not None:
                    del self._extras[address]
                else:
                    self.result.drifts.append(extra)

    def _look_at_shared(self) -> None:
        for address, (rival, direction) in list(self._shared.items()):
            there = self.copier.writes.items_at((address, rival))
            both = [
                _outputs_of(direction, one[0], there.get(one)).keys() for one in (address, rival)
            ]
            if both[0].isdisjoint(both[1]):
                del self._shared[address]
                continue
            place, second = ((table, orjson.loads(text)) for table, text in (address, rival))
            self.result.drifts.append(Difference("shared", *place, *second))

    def _same(self, table: str, key: Item) -> bool:
        item = self.backend.item(table, key)
        try:
            outputs = self.direction.outputs(table, item)
        except Uncopyable:
            return True  # listed among the problems
        found = self.copier.writes.items_at(outputs)
        same = True
        if item is not None and InPlace(self.direction, table).lacks(item):
            same = False
            self.result.drifts.append(Difference("lacking", table, key, table, key))
        for (target, text), output in outputs.items():
            there = found.get((target, text))
            if output.stands(there):
                continue
            same = False
            kind: Literal["missing", "different"] = "missing" if there is None else "different"
            target_key = self.direction.key_of(target, output.item)
            self.result.drifts.append(Difference(kind, target, target_key, table, key))
        return same

    def _is_rewritten(self, table: str) -> bool:
        return any(rewrite.table == table for rewrite in self.direction.rewrites)

    def _repair(self) -> None:
        """Copy differing items again, then check again."""
        before = len(self.result.drifts)
        shared = {one for address, (rival, _) in self._shared.items() for one in (address, rival)}
        # If two items would become one, copying would only swap them.
        self.mended = [
            drift
            for drift in self.result.drifts
            if (drift.source, key_text(drift.source_key)) not in shared
        ]
        for drift in self.mended:
            if drift.kind == "extra":
                self._remove(drift)
            elif drift.kind not in ("unmoved", "shared"):
                self.copier.copy_again(drift.source, drift.source_key)
        self._look_again()
        self.result.repaired += before - len(self.result.drifts)

    def _remove(self, extra: Difference) -> None:
        """Delete an item without an original, with its consequences."""
        item = self.backend.item(extra.table, extra.key)
        if item is None or self._extra(extra.table, item) != extra:
            return
        copies = {(extra.table, key_text(extra.key)): item}
        for (table, _), original in self.back.outputs(extra.table, item).items():
            outputs = self.direction.outputs(table, original.item)
            found = self.copier.writes.items_at(outputs)
            copies |= {a: there for a, there in found.items() if outputs[a].stands(there)}
        self.copier.remove_extra(copies, extra.source, extra.source_key)


def _outputs_of(direction: Direction, table: str, item: Item | None) -> dict[Address, Output]:
    """What an item maps to, if that is known."""
    try:
        return direction.outputs(table, item)
    except Uncopyable:
        return {}
