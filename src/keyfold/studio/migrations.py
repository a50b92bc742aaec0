"""Migrations, live: where each is, how far it got, and the way forward and back."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from keyfold.errors import KeyfoldError
from keyfold.migrations import PHASES, Migration, MigrationStatus, Migrator, backend_of
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.migration_run import MigrationRun
from keyfold.studio.notation import count
from keyfold.studio.parts import banner, empty, grid, head, state, stats
from keyfold.studio.system import StudioSystem
from keyfold.studio.view import PageMissing, PageView

SHOWN = 8
"""So many problems of a migration stand on the page."""


def migrations(view: PageView) -> Html:
    """Every migration of the system."""
    known = view.system.migrations
    says = "Traffic goes on while a migration runs; the way back is open until contract."
    if not known:
        how = "Start the studio with --migration module:name to watch, apply and take back a plan."
        body = [head("Migrations", says), empty("No migration here", how)]
        return view.page("Migrations", *body, current="migrations")
    running = any(
        view.system.runs[one.name].is_running for one in known if one.name in view.system.runs
    )
    parts = [_migration(view, one) for one in known]
    return view.page(
        "Migrations",
        head("Migrations", says),
        el("div", parts, class_="stack", data_refresh="1" if running else None),
        current="migrations",
    )


def _migrator(system: StudioSystem, migration: Migration, run: MigrationRun) -> Migrator:
    backend = backend_of(system.client, prefix=system.table_prefix, names=system.table_names)
    return Migrator(migration, backend, report=run.report, say=lambda _: None)


def _run_of(system: StudioSystem, migration: Migration) -> MigrationRun:
    return system.runs.setdefault(migration.name, MigrationRun())


def _migration(view: PageView, one: Migration) -> Html:
    run = _run_of(view.system, one)
    status = _migrator(view.system, one, run).status()
    at = PHASES.index(status.state.phase)
    steps = (
        el(
            "li",
            phase.replace("-", " "),
            el("small", "no way back") if phase == "contract" else None,
            class_="done" if place <= at else "now" if run.is_running and place == at + 1 else None,
            aria_current="step" if place == at else None,
        )
        for place, phase in enumerate(PHASES)
    )
    return el(
        "section",
        el(
            "header",
            el("h2", el("code", one.name)),
            el("span", one.description, class_="small muted"),
        ),
        el("div", el("ol", steps, class_="phases"), class_="pad"),
        stats(_figures(status, run), inset=True),
        banner("bad", run.problem) if run.problem else None,
        _segments(status),
        _problems(status),
        el("footer", _acts(view, one, run, at, status)),
        class_="panel",
        aria_label=one.name,
    )


def _figures(status: MigrationStatus, run: MigrationRun) -> list[tuple[str, Child, Child]]:
    done = run.progress
    return [
        ("Reads", status.state.reads, "side"),
        ("Writes", status.state.writes, "side"),
        ("Behind the stream", "–" if status.lag is None else f"{status.lag:.1f}", "s"),
        ("Done", count(done.done if done else None), f"of {done.expected:,}" if done else ""),
        ("Rate", count(done.rate if done else None), "items/s"),
        ("Routers seen", count(status.routers), ""),
        ("Problems", state("bad" if status.problems else "ok", count(len(status.problems))), ""),
    ]


def _segments(status: MigrationStatus) -> Child:
    if not status.segments:
        return None
    rows = (
        (
            part.partition(":")[2] or part,
            count(float(one["done"])),
            "finished" if one["finished"] else "under way",
        )
        for part, one in status.segments.items()
    )
    return grid([("Segment", False), ("Items", True), ("State", False)], rows)


def _problems(status: MigrationStatus) -> Child:
    """Items that could not be copied: the first of them, and how many there are."""
    if not status.problems:
        return None
    rows = ((str(one),) for one in status.problems[:SHOWN])
    listed = grid([("Problem", False)], rows)
    left = len(status.problems) - SHOWN
    more = el("p", f"and {left:,} more", class_="pad small muted") if left > 0 else None
    return text(listed, more)


def _acts(
    view: PageView, one: Migration, run: MigrationRun, at: int, status: MigrationStatus
) -> list[Html]:
    if run.is_running:
        return [_button(view, one, "stop", "Stop", "btn")]
    made = []
    if at + 1 < len(PHASES):
        following = PHASES[at + 1]
        word = f"Continue to {following.replace('-', ' ')}"
        made.append(_button(view, one, "apply", word, "btn main", sure=following == "contract"))
    if status.state.phase not in ("planned", "contract"):
        made.append(_button(view, one, "rollback", "Roll back", "btn danger", sure=True))
    return made


def _button(
    view: PageView, one: Migration, act: str, words: str, kind: str, *, sure: bool = False
) -> Html:
    """A step; one that cannot be taken lightly asks for the migration's name."""
    box = None
    if sure:
        box = el(
            "input",
            type="text",
            name="sure",
            class_="mono",
            size=len(one.name) + 6,
            placeholder=f"type {one.name}",
            aria_label=f"Type {one.name} to confirm: {words}",
        )
    off = not view.system.writable
    return view.form_for(
        view.at("migrations"),
        el("input", type="hidden", name="migration", value=one.name),
        box,
        el("button", words, class_=kind, type="submit", name="act", value=act, disabled=off),
        class_="acts",
    )


def migrated(view: PageView) -> Response:
    """Take a step, stop, or go back."""
    if not view.system.writable:
        view.require_write()
    name = view.form.get("migration", "")
    one = next((m for m in view.system.migrations if m.name == name), None)
    if one is None:
        raise PageMissing(f"Not found: migration {name!r}.")
    run = _run_of(view.system, one)
    migrator = _migrator(view.system, one, run)
    act = view.form.get("act")
    at = PHASES.index(migrator.status().state.phase)
    sure = view.form.get("sure") == one.name
    if act == "stop":
        run.stop()
    elif act == "rollback" or (act == "apply" and PHASES[at + 1] == "contract"):
        if not sure:
            raise KeyfoldError(f"Type {one.name} to confirm. Nothing was done.")
        run.start(migrator, None if act == "rollback" else "contract")
    elif act == "apply" and at + 1 < len(PHASES):
        run.start(migrator, PHASES[at + 1])
    view.system.survey.forget()
    return RedirectResponse(view.at("migrations"), 303)
