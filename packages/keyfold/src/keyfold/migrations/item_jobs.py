"""A migration's work on items: copy, rewrite, compare, and refuse while they differ."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from keyfold.errors import Pending, VerifyFailed
from keyfold.maintain.rebuild import Unsettled
from keyfold.migrations.backend import Item
from keyfold.migrations.copier import POLL_SECONDS, Copier
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.leftovers import find_unmoved, note_natives, remove_moved
from keyfold.migrations.migration import Migration, Side, reached
from keyfold.migrations.moves import Derive, Restore
from keyfold.migrations.progress import Progress, Report, silent
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.state import CopyFailure
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.table_shape import Say
from keyfold.migrations.undo import UndoLog
from keyfold.migrations.verify import Comparison, MigrationVerifier

_SCANS: Final = 5
"""How often a table is read again for items that were missed while they changed."""


class ItemJobs:
    """One migration's work on items, independent of phases and sides."""

    def __init__(
        self, migration: Migration, store: StateStore, pace: ScanPace, report: Report, say: Say
    ) -> None:
        self.migration, self.store, self.pace, self.say = migration, store, pace, say
        self.backend, self.log = store.backend, UndoLog(store)
        self._progress = report
        self.done: dict[str, Progress] = {}
        """What this run has done, by job."""
        self._beside: Copier | None = None
        """What copies changes beside a scan."""

    def direction(self, towards: Side) -> Direction:
        routes = self.migration.routes(towards)
        if towards == "old":
            return Direction(self.backend, routes, natives=self._natives)
        return Direction(
            self.backend,
            routes,
            self.migration.rewrites("backfill"),
            self.log,
            early=not reached(self.store.last.phase, "verify"),
            created=frozenset(self.migration.created),
        )

    @property
    def _natives(self) -> frozenset[tuple[str, str]]:
        staying = any(r.source not in self.migration.created for r in self.migration.routes("old"))
        return frozenset(self.log.natives()) if staying else frozenset()

    def copier(self, towards: Side) -> Copier:
        return Copier(self.store, self.direction(towards), towards, self._back(towards))

    def _back(self, towards: Side) -> Direction:
        moves = self.migration.moves
        routes = [move.backward if towards == "new" else move.forward for move in moves]
        return Direction(self.backend, routes, natives=self._natives)

    @contextmanager
    def copying(self, towards: Side) -> Iterator[Copier]:
        """Copies changes in the background."""
        copier = self.copier(towards)
        stop = threading.Event()
        failures: list[Exception] = []

        def follow() -> None:
            try:
                while not stop.is_set():
                    if not copier.poll():
                        stop.wait(POLL_SECONDS)
            except Exception as failure:
                failures.append(failure)

        thread = threading.Thread(target=follow, name="keyfold-copier", daemon=True)
        thread.start()
        self._beside = copier
        try:
            yield copier
        finally:
            self._beside = None
            stop.set()
            thread.join()
        if failures:
            raise failures[0]

    def start_copying(self) -> None:
        """Store the stream positions: changes from here on are copied."""
        note_natives(self.migration, self.store, self.log, self.pace)
        self.copier("new").poll()

    def backfill(self) -> None:
        with self.copying("new") as copier:
            for table in copier.direction.sources:

                def handle(items: list[Item], table: str = table) -> None:
                    for item in items:
                        with self._listing(table, item):
                            InPlace(copier.direction, table).rewrite(item)
                    copier.copy_scanned(table, items)

                Scan(self.store, f"backfill {table}", table, self.pace, self.report).run(handle)
            copier.catch_up()
            try:
                self.restore_structures(early=True)
            except Unsettled:
                # Old applications do not count for the new design; in hold none is left.
                self.say(f"{self.migration.name}: counters still change; hold recounts them")

    def restore_structures(self, *, early: bool = False) -> None:
        """Correct the new design's structures; `early` while the old design still counts."""
        created = self.migration.created
        for step in [*self.migration.restores, *map(self._possible, self.migration.numbers)]:
            due = step.without_shared(created) if early else step
            if due.labels:
                due.run(self.backend)

    def _possible(self, numbers: Restore) -> Restore:
        """Those between tables that are there: the others are left to the plan that makes them."""
        there = {t for t in numbers.tables if self.backend.describe(t) is not None}
        return numbers.within(there)

    @contextmanager
    def _listing(self, table: str, item: Item) -> Iterator[None]:
        """An item that cannot be changed is listed among the problems."""
        try:
            yield
        except Uncopyable as refused:
            key = {name: item[name] for name in self.backend.key_attributes(table)}
            self.store.add_problem(CopyFailure(table, key, str(refused)))

    def rewrite_all(self, rewrite: Rewrite) -> None:
        """Rewrite a table's items until none is left: nobody follows its stream any more, and an
        item that gets another key meanwhile may go where the scan has been. An application of
        before that still runs may write others for ever.
        """
        in_place = InPlace(Direction(self.backend, [], [rewrite]), rewrite.table)
        changed = False

        def handle(item: Item) -> None:
            nonlocal changed
            with self._listing(rewrite.table, item):
                changed |= in_place.replace(item, in_place.apply)

        def scan(report: Report) -> Scan:
            return Scan(self.store, rewrite.name, rewrite.table, self.pace, report)

        scan(self.report).run_each(handle)
        for _ in range(_SCANS):
            changed = False
            scan(silent).run_each(handle, resume=False)
            if not changed:
                return

    def compare(self, copier: Copier, *, repair: bool) -> Comparison:
        """Compare both sides through a copier's routes."""
        dropped = self.migration.emptied if copier.towards == "new" else ()
        verifier = MigrationVerifier(self.store, copier, dropped=dropped)
        return verifier.run(self.pace, repair=repair, report=self.report)

    def retry_problems(self, copier: Copier) -> None:
        """Retry failed items: transforms may have been fixed."""
        for problem in self.store.problems():
            copier.copy_again(problem.table, problem.key)

    def refuse_problems(self) -> None:
        problems = self.store.problems()
        if problems:
            raise VerifyFailed(
                list_words(
                    f"{self.migration.name}: {len(problems)} items could not be copied; fix them "
                    "or the transform, then apply again",
                    problems,
                )
            )

    def refuse_differences(self) -> None:
        """Refuse to continue if data would be lost or not found."""
        with self.copying("old") as copier:
            result = self.compare(copier, repair=False)
        new = self.direction("new")
        new.routes = [step.route for step in self.migration.steps if isinstance(step, Derive)]
        lacking = MigrationVerifier(self.store, Copier(self.store, new, "new"), at_once=True)
        found = lacking.run(self.pace, repair=True, report=self.report)
        self.say(f"{self.migration.name}: {result.words()}")
        if result.drifts or found.repaired or found.drifts:
            raise VerifyFailed(
                list_words(
                    f"{self.migration.name}: the sides differ, so nothing is removed. An "
                    "application that does not follow the migration has written after the "
                    "switch; stop it, copy what it wrote to the new side, and apply again",
                    [*result.drifts, *found.drifts, *lacking.mended],
                )
            )

    def refuse_unmoved(self) -> None:
        for table in sorted(self.migration.emptied):
            left = find_unmoved(self.store, self.direction("new"), table, self.pace)
            if left:
                raise Pending(
                    f"{self.migration.name}: {table} has {len(left)} items that no step moves "
                    f"(such as {left[0]}), so it is not dropped; add a move for them, or delete "
                    "them yourself"
                )

    def remove_moved(self) -> None:
        """Take away what was moved out of tables that stay."""
        dropped = self.migration.dropped
        moves = [move for move in self.migration.moves if move.forward.source not in dropped]
        left, now = None, remove_moved(self.store, moves, self.pace)
        for _ in range(_SCANS):
            if not now or now == left or not self._has_streams:
                return
            # Its item has changed on the new side since it was compared, and takes it along; or an
            # older application has written it, and it stays.
            copier = self.copier("old")
            copier.clears = True
            copier.catch_up()
            left, now = now, remove_moved(self.store, moves, self.pace)
            copier.catch_up()

    @property
    def _has_streams(self) -> bool:
        """Whether copying back is still possible; a former run may have closed the streams."""
        found = (self.backend.live(route.source) for route in self.migration.routes("old"))
        return all(table is not None and table.stream is not None for table in found)

    def report(self, progress: Progress) -> None:
        self.done[progress.job] = progress
        progress.lag = None if self._beside is None else self._beside.lag
        self._progress(progress)


def list_words(title: str, things: Sequence[object], most: int = 10) -> str:
    lines = [f"{title}:", *(f"  {thing}" for thing in things[:most])]
    if len(things) > most:
        lines.append(f"  and {len(things) - most} more")
    return "\n".join(lines)
