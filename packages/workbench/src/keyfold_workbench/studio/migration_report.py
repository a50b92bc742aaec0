"""A migration's state as panels: phases, figures, tables, copying, routers, log."""

from __future__ import annotations

from datetime import UTC, datetime

from keyfold.design.schema import TableSchema
from keyfold.migrations import PHASES, Migration, MigrationStatus, Migrator, Move, Route
from keyfold.migrations.applications import ROUTER_LEASE, consequences
from keyfold.migrations.backend import Item
from keyfold.migrations.estimate import estimate
from keyfold_workbench.studio.items import scalar
from keyfold_workbench.studio.lag import lag_panel
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.migration_run import MigrationRun
from keyfold_workbench.studio.notation import count, dollars, plural, units
from keyfold_workbench.studio.parts import banner, bar, empty, grid, panel, state, stats
from keyfold_workbench.studio.view import PageView

SHOWN = 8
"""The most problems of a migration on its page."""
LOGGED = 60
EXAMPLES = 50
"""Items that are looked at for one that moves."""
ARROW = Html(
    '<svg width="100%" height="12" viewBox="0 0 100 12" preserveAspectRatio="none" '
    'aria-hidden="true"><path d="M6 6H92" stroke="currentColor" stroke-width="1.5" '
    'vector-effect="non-scaling-stroke"/><path d="M100 6l-9 -5v10z" fill="currentColor"/></svg>'
)


class MigrationReport:
    """One migration on one backend at this moment."""

    def __init__(
        self, view: PageView, migrator: Migrator, run: MigrationRun, status: MigrationStatus
    ) -> None:
        self.view, self.migrator, self.run, self.status = view, migrator, run, status

    @property
    def migration(self) -> Migration:
        return self.migrator.migration

    def phases(self, acts: Html) -> Html:
        """The phases, the current one, and the possible actions."""
        at = PHASES.index(self.status.state.phase)
        reached = {one.phase: one.at for one in self.status.history}
        done = self.run.progress
        share = f"{_share(done.done, done.expected):.0%}" if done else ""
        steps = []
        for place, phase in enumerate(PHASES):
            is_last = phase == PHASES[-1]
            now = self.run.is_running and place == at + 1
            beside = share if now else _clock(reached[phase]) if phase in reached else ""
            if is_last and not beside:
                beside = "no way back"
            steps.append(
                el(
                    "li",
                    phase.replace("-", " "),
                    el("small", beside) if beside and (now or place <= at or is_last) else None,
                    class_="done" if place <= at else "now" if now else None,
                    aria_current="step" if place == at else None,
                )
            )
        return el(
            "section.panel",
            el("div.pad", el("ol.phases", steps)),
            acts,
            aria_label=self.migration.name,
        )

    def body(self) -> Html:
        """Everything below the phases."""
        samples = self.run.lag.look() if self.migration.moves else []
        lag = lag_panel("Copying is behind, seconds", samples) if samples else None
        segments = self._segments()
        return text(
            banner("bad", self.run.problem) if self.run.problem else None,
            banner("warn", self._waiting()) if self.run.waits else None,
            banner("warn", "On its way back: finish that with Roll back.")
            if self.status.state.returning
            else None,
            stats(self._figures()),
            [self._flow(one) for one in self.migration.moves],
            self._problems(),
            el("div.cols", segments, lag) if segments or lag else None,
            el("div.cols", self._routers(), self._log()),
            self._words(),
        )

    def estimate(self) -> Html:
        """What it would read and write; nothing is written."""
        work = list(estimate(self.migration, self.migrator.backend))
        rows = [
            (
                one.phase,
                count(one.items),
                count(one.requests),
                units(round(one.read_units)),
                units(round(one.write_units)),
                dollars(one.cost),
            )
            for one in work
        ]
        heads = ("Phase", "#Items", "#Requests", "#Read units", "#Write units", "#Cost")
        problems = [banner("warn", one.problem) for one in work if one.problem]
        total = sum(one.cost for one in work)
        nothing = empty("No items", "It only changes tables; no item is read or written.")
        return panel(
            "Dry run",
            grid(heads, rows) if rows else nothing,
            problems,
            [self._example(one) for one in self.migration.moves],
            note=state("note", "nothing has been written"),
            footer=el("span.small", f"On demand, estimated: {dollars(total)}."),
        )

    def _example(self, move: Move) -> Child:
        """An item that moves, with its key before and after."""
        where, backend = move.forward, self.migrator.backend
        if backend.describe(where.source) is None:
            return None
        page = backend.call(
            "Scan", {"TableName": backend.physical(where.source), "Limit": EXAMPLES}
        )
        item = next((one for one in page["Items"] if where.selects(one)), None)
        if item is None:
            return None
        known = {one.name: one for one in self.migration.tables}
        sides: list[tuple[str, str, Item]] = [("before", where.source, item)]
        sides += [("after", one.table, one.item) for one in where.outputs(item)]
        rows = (
            (when, el("b", table), el("code.key", _key(known.get(table), one)))
            for when, table, one in sides
        )
        return grid((f"One {move.name}", "Table", "Key"), rows)

    def _figures(self) -> list[tuple[str, Child, Child]]:
        status, done, found = self.status, self.run.progress, self.run.comparison
        problems = len(status.problems)
        copied = sum(float(one["done"]) for one in status.segments.values())
        lag = "–" if status.lag is None else f"{status.lag:.1f}"
        return [
            ("Done", count(done.done), f"of {done.expected:,}")
            if done
            else ("Done", count(copied) if status.segments else "–", "items copied"),
            ("Rate", count(done.rate if done and self.run.is_running else None), "items/s"),
            ("Copying is behind", lag, "s"),
            (
                "Differences",
                "–" if found is None else count(len(found.drifts)),
                "not compared yet" if found is None else f"of {found.compared:,} compared",
            ),
            ("Problems", state("bad" if problems else "ok", count(problems)), ""),
            ("Writes", status.state.writes, "side"),
        ]

    def _waiting(self) -> Html:
        """What the step waits for, and the consequences of not waiting."""
        why = self.run.waits
        told = " ".join(f"Without routers, {words}." for words in consequences(self.migration))
        return text(f"{why[:1].upper()}{why[1:]}. ", told)

    def _flow(self, move: Move) -> Html:
        """The old and the new table of what moves, and the direction of copying."""
        now = self.status.state
        towards = "new" if now.writes == "old" or now.phase == "contract" else "old"
        copying = now.active and (self.run.is_copying or self.run.is_running)
        word = f"{'copied' if copying else 'will be copied'} to the {towards} side"
        if now.phase == "contract":
            word = "copied"
        arrow = el("div", word, ARROW, class_="arrow returned" if towards == "old" else "arrow")
        return el(
            "section.panel.pad",
            el("div.flow", self._box(move.forward, "old"), arrow, self._box(move.backward, "new")),
            aria_label=f"{move.name}: from {move.forward.source} to {move.forward.target}",
        )

    def _box(self, route: Route, side: str) -> Html:
        """One side: its table, key, indexes, number of items and users."""
        now, backend = self.status.state, self.migrator.backend
        found = backend.live(route.source)
        tags = el("span.tag", "writes") if now.writes == side else el("span.muted.small", "copies")
        if found is None:
            gone = "removed" if now.phase == "contract" else "created by expand"
            return el(
                "div.box", el("b", backend.physical(route.source)), el("span.small.muted", gone)
            )
        items = (backend.describe(route.source) or {}).get("ItemCount", 0)
        indexes = ", ".join(one.name for one in found.indexes)
        number = plural(len(found.indexes), "index", "indexes")
        return el(
            "div.box",
            el("span", el("b", backend.physical(route.source)), " ", tags),
            el("code.key", " › ".join(found.key_attributes)),
            el(
                "span.small.muted",
                f"{plural(items, 'item')}, {number}{': ' if indexes else ''}{indexes}",
            ),
        )

    def _segments(self) -> Child:
        if not self.status.segments:
            return None
        done = self.run.progress
        whole = None
        if done is not None and done.expected:
            share = _share(done.done, done.expected)
            whole = el("div.pad", bar(share, "acc big"))
        open_word = state("run", "under way") if self.run.is_running else state("note", "stopped")
        rows = (
            (
                _segment_words(part),
                count(float(one["done"])),
                state("ok", "finished") if one["finished"] else open_word,
            )
            for part, one in self.status.segments.items()
        )
        listed = grid(("Segment", "#Items", "State"), rows)
        return panel("Segments", whole, listed, note="each resumes where it stopped")

    def _problems(self) -> Child:
        """Items that could not be copied: the first of them, and the total."""
        found = self.status.problems
        if not found:
            return None
        left = len(found) - SHOWN
        more = el("p.pad.small.muted", f"and {left:,} more") if left > 0 else None
        return panel("Problems", grid(("Problem",), ((str(p),) for p in found[:SHOWN])), more)

    def _routers(self) -> Html:
        """The processes of the application that follow, by what they last said."""
        store = self.migrator.store
        now = self.migrator.backend.clock.now()
        found = store.routers(now) if store.exists() else []
        note = "all must follow a phase before the next begins"
        if not found:
            says = "Processes that open the design with this migration report here."
            return panel("Routers seen", empty("None", says), note=note)
        epoch = self.status.state.epoch
        rows = (
            (
                el("code", one.name.removeprefix("router:")[:12]),
                state("ok", self.status.state.phase.replace("-", " "))
                if one.epoch >= epoch
                else state("warn", "an earlier phase"),
                f"{max(0.0, now - one.until + ROUTER_LEASE):.1f} s",
            )
            for one in found
        )
        return panel("Routers seen", grid(("Process", "Knows", "#Seen"), rows), note=note)

    def _log(self) -> Html:
        """What was reached, also by others, and what this run said, in the order of time."""
        lines = [(one.at, f"reached {one.phase}") for one in self.status.history]
        lines += [*self.run.log]
        if not lines:
            says = "Messages of the migration appear here."
            return panel("Log", empty("Nothing yet", says))
        rows = [
            el("div", el("time", _clock(at)), words.removeprefix(f"{self.migration.name}: "))
            for at, words in sorted(lines, reverse=True)[:LOGGED]
        ]
        return panel("Log", el("div.log", rows, role="log", tabindex="0"), note="newest first")

    def _words(self) -> Html:
        """What the migration does, step by step."""
        steps = [el("li", words) for words in self.migration.words()]
        return el("details.panel.pad", el("summary", "Steps"), el("ol", steps))


def _segment_words(stored: str) -> str:
    """`segment:backfill Orders:0002` as `backfill Orders, 3`."""
    job, _, number = stored.removeprefix("segment:").rpartition(":")
    return f"{job}, {int(number) + 1}"


def _share(done: float, expected: float) -> float:
    return min(1.0, done / expected) if expected else 0.0


def _key(table: TableSchema | None, item: Item) -> str:
    """An item's key as its table has it; for an unknown table, all of its texts."""
    names = table.key_attributes if table is not None else [n for n in item if "S" in item[n]]
    return " › ".join(scalar(item[name]) for name in names if name in item)


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"
