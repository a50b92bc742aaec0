"""Migrations, live: the phase and progress of each, and the steps forward and back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import RedirectResponse, Response

from keyfold.errors import KeyfoldError
from keyfold.migrations import (
    PHASES,
    Migration,
    MigrationStatus,
    Migrator,
    Phase,
    ScanPace,
    backend_of,
)
from keyfold.migrations.migration import Side
from keyfold.migrations.runner import QUIET_SECONDS
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_workbench.studio.lag import LagSamples
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.migration_report import MigrationReport
from keyfold_workbench.studio.migration_run import MigrationRun
from keyfold_workbench.studio.parts import empty, head, link, live_part, panel, state
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageMissing, PageView

SETTLE_SECONDS = 2.0
"""How long a backend far away is given before both sides are compared."""

STEPS: Final[dict[Phase, tuple[str, str, str]]] = {
    "expand": ("creates tables and indexes; nobody reads them", "moments", "drops them again"),
    "follow": ("copies each change from now on", "at once", "stops copying"),
    "backfill": ("copies the items that are there", "one read of each item", "drops the copies"),
    "verify": (
        "compares both sides and copies again what differs",
        "one read of each item",
        "drops the copies",
    ),
    "switch-writes": (
        "lets applications read and write the new side",
        "moments",
        "sends writes to the old side again",
    ),
    "hold": (
        "keeps the old side equal while you watch",
        "at once",
        "sends writes to the old side again",
    ),
    "contract": ("drops what only the old side needs", "moments", ""),
}
"""Of each phase: what the step to it does, how long it takes, and what rolling back does then."""

QUIET_NEAR = 5.0
"""How long other applications of a file on this machine wrote nothing before a switch."""


def migrations(view: PageView) -> Html:
    """The migration that the address names, or the first that is not complete."""
    known = view.system.migrations
    if not known:
        says = "Traffic continues while a migration runs. You can roll back until contract."
        how = "Start the studio with --migration module:name to watch, apply and roll back a plan."
        others = [one for one in view.systems.values() if one.migrations]
        ways = [
            (" ", link(view.of(one).at("migrations"), f"{one.title} has one")) for one in others
        ]
        nothing = panel("Plans", empty("No migration here", how, *ways))
        body = [head("Migrations", says), nothing]
        return view.page("Migrations", *body, current="migrations")
    found = {one.name: _migrator(view.system, one).status() for one in known}
    one = _chosen(view, found)
    run = _run_of(view.system, one)
    status, migrator = found[one.name], _migrator(view.system, one)
    report = MigrationReport(view, migrator, run, status)
    now = live_part(
        "migration",
        _list(view, one, found) if len(known) > 1 else None,
        report.phases(el("footer", _acts(view, one, run, status))),
        report.body(),
    )
    if view.partial:
        return now
    says = f"{one.description} Traffic continues. You can roll back until contract."
    dry = link(view.at("migrations", migration=one.name, dry="1"), "Dry run", class_="btn")
    return view.page(
        one.name,
        head(el("code.h", one.name), says.strip(), dry),
        el("div.stack", report.estimate() if "dry" in view.query else None, now),
        current="migrations",
        crumbs=[("Migrations", view.at("migrations")), (one.name, None)],
    )


def _chosen(view: PageView, found: dict[str, MigrationStatus]) -> Migration:
    known = {one.name: one for one in view.system.migrations}
    name = view.query.get("migration", "")
    if name and name not in known:
        raise PageMissing(f"Not found: migration {name!r}. Here are {', '.join(known)}.")
    open_ones = (n for n, status in found.items() if status.state.phase != "contract")
    return known[name or next(open_ones, next(iter(known)))]


def _list(view: PageView, chosen: Migration, found: dict[str, MigrationStatus]) -> Html:
    """All migrations in order, each with its phase."""
    kinds = {"planned": "note", "contract": "ok"}
    rows = []
    for one in view.system.migrations:
        phase = found[one.name].state.phase
        rows.append(
            link(
                view.at("migrations", migration=one.name),
                el("code", one.name),
                state(kinds.get(phase, "run"), phase.replace("-", " ")),
                el("small", one.description),
                aria_current="page" if one is chosen else None,
            )
        )
    return el("nav.panel.plans", rows, aria_label="Migrations")


def _migrator(
    system: StudioSystem,
    migration: Migration,
    *,
    pace: ScanPace | None = None,
    without_routers: bool = False,
    run: MigrationRun | None = None,
) -> Migrator:
    backend = backend_of(system.client, prefix=system.table_prefix, names=system.table_names)
    near = isinstance(system.client, EmbeddedClient)
    told = run or _run_of(system, migration)
    return Migrator(
        migration,
        backend,
        pace=pace,
        settle=0.0 if near else SETTLE_SECONDS,
        quiet=QUIET_NEAR if near else QUIET_SECONDS,
        without_routers=without_routers,
        report=told.report,
        say=told.say,
    )


def _run_of(system: StudioSystem, migration: Migration) -> MigrationRun:
    if migration.name not in system.runs:
        lag = LagSamples(lambda: _migrator(system, migration).status().lag)
        system.runs[migration.name] = MigrationRun(lag)
    return system.runs[migration.name]


def _acts(
    view: PageView, one: Migration, run: MigrationRun, status: MigrationStatus
) -> Iterator[Html]:
    """The possible steps: forward, forward without the application, back."""
    if run.is_running:
        word = "Stopping…" if run.is_stopping else "Stop"
        yield _step(view, one, "stop", word, "btn", off=run.is_stopping)
        return
    following = _following(status)
    if following is not None and not status.state.returning:
        word = f"Continue to {following.replace('-', ' ')}"
        pace = _pace_box() if following in ("backfill", "verify") else None
        yield _step(view, one, "apply", word, "btn main", pace, sure=following == "contract")
        yield _foretold(following)
        alone = one.concerns_application and not status.routers
        if following == "switch-writes" and alone:
            yield _step(view, one, "apply-alone", "Switch without routers", "btn", sure=True)
    if run.is_copying:
        yield _step(view, one, "stop", "Stop copying", "btn")
    elif status.lag is not None and one.moves:
        yield _step(view, one, "copy", "Copy what is written", "btn")
    if status.state.phase not in ("contract", "planned"):
        keep = _kept_side() if status.state.writes == "new" else None
        yield _step(view, one, "rollback", "Roll back", "btn danger", keep, sure=True)


def _foretold(phase: Phase) -> Html:
    """What a step does, before it is taken."""
    effect, time, undo = STEPS[phase]
    back = f"Rolling back {undo}." if undo else "There is no way back."
    return el("span.small.muted.foretold", f"It {effect}. Takes {time}. {back}")


def _following(status: MigrationStatus) -> Phase | None:
    at = PHASES.index(status.state.phase)
    return PHASES[at + 1] if at + 1 < len(PHASES) else None


def _kept_side() -> Html:
    """Whose items stay where both sides were written."""
    choices = (
        ("", "stop if both sides were written"),
        ("new", "keep the new side’s items"),
        ("old", "keep the old side’s items"),
    )
    options = (el("option", words, value=value) for value, words in choices)
    return el("select", options, name="keep", aria_label="Items that stay")


def _pace_box() -> Html:
    """How fast a step reads that goes through every item."""
    return el(
        "label",
        el("span.small.muted", "items a second"),
        el(
            "input.mono",
            type="text",
            name="rate",
            size=8,
            inputmode="decimal",
            placeholder="no limit",
            autocomplete="off",
        ),
    )


def _pace(given: str) -> ScanPace:
    """The pace of a step."""
    try:
        rate = float(given) if given.strip() else 0.0
    except ValueError:
        raise KeyfoldError(f"Items a second must be a number, not {given!r}.") from None
    return ScanPace(items_per_second=rate)


def _step(
    view: PageView,
    one: Migration,
    act: str,
    words: str,
    kind: str,
    choice: Child = None,
    *,
    sure: bool = False,
    off: bool = False,
) -> Html:
    """A step; a dangerous one asks for the migration's name."""
    box = None
    if sure:
        box = el(
            "input.mono",
            type="text",
            name="sure",
            size=len(one.name) + 6,
            placeholder=f"type {one.name}",
            aria_label=f"Type {one.name} to confirm: {words}",
            autocomplete="off",
        )
    off = off or not view.system.writable
    unsure = sure and view.query.get("unsure") == act
    says = f"Type {one.name} to confirm. Nothing was done."
    return view.form_for(
        view.at("migrations"),
        [("migration", one.name)],
        choice,
        box,
        el("button", words, class_=kind, type="submit", name="act", value=act, disabled=off),
        el("small.err", says, role="alert") if unsure else None,
        class_="acts",
    )


def take_step(view: PageView) -> Response:
    """Take a step, stop, or go back."""
    if not view.system.writable:
        view.require_write()
    name = view.form.get("migration", "")
    one = next((m for m in view.system.migrations if m.name == name), None)
    if one is None:
        raise PageMissing(f"Not found: migration {name!r}.")
    run = _run_of(view.system, one)
    act = view.form.get("act", "")
    migrator = _migrator(
        view.system,
        one,
        pace=_pace(view.form.get("rate", "")),
        without_routers=act == "apply-alone",
        run=run,
    )
    following = _following(migrator.status())
    is_risky = act in ("rollback", "apply-alone") or (act == "apply" and following == "contract")
    if is_risky and view.form.get("sure", "").strip() != one.name:
        return RedirectResponse(view.at("migrations", migration=name, unsure=act), 303)
    if act == "stop":
        run.stop()
    elif act == "copy":
        run.copy(migrator)
    elif act == "rollback":
        keep = view.form.get("keep", "")
        side: Side | None = "new" if keep == "new" else "old" if keep == "old" else None
        run.roll_back(migrator, partial(migrator.rollback, keep=side))
    elif act in ("apply", "apply-alone") and following is not None:
        run.apply(migrator, following)
    else:
        raise KeyfoldError(
            f"{one.name} is complete, or {act!r} is not one of its steps. Nothing was done."
        )
    view.system.survey.forget()
    return RedirectResponse(view.at("migrations", migration=one.name), 303)
