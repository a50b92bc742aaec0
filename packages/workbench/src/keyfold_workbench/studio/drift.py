"""Drift: the differences that verification found, the requests that repair them, and the repair."""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.responses import RedirectResponse, Response

from keyfold.errors import KeyfoldError
from keyfold.maintain import Drift, DriftReport, repair
from keyfold.maintain.repair import fix
from keyfold.maintain.repair import plan as repair_plan
from keyfold.runtime import Db
from keyfold_engine.clients.recorder import RecordedClient, WriteHeldBack
from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.items import KnownItem, key_texts, plain, scalar, value_text
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.notation import moment
from keyfold_workbench.studio.parts import banner, code, diff, empty, link, panel, state
from keyfold_workbench.studio.request_text import wire_text
from keyfold_workbench.studio.view import PageMissing, PageView

PREVIEWED = 20
"""Differences whose repair is shown as a request."""


PATIENCE = 2.0
"""A longer verification continues while the page counts."""


SHOWN = 100
"""Differences shown on the page."""


def verify(view: PageView) -> Response:
    """Start a verification; a short one is done when the page returns."""
    db = view.system.open()
    if db is None:
        raise PageMissing("Only a design in Python can be verified.")
    view.system.checkup.start(db, settle=view.system.writable, wait=PATIENCE)
    return RedirectResponse(view.at("streams"), 303)


def drift_panel(view: PageView, db: Db) -> Html:
    checkup = view.system.checkup
    if checkup.is_running:
        says = (
            f"{checkup.scanned:,} items compared so far. Differences are compared again when the "
            "stream has caught up."
        )
        if not checkup.scanned:
            says = "First the stream catches up; then every item is compared."
        return panel("Drift", empty("Verifying", says), note=state("run", "running"))
    if checkup.problem:
        return panel("Drift", banner("bad", f"The verification failed: {checkup.problem}"))
    report = checkup.last
    if report is None:
        says = "Verify recomputes every copy, counter, unique value and index key, and compares."
        return panel("Drift", empty("Not verified yet", says))
    note = f"{report.scanned:,} items compared in {checkup.seconds:.1f} s, {moment(checkup.at)}"
    if report.clean:
        says = "Every copy, counter, unique value and index key is correct."
        return panel("Drift", empty("Consistent", says), note=note)
    kinds = [
        el("span", state("bad", f"{number:,} {kind}")) for kind, number in report.counts.items()
    ]
    shown_drifts = report.drifts[:SHOWN]
    rows = [_difference(view, db, at, one) for at, one in enumerate(shown_drifts)]
    repairable = sum(one.repairable for one in shown_drifts)
    button = el(
        "button.btn.main",
        f"Repair {repairable}",
        type="submit",
        id="repair",
        disabled=not (repairable and view.system.writable),
    )
    says = "An item that has changed since is not repaired. Nothing has been sent."
    return view.form_for(
        view.at("repair"),
        (),
        el("header", el("h2", "Drift"), el("span.small.muted", note)),
        el("div.strip.legend", kinds),
        el("ol.drift", rows),
        el("footer", button, el("span.small", says)),
        class_="panel",
        aria_label="Drift",
    )


def _difference(view: PageView, db: Db, at: int, one: Drift) -> Html:
    item = _present(view, one)
    box: Child = el("span.faint", "–", title="needs a decision")
    if one.repairable:
        box = el(
            "input",
            type="checkbox",
            name="drift",
            value=f"{at}:{_digest(one)}",
            data_fix=True,
            checked=True,
            disabled=not view.system.writable,
            aria_label=f"Repair {one.structure}",
        )
    name = item.entity.name if item is not None and item.entity is not None else ""
    if item is not None:
        key: Child = link(view.item(item), view.item_key(item))
    else:
        key = el("code.key", " › ".join(scalar(value) for value in one.key.values()))
    follows = f"Shown by {', '.join(one.follows)}: right once this is." if one.follows else ""
    return el(
        "li",
        box,
        el("span", view.chip(name), " ", key, " ", el("span.muted", one.structure)),
        el("span.small.muted", repair_plan(one)),
        diff(_changes(one)),
        el("div.why", follows) if follows else None,
        _request(db, one) if at < PREVIEWED and one.repairable else None,
    )


def _present(view: PageView, one: Drift) -> KnownItem | None:
    table = view.system.table(one.table)
    return find_item(view.system, table, *key_texts(table, one.key)) if table else None


def _changes(one: Drift) -> list[tuple[str, str | None, str | None]]:
    """What is found and what is expected, by attribute if both are items."""
    if isinstance(one.expected, dict) and isinstance(one.found, dict):
        names = {**one.expected, **one.found}
        return [
            (name, _fact_text(one.found.get(name)), _fact_text(one.expected.get(name)))
            for name in names
        ]
    return [(one.kind, _fact_text(one.found), _fact_text(one.expected))]


def _fact_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in ("S", "N", "B", "BOOL", "SS", "NS", "L", "M"):
            return value_text(plain(value))
        return ", ".join(f"{name}: {_fact_text(inner)}" for name, inner in value.items())
    return value_text(value) if isinstance(value, str | bool | list) else str(value)


def _request(db: Db, one: Drift) -> Child:
    """The request that would repair it, built by the repair itself and held back."""
    client = RecordedClient(db.client)
    watched = Db(db.context, client)
    try:
        watched.run(fix(watched.context, one))
    except WriteHeldBack:
        return el("details", el("summary", "Wire request"), code(wire_text(client.requests[-1])))
    except KeyfoldError:
        return None
    return None


def _digest(one: Drift) -> str:
    return hashlib.sha256(str(one).encode()).hexdigest()[:16]


def repair_chosen(view: PageView) -> Response:
    """Repair the chosen differences, verify again, and report the result."""
    view.require_write()
    db, report = view.system.open(), view.system.checkup.last
    if db is None or report is None:
        raise PageMissing("Not found: the report of this repair. Verify again.")
    chosen = []
    for given in view.lists.get("drift", ()):
        number, _, digest = given.partition(":")
        if number.isdigit() and int(number) < len(report.drifts):
            one = report.drifts[int(number)]
            chosen += [one] if _digest(one) == digest else []
    done = repair(db, DriftReport(drifts=chosen))
    view.system.survey.forget()
    view.system.checkup.start(db, settle=True, wait=PATIENCE)
    right = f", {done.right} already correct" if done.right else ""
    told = f"{done.fixed} repaired{right}, {len(done.left)} left; verified again."
    return RedirectResponse(view.at("streams", told=told), 303)
