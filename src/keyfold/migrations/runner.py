"""Running a migration: phase after phase, each safe to repeat, back from each before the last.

The order of things is what keeps traffic safe. Only one direction is copied at a time: towards
the new side while writes go to the old one, back once they go to the new one. In between writes
wait a moment: routers say that nobody writes any more, the streams are read to their end, and
then the other side is open.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final, Literal

from keyfold.errors import Drifted, Irreversible, MigrationError, Pending, VerifyFailed
from keyfold.limits import STREAM_RETENTION_SECONDS
from keyfold.migrations.applications import (
    POLL_SECONDS,
    consequences,
    wait_for_routers,
    why_not_followed,
)
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.copier import Copier
from keyfold.migrations.item_work import ItemWork, listed
from keyfold.migrations.leftovers import remove_left_keys, remove_moved
from keyfold.migrations.migration import PHASES, Migration, Phase, Side, reached
from keyfold.migrations.progress import Progress, Report, silent
from keyfold.migrations.restoration import Restoring
from keyfold.migrations.state import CopyFailure, Overtaken, State, StateStore
from keyfold.migrations.table_scan import ScanPace
from keyfold.migrations.table_shape import Say, Shaping

_ATTEMPTS: Final = 5
_LOOK_SECONDS: Final = 0.5
_MOST_PATIENCE: Final = 15.0
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
        if not 0 <= settle < inf:
            raise MigrationError(
                f"streams cannot be quiet for {settle:g} seconds: settle is 0 or more"
            )
        self.pace, self.settle = pace or ScanPace(), settle
        self.without_routers, self.quiet = without_routers, quiet
        self.say = say
        self.store = StateStore(self.backend, migration.name)
        self.items = ItemWork(migration, self.store, self.pace, report, say)
        self._shaping = Shaping(migration, self.store, say)
        self._state = State()

    @property
    def work(self) -> dict[str, Progress]:
        """What this run has done, by job."""
        return self.items.done

    @property
    def copies(self) -> bool:
        """Whether the next run copies what is there: the backfill is not over."""
        phase = self.store.load().phase if self.store.exists() else "planned"
        return not reached(phase, "backfill")

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
            "follow": self.items.start_copying,
            "backfill": self.items.backfill,
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

    def rollback(
        self, to: Literal["planned", "verify"] = "planned", *, keep: Side | None = None
    ) -> State:
        """Back to where it began, with everything that was written meanwhile.

        Up to `verify` both sides stay, and applications that follow go on. Where both sides were
        written since the switch, `keep` says whose items stay.
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
        if to == "verify" and not self._state.returning:
            return self._state
        if not self._state.returning:
            self._change(returning=True)
        if self.migration.writes_staying:
            Restoring(self.migration, self.store, self.pace, self.items.report).run()
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
                    towards, copier = wanted, self.items.copier(wanted)
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
        self.items.copier("new").catch_up()
        while (why := why_not_followed(self.store, self._state.phase, self.quiet)) is not None:
            if why != told:
                self.say(f"{self.migration.name}: {why}")
                told = why
            if wait is None or not wait():
                return False
            until = time.monotonic() + _LOOK_SECONDS
            self._follow(lambda until=until: time.monotonic() > until)  # type: ignore[misc]
            self._state = self.store.load()
        return True

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

    def _verify(self, *, repair: bool) -> None:
        with self.items.copying("new") as copier:
            self.items.retry_problems(copier)
            result = self.items.compare(copier, repair=repair)
        self.say(f"{self.migration.name}: {result.words()}")
        self.items.refuse_problems()
        if not result.clean:
            raise VerifyFailed(listed(f"{self.migration.name}: the sides differ", result.drifts))

    def _switch_reads(self) -> None:
        self.items.copier("new").catch_up()
        self.items.refuse_problems()
        self._change(reads="new")

    def _switch_writes(self) -> None:
        copier, back = self.items.copier("new"), self.items.copier("old")
        for attempt in range(_ATTEMPTS):
            # What takes long is done before writes wait.
            back.skip_to_end()
            copier.catch_up()
            self.items.refuse_problems()
            # Who writes both sides may be late: nothing of it is on one side only.
            routers = self.store.routers(self.backend.clock.now())
            if not routers or not all(router.doubles for router in routers):
                self._close_writes(copier, attempt)
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

    def _close_writes(self, copier: Copier, attempt: int) -> None:
        """Nobody writes, and everything that was written is copied.

        Writes wait a moment; a write that runs longer than that finds more patience next time.
        """
        copier.switching = self.settle + min(2.0**attempt, _MOST_PATIENCE)
        copier.poll()
        if not self._state.closed:
            self._change(closed=True)
        wait_for_routers(self.store, self._state.epoch, copier)
        copier.drain(self.settle)

    def _refuse_problems_of_the_switch(self) -> None:
        if self.store.problems():
            self._change(closed=False)
            self.items.refuse_problems()

    def _return_writes(self, keep: Side | None) -> None:
        """Writes go to the old side again, which has everything."""
        if self._state.writes == "old":
            self._change(closed=False)
            return
        with self.items.copying("old") as copier:
            result = self.items.compare(copier, repair=keep == "new")
        if not result.clean and keep != "old":
            raise VerifyFailed(
                listed(
                    f"{self.migration.name}: the old side was written after the switch by an "
                    "application that does not follow; roll back with --keep old or --keep new, "
                    "which says whose items stay",
                    result.drifts,
                )
            )
        self.items.refuse_problems()
        self._open_old_side()
        wait_for_routers(self.store, self._state.epoch)

    def _open_old_side(self) -> None:
        copier = self.items.copier("old")
        for attempt in range(_ATTEMPTS):
            copier.catch_up()
            self._close_writes(copier, attempt)
            self._refuse_problems_of_the_switch()
            try:
                self._change(writes="old", reads="old", closed=False, phase="verify")
                return
            except Overtaken:
                if attempt == _ATTEMPTS - 1:
                    raise
                self._state = self.store.load()

    def _hold(self) -> None:
        """Changes of the new side reach the old one, so that going back loses nothing."""
        self.items.restore_structures()
        if self.migration.moves:
            self.items.copier("old").catch_up()

    def _contract(self) -> None:
        self.items.refuse_problems()
        self.items.refuse_unmoved()
        if not self._state.contracting:
            self.items.refuse_differences()
        if not self._state.contracting:
            if self.migration.moves:
                self.items.copier("old").catch_up()
            self._change(contracting=True)
        # Who still writes both sides would find one of them gone.
        wait_for_routers(self.store, self._state.epoch)
        for rewrite in self.migration.rewrites("contract"):
            self.say(f"{self.migration.name}: {rewrite.words()}")
            self.items.rewrite_all(rewrite)
        self.items.refuse_problems()
        self._shaping.close_streams()
        forward = [move.forward for move in self.migration.moves if not move.forward.keeps]
        remove_left_keys(self.store, forward, self.pace)
        staying = [route for route in forward if route.source not in self.migration.dropped]
        remove_moved(self.store, staying, self.pace)
        self._shaping.contract()
        self.store.forget(undo=self.migration.writes_staying)
