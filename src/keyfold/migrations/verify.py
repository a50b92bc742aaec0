"""Both sides compared item by item through the transform, while traffic goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.copier import Copier
from keyfold.migrations.moves import Output
from keyfold.migrations.progress import Report, silent
from keyfold.migrations.sides import Sides, Uncopyable, rewritten
from keyfold.migrations.spelling import checksum, equal
from keyfold.migrations.state import StateStore, key_text
from keyfold.migrations.table_scan import Scan, ScanPace

_LOOKS: Final = 6
"""How often an item that differs is looked at again: it may just be on its way."""


@dataclass(frozen=True)
class Difference:
    """One item that is not what it should be."""

    kind: Literal["missing", "different", "extra", "unmoved", "lacking"]
    table: str
    key: Item
    source: str
    source_key: Item

    def __str__(self) -> str:
        shown = ", ".join(f"{n}={next(iter(v.values()))}" for n, v in self.key.items())
        words = {
            "missing": "is missing",
            "different": "differs",
            "extra": "has no original",
            "unmoved": "is moved by no step",
            "lacking": "lacks what the new design needs",
        }
        return f"{self.table} {shown} {words[self.kind]}"


@dataclass
class Comparison:
    """What a comparison found."""

    compared: int = 0
    equal: int = 0
    drifts: list[Difference] = field(default_factory=list)
    checksum: int = 0
    """Over everything that both sides agree on, whatever its order."""
    repaired: int = 0

    @property
    def clean(self) -> bool:
        return not self.drifts

    def words(self) -> str:
        return (
            f"{self.compared:,} items compared, {self.equal:,} equal, {len(self.drifts)} differ, "
            f"{self.repaired} repaired; checksum {self.checksum:016x}"
        )


class MigrationVerifier:
    """Compares what the routes of a copier say with what is there."""

    def __init__(
        self,
        store: StateStore,
        copier: Copier,
        back: Sides,
        *,
        dropped: Iterable[str] = (),
        at_once: bool = False,
    ) -> None:
        self.backend: Backend = store.backend
        self.store, self.copier, self.sides, self.back = store, copier, copier.sides, back
        self.dropped = set(dropped)
        self.at_once = at_once
        """Nothing is on its way: what differs, differs."""
        self.result = Comparison()
        self._suspects: dict[tuple[str, str], tuple[str, Item]] = {}
        self._extras: dict[tuple[str, str], Difference] = {}
        self._lock = threading.Lock()
        self.mended: list[Difference] = []
        """What was copied again."""

    def run(self, pace: ScanPace, *, repair: bool = True, report: Report = silent) -> Comparison:
        for table in self.sides.sources:
            scan = Scan(self.store, f"verify {table}", table, pace, report)
            scan.run(lambda items, table=table: self._compare(table, items), resume=False)  # type: ignore[misc]
        for table in {route.source for route in self.back.routes}:
            scan = Scan(self.store, f"verify {table}", table, pace, report)
            scan.run(lambda items, table=table: self._seek(table, items), resume=False)  # type: ignore[misc]
        self._look_again()
        if repair and self.result.drifts:
            self._repair()
        return self.result

    def _compare(self, table: str, items: Sequence[Item]) -> float:
        expected: list[tuple[Item, Item, dict[tuple[str, str], Output]]] = []
        for item in items:
            key = self.sides.key_of(table, item)
            if table in self.dropped and not self.sides.concerns(table, item):
                with self._lock:
                    self.result.drifts.append(Difference("unmoved", table, key, table, key))
                continue
            try:
                outputs = self.sides.outputs(table, item)
            except Uncopyable:
                continue  # listed among the problems
            if self._lacks(table, item):
                with self._lock:
                    self._suspects[table, key_text(key)] = (table, key)
                    self.result.compared += 1
            elif outputs or self._is_rewritten(table):
                expected.append((item, key, outputs))
        found = self.copier.writes.found(
            [address for _, _, outputs in expected for address in outputs]
        )
        with self._lock:
            for item, key, outputs in expected:
                self.result.compared += 1
                if all(output.stands(found.get(a)) for a, output in outputs.items()):
                    self.result.equal += 1
                    # What is changed in place has no other side: it stands for itself.
                    stands_for = [output.item for output in outputs.values()] or [item]
                    for one in stands_for:
                        self.result.checksum ^= checksum(one)
                else:
                    self._suspects[table, key_text(key)] = (table, key)
        return 0.0

    def _seek(self, table: str, items: Sequence[Item]) -> float:
        """Items of the other side whose original is gone."""
        originals: dict[tuple[str, str], Difference] = {}
        for item in items:
            if (extra := self._extra(table, item)) is not None:
                originals[extra.source, key_text(extra.source_key)] = extra
        there = self.copier.writes.found(originals)
        with self._lock:
            for address in originals.keys() - there.keys():
                self._extras[address] = originals[address]
        return 0.0

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
        """Items on their way arrive; what still differs after that does differ."""
        for _ in range(_LOOKS):
            if not self._suspects and not self._extras:
                return
            if not self.at_once:
                self.copier.catch_up()
            self.result.drifts = [d for d in self.result.drifts if d.kind == "unmoved"]
            for address, (table, key) in list(self._suspects.items()):
                if self._same(table, key):
                    self.result.equal += 1
                    del self._suspects[address]
            current = self.copier.writes.current
            for address, drift in list(self._extras.items()):
                item = current(drift.table, drift.key)
                # Another original may have it by now.
                extra = self._extra(drift.table, item) if item is not None else None
                if extra is None or current(extra.source, extra.source_key) is not None:
                    del self._extras[address]
                else:
                    self.result.drifts.append(extra)

    def _same(self, table: str, key: Item) -> bool:
        item = self.copier.writes.current(table, key)
        try:
            outputs = self.sides.outputs(table, item)
        except Uncopyable:
            return True  # listed among the problems
        found = self.copier.writes.found(outputs)
        same = True
        if item is not None and self._lacks(table, item):
            same = False
            self.result.drifts.append(Difference("lacking", table, key, table, key))
        for (target, text), output in outputs.items():
            there = found.get((target, text))
            if output.stands(there):
                continue
            same = False
            kind: Literal["missing", "different"] = "missing" if there is None else "different"
            target_key = self.sides.key_of(target, output.item)
            self.result.drifts.append(Difference(kind, target, target_key, table, key))
        return same

    def _is_rewritten(self, table: str) -> bool:
        return any(rewrite.table == table for rewrite in self.sides.rewrites)

    def _lacks(self, table: str, item: Item) -> bool:
        try:
            return not equal(rewritten(self.sides, table, item), item)
        except Uncopyable:
            return False  # listed among the problems

    def _repair(self) -> None:
        """Copy again what differs, then look again."""
        before = len(self.result.drifts)
        self.mended = list(self.result.drifts)
        for drift in self.result.drifts:
            if drift.kind == "extra":
                self._remove(drift)
            elif drift.kind != "unmoved":
                self.copier.copy_again(drift.source, drift.source_key)
        self._look_again()
        self.result.repaired += before - len(self.result.drifts)

    def _remove(self, extra: Difference) -> None:
        """Delete an item without an original, and what was written together with it."""
        item = self.copier.writes.current(extra.table, extra.key)
        if item is None or self._extra(extra.table, item) != extra:
            return
        copies = {(extra.table, key_text(extra.key)): item}
        for (table, _), original in self.back.outputs(extra.table, item).items():
            outputs = self.sides.outputs(table, original.item)
            found = self.copier.writes.found(outputs)
            copies |= {a: there for a, there in found.items() if _is_whole(outputs[a], there)}
        self.copier.remove_extra(copies, extra.source, extra.source_key)


def _is_whole(output: Output, there: Item) -> bool:
    return output.part is None and output.stands(there)
