"""Migrations, live: where each is, how far it got, and the way forward and back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from starlette.responses import RedirectResponse, Response

from keyfold.clients.embedded import EmbeddedClient
from keyfold.errors import KeyfoldError
from keyfold.migrations import (
    PHASES,
    Migration,
    MigrationStatus,
    Migrator,
    Phase,
    Side,
    backend_of,
)
from keyfold.migrations.applications import consequences
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.migration_run import MigrationRun
from keyfold.studio.notation import count
from keyfold.studio.parts import banner, empty, grid, head, state, stats
from keyfold.studio.system import StudioSystem
from keyfold.studio.view import PageMissing, PageView

SHOWN = 8
"""Problems of a migration that stand on its page."""
SETTLE_SECONDS = 2.0
"""How long a backend far away is given before both sides are compared."""


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


def _migrator(
    system: StudioSystem, migration: Migration, run: MigrationRun, *, without_routers: bool = False
) -> Migrator:
    backend = backend_of(system.client, prefix=system.table_prefix, names=system.table_names)
    near = isinstance(system.client, EmbeddedClient)
    return Migrator(
        migration,
        backend,
        settle=0.0 if near else SETTLE_SECONDS,
        without_routers=without_routers,
        report=run.report,
        say=run.say,
    )


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
        banner("warn", _waiting(one, run.waits)) if run.waits else None,
        _back_first(status),
        _words(one),
        _segments(status),
        _problems(status),
        el("footer", _acts(view, one, run, status)),
        class_="panel",
        aria_label=one.name,
    )


def _figures(status: MigrationStatus, run: MigrationRun) -> list[tuple[str, Child, Child]]:
    done = run.progress
    return [
        ("Reads", status.state.reads, "side"),
        ("Writes", status.state.writes, "side"),
        ("Copying is behind", "–" if status.lag is None else f"{status.lag:.1f}", "s"),
        ("Done", count(done.done if done else None), f"of {done.expected:,}" if done else ""),
        ("Rate", count(done.rate if done else None), "items/s"),
        ("Routers seen", count(status.routers), ""),
        ("Problems", state("bad" if status.problems else "ok", count(len(status.problems))), ""),
    ]


def _waiting(one: Migration, why: str) -> Html:
    """What the step waits for, and what follows where nobody waits."""
    told = " ".join(f"Without routers, {words}." for words in consequences(one))
    return text(f"{why[:1].upper()}{why[1:]}. ", told)


def _back_first(status: MigrationStatus) -> Child:
    if not status.state.returning:
        return None
    return banner("warn", "On its way back: finish that with Roll back.")


def _words(one: Migration) -> Html:
    """What the migration does, step by step."""
    steps = [el("li", words) for words in one.words()]
    return el("details", el("summary", "Steps"), el("ol", steps), class_="pad")


def _segments(status: MigrationStatus) -> Child:
    if not status.segments:
        return None
    rows = (
        (
            part.partition(":")[2] or part,
            count(float(one["done"])),
            state("ok", "finished") if one["finished"] else state("run", "under way"),
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
    view: PageView, one: Migration, run: MigrationRun, status: MigrationStatus
) -> Iterator[Html]:
    """The ways on: forward, forward without the application, back."""
    if run.is_running:
        yield _step(view, one, "stop", "Stop", "btn")
        return
    following = _following(status)
    if following is not None and not status.state.returning:
        word = f"Continue to {following.replace('-', ' ')}"
        yield _step(view, one, "apply", word, "btn main", sure=following == "contract")
        if following == "switch-reads" and one.concerns_application:
            yield _step(view, one, "apply-alone", "Switch without routers", "btn", sure=True)
    if status.state.phase != "contract" and status.state.phase != "planned":
        keep = _kept_side() if status.state.writes == "new" else None
        yield _step(view, one, "rollback", "Roll back", "btn danger", keep, sure=True)


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


def _step(
    view: PageView,
    one: Migration,
    act: str,
    words: str,
    kind: str,
    choice: Child = None,
    *,
    sure: bool = False,
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
            autocomplete="off",
        )
    off = not view.system.writable
    return view.form_for(
        view.at("migrations"),
        el("input", type="hidden", name="migration", value=one.name),
        choice,
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
    act = view.form.get("act", "")
    migrator = _migrator(view.system, one, run, without_routers=act == "apply-alone")
    following = _following(migrator.status())
    if act in ("rollback", "apply-alone") or (act == "apply" and following == "contract"):
        _require_sure(view, one)
    if act == "stop":
        run.stop()
    elif act == "rollback":
        keep = view.form.get("keep", "")
        side: Side | None = "new" if keep == "new" else "old" if keep == "old" else None
        run.roll_back(partial(migrator.rollback, keep=side))
    elif act in ("apply", "apply-alone") and following is not None:
        run.apply(migrator, following)
    else:
        raise KeyfoldError(
            f"{one.name} is complete, or the step {act!r} is none. Nothing was done."
        )
    view.system.survey.forget()
    return RedirectResponse(view.at("migrations"), 303)


def _require_sure(view: PageView, one: Migration) -> None:
    if view.form.get("sure", "").strip() != one.name:
        raise KeyfoldError(f"Type {one.name} to confirm. Nothing was done.")
