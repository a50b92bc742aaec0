"""Running a migration: phase after phase, each safe to repeat, back from each before the last.

The order of things is what keeps traffic safe. Only one direction is copied at a time: towards
the new side while writes go to the old one, back once they go to the new one. In between writes
wait a moment: routers say that nobody writes any more, the streams are read to their end, and
then the other side is open.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from keyfold.errors import Drifted, Irreversible, Pending, VerifyFailed
from keyfold.limits import STREAM_RETENTION_SECONDS
from keyfold.migrations.applications import POLL_SECONDS, consequences, wait_for_routers
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.copier import Copier
from keyfold.migrations.leftovers import note_natives, remove_left_keys, remove_moved, unmoved
from keyfold.migrations.migration import PHASES, Migration, Phase, Side, reached
from keyfold.migrations.moves import Derive
from keyfold.migrations.noting import NotingClient
from keyfold.migrations.progress import Progress, Report, silent
from keyfold.migrations.restoration import Restoring
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.sides import Sides, Uncopyable, rewrite_item
from keyfold.migrations.state import CopyFailure, Overtaken, State, StateStore
from keyfold.migrations.table_scan import Scan, ScanPace
from keyfold.migrations.table_shape import Say, Shaping
from keyfold.migrations.undo import UndoLog
from keyfold.migrations.verify import Comparison, MigrationVerifier

_ATTEMPTS: Final = 5
_LOOK_SECONDS: Final = 0.5
QUIET_SECONDS: Final = 30.0
"""How long nobody else may have written before a switch."""


@dataclass(frozen=True)
class MigrationStatus:
    """Where a migration is."""

    name: str
    state: State
    lag: float | None
    segments: dict[str, Item] = field(default_factory=dict)
    problems: list[CopyFailure] = field(default_factory=list)
    routers: int = 0


class Migrator:
    """Applies one migration to one backend."""

    def __init__(
        self,
        migration: Migration,
        backend: Backend,
        *,
        pace: ScanPace | None = None,
        settle: float = 0.0,
        without_routers: bool = False,
        quiet: float = QUIET_SECONDS,
        report: Report = silent,
        say: Say = lambda _: None,
    ) -> None:
        self.migration, self.backend = migration, backend.knowing(migration.tables)
        self.pace, self.settle = pace or ScanPace(), settle
        self.without_routers, self.quiet = without_routers, quiet
        self.report, self.say = report, say
        self.store = StateStore(self.backend, migration.name)
        self.log = UndoLog(self.store)
        self._shaping = Shaping(migration, self.store, say)
        self._state = State()
        self.work: dict[str, Progress] = {}
        """What this run has done, by job."""
        self._beside: Copier | None = None
        """What copies changes beside a scan."""

    def apply(
        self, to: Phase = "hold", *, repair: bool = True, wait: Callable[[], bool] | None = None
    ) -> State:
        """Go on from where the migration is, up to and with a phase.

        It stops before the first phase that needs the application, unless routers report that it
        follows. With `wait` it copies meanwhile, and goes on when they do or ends when `wait`
        gives False.
        """
        self.store.prepare()
        self._state = self.store.load()
        self._refuse_other_plan()
        if self._state.returning:
            raise Pending(
                f"{self.migration.name} is on its way back: finish that first, with "
                "`keyfold migrations rollback`"
            )
        self._notice_absence()
        steps: dict[Phase, Callable[[], None]] = {
            "expand": self._shaping.expand,
            "follow": self._start_copying,
            "backfill": self._backfill,
            "verify": lambda: self._verify(repair=repair),
            "switch-reads": self._switch_reads,
            "switch-writes": self._switch_writes,
            "hold": self._hold,
            "contract": self._contract,
        }
        for phase in PHASES[1 : PHASES.index(to) + 1]:
            if reached(self._state.phase, phase):
                continue
            if phase == "switch-reads" and not self._is_followed(wait):
                return self._state
            self.say(f"{self.migration.name}: {phase}")
            steps[phase]()
            self._change(phase=phase, plan=self.migration.fingerprint)
        return self._state

    def rollback(self, *, keep: Side | None = None) -> State:
        """Back to where it began, with everything that was written meanwhile.

        Where both sides were written since the switch, `keep` says whose items stay.
        """
        self.store.prepare()
        self._state = self.store.load()
        self._refuse_other_plan()
        if self._state.phase == "contract":
            raise Irreversible(
                f"{self.migration.name} is complete and the old side is gone; "
                "plan a migration in the other direction"
            )
        if self._state.contracting:
            raise Irreversible(
                f"{self.migration.name} has begun to take the old side away; apply it up to "
                "contract, then plan a migration in the other direction"
            )
        if self._state.phase == "planned":
            self._take_back()
            return self._state
        away = self._notice_absence()
        if self._state.writes == "new" or self._state.closed:
            self._return_writes("new" if away else keep)
        if self._state.reads == "new":
            self._change(reads="old", phase="verify")
            wait_for_routers(self.store, self._state.epoch)
        if not self._state.returning:
            self._change(returning=True)
        if self.migration.writes_staying:
            Restoring(self.migration, self.store, self.pace, self._report).run()
        self._take_back()
        return self._state

    def _take_back(self) -> None:
        self._shaping.take_back()
        if self._state != State(epoch=self._state.epoch):
            self._change(
                phase="planned",
                reads="old",
                writes="old",
                closed=False,
                plan="",
                returning=False,
            )
        self.store.forget(undo=self.migration.writes_staying)

    def follow(self, until: Callable[[], bool]) -> None:
        """Keep copying until told to stop."""
        self.store.prepare()
        self._state = self.store.load()
        if not reached(self._state.phase, "follow") or self._state.phase == "contract":
            return
        self._follow(until)

    def _follow(self, until: Callable[[], bool]) -> None:
        """Copy towards the side that is not written, which may change meanwhile."""
        towards: Side | None = None
        looked = float("-inf")
        while not until():
            if time.monotonic() - looked > _LOOK_SECONDS:
                self._state, looked = self.store.load(), time.monotonic()
                if not self._state.active or self._state.returning or self._state.contracting:
                    return
                wanted: Side = "old" if self._state.writes == "new" else "new"
                if wanted != towards:
                    towards, copier = wanted, self._copier(wanted)
            if not copier.poll():
                time.sleep(POLL_SECONDS)

    def _is_followed(self, wait: Callable[[], bool] | None) -> bool:
        """Whether the application follows, so that the switch is safe."""
        if not self.migration.concerns_application:
            return True
        if self.without_routers:
            for words in consequences(self.migration):
                self.say(f"{self.migration.name}: without routers, {words}")
            return True
        told = ""
        self._copier("new").catch_up()
        while (why := self._why_not_followed()) is not None:
            if why != told:
                self.say(f"{self.migration.name}: {why}")
                told = why
            if wait is None or not wait():
                return False
            until = time.monotonic() + _LOOK_SECONDS
            self._follow(lambda until=until: time.monotonic() > until)  # type: ignore[misc]
            self._state = self.store.load()
        return True

    def _why_not_followed(self) -> str | None:
        now = self.backend.clock.now()
        if not self.store.routers(now):
            return (
                f"{self._state.phase} is complete. Deploy the application, opened with this "
                "migration: design.open(..., migration=...). What comes next waits until it "
                "reports"
            )
        foreign = self.store.foreign()
        if foreign is not None and now - foreign.at < self.quiet:
            return (
                f"an application that does not follow the migration still writes: {foreign}. "
                f"What comes next waits until it has written nothing for {self.quiet:g} seconds"
            )
        return None

    def status(self) -> MigrationStatus:
        if not self.store.exists():
            return MigrationStatus(self.migration.name, State(), None)
        state = self.store.load()
        at = self.store.caught_up_at()
        now = self.backend.clock.now()
        return MigrationStatus(
            self.migration.name,
            state,
            max(now - at, 0.0) if at and state.active else None,
            self.store.segments(),
            self.store.problems(),
            len(self.store.routers(now)),
        )

    def _change(self, **changes: object) -> None:
        before = self._state
        self._state = self.store.change(before, **changes)
        if self._state.phase != before.phase:
            self.store.note_phase(self._state)

    def _report(self, progress: Progress) -> None:
        self.work[progress.job] = progress
        progress.lag = self._beside.lag if self._beside is not None else None
        self.report(progress)

    def _notice_absence(self) -> bool:
        """After a longer absence than streams remember, the sides are compared anew."""
        at = self.store.caught_up_at()
        away = self.backend.clock.now() - at
        if not self._state.active or not at or away < STREAM_RETENTION_SECONDS:
            return False
        self.say(
            f"{self.migration.name}: copying was away for {away / 3600:.0f} hours, longer than "
            "streams keep their records; both sides are compared again"
        )
        self.store.forget_positions()
        if self._state.writes == "old" and reached(self._state.phase, "verify"):
            self._change(phase="backfill", reads="old")
        return True

    def _refuse_other_plan(self) -> None:
        if self._state.plan and self._state.plan != self.migration.fingerprint:
            raise Drifted(
                f"{self.migration.name} began with other steps than it has now; "
                "give it back the steps it began with, or roll it back first"
            )

    def _sides(self, towards: Side) -> Sides:
        routes = self.migration.routes(towards)
        if towards == "old":
            return Sides(self.backend, routes, natives=self._natives)
        return Sides(
            self.backend,
            routes,
            self.migration.rewrites("backfill"),
            self.log,
            frozenset(self.migration.created),
        )

    @property
    def _natives(self) -> frozenset[tuple[str, str]]:
        staying = any(r.source not in self.migration.created for r in self.migration.routes("old"))
        return frozenset(self.log.natives()) if staying else frozenset()

    def _copier(self, towards: Side) -> Copier:
        return Copier(self.store, self._sides(towards), towards)

    def _start_copying(self) -> None:
        """Note where the streams are: what changes from here on is copied."""
        note_natives(self.migration, self.store, self.log, self.pace)
        self._copier("new").poll()

    @contextmanager
    def _copying(self, towards: Side) -> Iterator[Copier]:
        """Copies what changes, beside whatever is done meanwhile."""
        copier = self._copier(towards)
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

    def _backfill(self) -> None:
        with self._copying("new") as copier:
            for table in copier.sides.sources:

                def handle(items: list[Item], table: str = table) -> float:
                    for item in items:
                        self._rewrite(copier.sides, table, item)
                    return copier.copy_scanned(table, items).write_units

                Scan(self.store, f"backfill {table}", table, self.pace, self._report).run(handle)
            copier.catch_up()
            try:
                self._restore_structures()
            except VerifyFailed:
                if not self.migration.moves:
                    raise
                # Copies that come in meanwhile are not counted; in hold none do, and it rests.
                self.say(f"{self.migration.name}: what is counted again rests in hold")

    def _restore_structures(self) -> None:
        for step in self.migration.restores:
            staying = step.design.tables.keys() - self.migration.created
            tables = {self.backend.physical(name): name for name in staying}
            step.run(replace(self.backend, client=NotingClient(self.backend, self.log, tables)))

    def _rewrite(self, sides: Sides, table: str, item: Item) -> None:
        try:
            rewrite_item(sides, table, item)
        except Uncopyable as refused:
            key = sides.key_of(table, item)
            self.store.add_problem(CopyFailure(table, key, str(refused)))

    def _rewrite_all(self, rewrite: Rewrite) -> None:
        sides = Sides(self.backend, [], [rewrite])

        def handle(items: list[Item]) -> float:
            for item in items:
                self._rewrite(sides, rewrite.table, item)
            return 0.0

        Scan(self.store, rewrite.name, rewrite.table, self.pace, self._report).run(handle)

    def _verify(self, *, repair: bool) -> None:
        with self._copying("new") as copier:
            self._retry_problems(copier)
            result = self._compare(copier, repair=repair)
        self.say(f"{self.migration.name}: {result.words()}")
        self._refuse_problems()
        if not result.clean:
            raise VerifyFailed(_listed(f"{self.migration.name}: the sides differ", result.drifts))

    def _compare(self, copier: Copier, *, repair: bool) -> Comparison:
        forward = copier.towards == "new"
        moves = self.migration.moves
        back = [m.backward if forward else m.forward for m in moves]
        dropped = self.migration.dropped if forward else set()
        sides = Sides(self.backend, back, natives=self._natives)
        verifier = MigrationVerifier(self.store, copier, sides, dropped=dropped)
        return verifier.run(self.pace, repair=repair, report=self._report)

    def _retry_problems(self, copier: Copier) -> None:
        """Transforms may have been mended since."""
        for problem in self.store.problems():
            copier.copy_again(problem.table, problem.key)

    def _refuse_problems(self) -> None:
        problems = self.store.problems()
        if problems:
            raise VerifyFailed(
                _listed(
                    f"{self.migration.name}: {len(problems)} items could not be copied; mend them "
                    "or the transform, then apply again",
                    problems,
                )
            )

    def _switch_reads(self) -> None:
        self._copier("new").catch_up()
        self._refuse_problems()
        self._change(reads="new")

    def _switch_writes(self) -> None:
        copier, back = self._copier("new"), self._copier("old")
        for attempt in range(_ATTEMPTS):
            # What takes long is done before writes wait.
            back.skip_to_end()
            copier.catch_up()
            self._refuse_problems()
            # Who writes both sides may be late: nothing of it is on one side only.
            routers = self.store.routers(self.backend.clock.now())
            if not routers or not all(router.doubles for router in routers):
                self._close_writes(copier)
                self._refuse_problems_of_the_switch()
                back.skip_to_end()
            try:
                # Side and phase change together: twice would leave writes uncopied.
                self._change(writes="new", closed=False, phase="switch-writes")
                return
            except Overtaken:
                # It took too long, and a router has let writes through to the old side again.
                if attempt == _ATTEMPTS - 1:
                    raise
                self._state = self.store.load()

    def _close_writes(self, copier: Copier) -> None:
        """Nobody writes, and everything that was written is copied."""
        if not self._state.closed:
            self._change(closed=True)
        wait_for_routers(self.store, self._state.epoch, copier)
        copier.drain(self.settle)

    def _refuse_problems_of_the_switch(self) -> None:
        if self.store.problems():
            self._change(closed=False)
            self._refuse_problems()

    def _return_writes(self, keep: Side | None) -> None:
        """Writes go to the old side again, which has everything."""
        if self._state.writes == "old":
            self._change(closed=False)
            return
        with self._copying("old") as copier:
            result = self._compare(copier, repair=keep == "new")
        if not result.clean and keep != "old":
            raise VerifyFailed(
                _listed(
                    f"{self.migration.name}: the old side was written after the switch by an "
                    "application that does not follow; roll back with --keep old or --keep new, "
                    "which says whose items stay",
                    result.drifts,
                )
            )
        self._refuse_problems()
        self._close_writes(self._copier("old"))
        self._refuse_problems_of_the_switch()
        self._change(writes="old", reads="old", closed=False, phase="verify")
        wait_for_routers(self.store, self._state.epoch)

    def _hold(self) -> None:
        """Changes of the new side reach the old one, so that going back loses nothing."""
        self._restore_structures()
        if self.migration.moves:
            self._copier("old").catch_up()

    def _contract(self) -> None:
        self._refuse_problems()
        self._refuse_unmoved()
        if not self._state.contracting:
            self._refuse_differences()
        if not self._state.contracting:
            if self.migration.moves:
                self._copier("old").catch_up()
            self._change(contracting=True)
        for rewrite in self.migration.rewrites("contract"):
            self.say(f"{self.migration.name}: {rewrite.words()}")
            self._rewrite_all(rewrite)
        self._refuse_problems()
        self._shaping.close_streams()
        forward = [move.forward for move in self.migration.moves if not move.forward.keeps]
        remove_left_keys(self.store, forward, self.pace)
        staying = [route for route in forward if route.source not in self.migration.dropped]
        remove_moved(self.store, staying, self.pace)
        self._shaping.contract()
        self.store.forget(undo=self.migration.writes_staying)

    def _refuse_differences(self) -> None:
        """What the old side alone has would be lost; what lacks something would not be found."""
        with self._copying("old") as copier:
            result = self._compare(copier, repair=False)
        new = self._sides("new")
        new.routes = [step.route for step in self.migration.steps if isinstance(step, Derive)]
        lacking = MigrationVerifier(
            self.store, Copier(self.store, new, "new"), Sides(self.backend, ()), at_once=True
        )
        found = lacking.run(self.pace, repair=True, report=self._report)
        self.say(f"{self.migration.name}: {result.words()}")
        if result.drifts or found.repaired or found.drifts:
            raise VerifyFailed(
                _listed(
                    f"{self.migration.name}: the sides differ, so nothing is taken away. An "
                    "application that does not follow the migration has written after the "
                    "switch; stop it, bring what it wrote to the new side, and apply again",
                    [*result.drifts, *found.drifts, *lacking.mended],
                )
            )

    def _refuse_unmoved(self) -> None:
        for table in sorted(self.migration.dropped):
            left = unmoved(self.store, self._sides("new"), table, self.pace)
            if left:
                raise Pending(
                    f"{self.migration.name}: {table} holds {len(left)} items that no step moves "
                    f"(such as {left[0]}), so it is not dropped; add a move for them, or delete "
                    "them yourself"
                )


def _listed(title: str, things: Sequence[object], most: int = 10) -> str:
    lines = [f"{title}:", *(f"  {thing}" for thing in things[:most])]
    if len(things) > most:
        lines.append(f"  and {len(things) - most} more")
    return "\n".join(lines)
