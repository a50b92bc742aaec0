"""Runs a migration: phase by phase, each idempotent, with rollback before the last.

The order keeps traffic safe. Only one direction is copied at a time: towards the new side while
writes go to the old one, back once they go to the new one. Applications that follow write both
sides until the switch, so it is one change of the state, and nobody waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Final, Literal

from keyfold.design.schema import Index
from keyfold.errors import Drifted, Irreversible, MigrationError, Pending, VerifyFailed
from keyfold.migrations.applications import (
    consequences,
    wait_for_routers,
    why_not_followed,
)
from keyfold.migrations.backend import Backend
from keyfold.migrations.copier import POLL_SECONDS
from keyfold.migrations.item_jobs import ItemJobs, list_words
from keyfold.migrations.migration import DOES, PHASES, Migration, Phase, Side, reached
from keyfold.migrations.progress import Report, duration, silent
from keyfold.migrations.restoration import Restoring
from keyfold.migrations.state import State
from keyfold.migrations.state_store import MigrationStatus, StateStore
from keyfold.migrations.table_scan import ScanPace
from keyfold.migrations.table_shape import Say, Shaping
from keyfold.migrations.verify import Comparison
from keyfold_engine.limits import STREAM_RETENTION_SECONDS

_LOOK_SECONDS: Final = 0.5
_SAY_SECONDS: Final = 5.0
LATE_SECONDS: Final = 120.0
"""From when on somebody has to know that a stream is read late."""
_USUAL_RATE: Final = 1000.0
"""Items a second, as long as nothing is measured."""
QUIET_SECONDS: Final = 30.0
"""How long no foreign write may have occurred before a switch."""


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
        self.migration, self.backend = migration, backend.with_names_of(migration.tables)
        if not 0 <= settle < inf:
            raise MigrationError(f"settle must be at least 0 seconds, not {settle:g}")
        self.pace, self.settle = pace or ScanPace(), settle
        self.without_routers, self.quiet = without_routers, quiet
        self.say = say
        self.store = StateStore(self.backend, migration.name)
        self.items = ItemJobs(migration, self.store, self.pace, report, say)
        self._shaping = Shaping(migration, self.store, say)
        self._state = State()
        self.comparison: Comparison | None = None
        """What the last verify of this run found."""

    @property
    def copies(self) -> bool:
        """Whether the next run copies existing items: the backfill is not complete."""
        phase = self.store.load().phase if self.store.exists() else "planned"
        return not reached(phase, "backfill")

    def apply(
        self, to: Phase = "hold", *, repair: bool = True, wait: Callable[[], bool] | None = None
    ) -> State:
        """Continue the migration up to and including a phase.

        It stops before the first phase that needs the application, unless it reports that it
        follows. With `wait` it copies meanwhile, and continues when they do or ends when `wait`
        returns False.
        """
        self._begin()
        if self._state.returning:
            raise Pending(
                f"{self.migration.name} is rolling back: finish that first, with `keyfold "
                "migrations rollback`"
            )
        self._notice_absence()
        if self._state.doubled:
            # An interrupted rollback was abandoned.
            self._change(doubled=False)
            wait_for_routers(self.store, self._state.epoch)
        steps: dict[Phase, Callable[[], None]] = {
            "expand": self._shaping.expand,
            "follow": self.items.start_copying,
            "backfill": self.items.backfill,
            "verify": lambda: self._verify(repair=repair),
            "switch-writes": self._switch_writes,
            "hold": self._hold,
            "contract": self._contract,
        }
        for phase in PHASES[1 : PHASES.index(to) + 1]:
            if reached(self._state.phase, phase):
                continue
            if phase == "switch-writes" and not self._is_followed(wait):
                return self._state
            self.say(f"{self.migration.name}: {phase}")
            with self.backend.describing_once():
                self.say(f"{self.migration.name}: {DOES[phase]} ({self._time_of(phase)})")
                self._warn_of_backlog(phase)
                steps[phase]()
            if self._state.phase != phase:
                self._change(phase=phase, plan=self.migration.fingerprint)
        return self._state

    @cached_property
    def _items(self) -> int:
        """How many items there are to copy or rewrite, as far as the backend knows."""
        found = (self.backend.describe(table) or {} for table in self.migration.sources)
        return sum(int(each.get("ItemCount", 0)) for each in found)

    def _time_of(self, phase: Phase) -> str:
        """About how long a phase takes: at the given rate, or at that of this run so far."""
        if phase == "expand" and any(isinstance(c.part, Index) for c in self.migration.changes):
            return "minutes to hours for an index of a large table"
        counts = self.migration.restores or self.migration.numbers
        if phase not in ("backfill", "verify", "contract") and not (phase == "hold" and counts):
            return "seconds"
        measured = [
            one.done / one.seconds for one in self.items.done.values() if one.done and one.seconds
        ]
        rate = self.pace.items_per_second or max(measured, default=_USUAL_RATE)
        took = f"{duration(self._items / rate)} at {rate:,.0f} a second"
        return f"about {self._items:,} items, {took}"

    def _warn_of_backlog(self, phase: Phase) -> None:
        """Say that a phase has to read what a consumer has not read for minutes."""
        counting = [*self.migration.restores, *self.migration.numbers]
        for step in {one.design.name: one for one in counting}.values():
            lag = step.consumer_lag(self.backend) if phase in ("backfill", "hold") else 0.0
            if lag >= LATE_SECONDS:
                self.say(
                    f"{self.migration.name}: the consumer of {step.design.name} is "
                    f"{lag / 60:.0f} minutes behind, and {phase} reads all that it has not read. "
                    "To keep this phase short, let the consumer catch up first"
                )

    def rollback(
        self, to: Literal["planned", "verify"] = "planned", *, keep: Side | None = None
    ) -> State:
        """Roll back, including everything written meanwhile.

        Up to `verify` both sides stay, and applications that follow continue. If both sides were
        written since the switch, `keep` decides whose items stay.
        """
        self._begin()
        if self._state.phase == "contract":
            raise Irreversible(
                f"{self.migration.name} is complete and the old side was removed; plan a "
                "migration in the other direction"
            )
        if self._state.contracting:
            raise Irreversible(
                f"{self.migration.name} has begun to remove the old side; apply it up to "
                "contract, then plan a migration in the other direction"
            )
        if self._state.phase == "planned":
            self._take_back()
            return self._state
        away = self._notice_absence()
        if self._state.writes == "new":
            self._return_writes("new" if away else keep)
        if to == "verify" and not self._state.returning:
            return self._state
        copier = None
        if not self._state.returning:
            if reached(self._state.phase, "follow"):
                copier = self.items.copier("new")
            self._change(returning=True)
        # Applications with an older state still write the new side, and old ones the old side.
        wait_for_routers(self.store, self._state.epoch, copier)
        if self.migration.writes_staying:
            if copier is not None:
                copier.catch_up()
            Restoring(self.migration, self.store, self.pace, self.items.report).run()
        self._take_back()
        return self._state

    def _take_back(self) -> None:
        self._shaping.take_back()
        begun = replace(State(), epoch=self._state.epoch, history=self._state.history)
        if self._state != begun:
            kept = ("epoch", "history")
            self._change(**{n: v for n, v in vars(begun).items() if n not in kept})
        self.store.forget()

    def follow(self, until: Callable[[], bool]) -> None:
        """Keep copying until stopped."""
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
        told, told_at = "", float("-inf")
        self.items.copier("new").catch_up()
        while (why := why_not_followed(self.store, self._state.phase, self.quiet)) is not None:
            if why != told and time.monotonic() > told_at + _SAY_SECONDS:
                self.say(f"{self.migration.name}: {why}")
                told, told_at = why, time.monotonic()
            if wait is None or not wait():
                return False
            until = time.monotonic() + _LOOK_SECONDS
            self._follow(lambda until=until: time.monotonic() > until)  # type: ignore[misc]
            self._state = self.store.load()
        return True

    def status(self) -> MigrationStatus:
        return MigrationStatus.read(self.store)

    def _change(self, **changes: object) -> None:
        self._state = self.store.change(self._state, **changes)

    def _notice_absence(self) -> bool:
        """Compare the sides again after an absence longer than the streams' retention."""
        at = self.store.caught_up_at()
        away = self.backend.clock.now() - at
        if not self._state.active or not at or away < LATE_SECONDS:
            return False
        if away < STREAM_RETENTION_SECONDS:
            self.say(
                f"{self.migration.name}: copying has stood still for {away / 60:.0f} minutes; what "
                "has changed since is copied first"
            )
            return False
        self.say(
            f"{self.migration.name}: copying was stopped for {away / 3600:.0f} hours, longer than "
            "streams keep their records; both sides are compared again"
        )
        self.store.forget_positions()
        if self._state.writes == "old" and reached(self._state.phase, "verify"):
            self._change(phase="backfill")
        return True

    def _begin(self) -> None:
        self.store.prepare()
        self._state = self.store.load()
        if self._state.plan and self._state.plan != self.migration.fingerprint:
            raise Drifted(
                f"{self.migration.name} was started with other steps; restore those steps, or "
                "roll it back first"
            )

    def _verify(self, *, repair: bool) -> None:
        with self.items.copying("new") as copier:
            self.items.retry_problems(copier)
            result = self.comparison = self.items.compare(copier, repair=repair)
        self.say(f"{self.migration.name}: {result.words()}")
        self.items.refuse_problems()
        if result.lost:
            title = f"{self.migration.name}: items would be lost; change or delete them first"
            raise VerifyFailed(list_words(title, result.lost))
        if not result.clean:
            raise VerifyFailed(
                list_words(f"{self.migration.name}: the sides differ", result.drifts)
            )

    def _switch_writes(self) -> None:
        copier, back = self.items.copier("new"), self.items.copier("old")
        back.skip_to_end()
        copier.settle(self.settle)
        self.items.refuse_problems()
        # What the new side has so far came from the old one, or was written to both.
        back.skip()
        # Side and phase change together; otherwise writes would go uncopied.
        self._change(writes="new", phase="switch-writes")

    def _return_writes(self, keep: Side | None) -> None:
        """Writes return to the old side, which has everything."""
        with self.items.copying("old") as copier:
            result = self.items.compare(copier, repair=keep == "new")
        if not result.clean and keep != "old":
            why = (
                "the old side has no place for what was written since the switch; change or "
                "delete it and roll back with --keep new, or with --keep old, which loses it"
                if result.lost
                else "the old side was written after the switch by an application that does not "
                "follow; roll back with --keep old or --keep new, which says whose items stay"
            )
            listed = result.lost or result.drifts
            raise VerifyFailed(list_words(f"{self.migration.name}: {why}", listed))
        self.items.refuse_problems()
        back = self.items.copier("old")

        back.catch_up()
        # From here on applications write both sides, and what they wrote before is copied.
        if not self._state.doubled:
            self._change(doubled=True)
        wait_for_routers(self.store, self._state.epoch, back)
        back.settle(self.settle)
        if self.store.problems():
            self._change(doubled=False)
            self.items.refuse_problems()
        self._change(writes="old", doubled=False, phase="verify")
        wait_for_routers(self.store, self._state.epoch)

    def _hold(self) -> None:
        """Changes of the new side reach the old one, so that a rollback loses nothing."""
        self.items.restore_structures()
        if self.migration.moves:
            self.items.copier("old").catch_up()

    def _contract(self) -> None:
        self.items.refuse_problems()
        self.items.refuse_unmoved()
        if not self._state.contracting:
            self.items.refuse_differences()
            if self.migration.moves:
                self.items.copier("old").catch_up()
            self._change(contracting=True)
        # Applications that still write both sides would find one of them gone.
        wait_for_routers(self.store, self._state.epoch)
        dropped = self.migration.dropped
        for rewrite in self.migration.rewrites("contract"):
            if rewrite.table in dropped:
                continue
            self.say(f"{self.migration.name}: {rewrite.words()}")
            self.items.rewrite_all(rewrite)
        self.items.refuse_problems()
        self.items.remove_moved()
        self._shaping.close_streams()
        self._shaping.contract()
        self.store.forget()
