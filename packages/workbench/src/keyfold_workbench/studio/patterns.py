"""Access patterns: each as a form, run, and shown with its requests, units, cost and reasons."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from keyfold.design.pattern import Pattern
from keyfold.design.schema import PatternSchema
from keyfold_workbench.studio.answer import answer
from keyfold_workbench.studio.findings import findings_panel
from keyfold_workbench.studio.invocation import PatternArgument, PatternRun, arguments, invoke
from keyfold_workbench.studio.markup import Html, el, text
from keyfold_workbench.studio.notation import count, plural, units
from keyfold_workbench.studio.parts import (
    banner,
    code,
    empty,
    grid,
    head,
    link,
    live_part,
    panel,
)
from keyfold_workbench.studio.reasons import (
    AccessPattern,
    entities_of,
    price_words,
    request_text,
    why,
)
from keyfold_workbench.studio.view import PageMissing, PageView

OFFERED = 40
RUN = "run"
"""The part of the page that comes with the answer once the page is open."""


def patterns(view: PageView) -> Html:
    """The pattern that the address names, or the first."""
    known = {one.name: one for one in view.system.schema.access_patterns}
    if not known:
        nothing = empty("No patterns", "The access patterns of a design appear here.")
        return view.page("Patterns", nothing, current="patterns")
    name = view.path.get("name") or next(iter(known))
    chosen = known.get(name)
    if chosen is None:
        raise PageMissing(f"Not found: pattern {name!r} in {view.system.title}.")
    declared = view.system.design.patterns.get(name) if view.system.design else None
    if declared is None:
        body = _declared(view, chosen)
    elif view.partial:
        return _first_run(view, chosen, declared)
    else:
        body = _runnable(view, chosen, declared)
    return view.page(
        name,
        el("div.cols.list", _list(view, chosen), el("div.stack", body)),
        current="patterns",
        crumbs=[("Patterns", view.at("patterns")), (name, None)],
    )


def _list(view: PageView, chosen: AccessPattern) -> Html:
    rows = []
    for one in view.system.schema.access_patterns:
        entities = entities_of(one)
        rows.append(
            link(
                view.at("patterns", one.name),
                el("code", one.name),
                view.chip(entities[0]) if entities else None,
                el("small", price_words(view, one)),
                el("small.num", _budget(one)),
                aria_current="page" if one is chosen else None,
            )
        )
    more = el("button.btn.quiet.more", "Show all", data_all=".pick", aria_expanded="false")
    number = el("span.small.muted", count(len(rows)))
    return el(
        "nav.panel.pick",
        el("header", el("h2", "Patterns"), number, more),
        rows,
        aria_label="Patterns",
    )


def _budget(one: AccessPattern) -> str:
    if not isinstance(one, PatternSchema):
        return "search"
    return plural(one.requests, "request") if one.requests else "no budget"


def _title(view: PageView, chosen: AccessPattern) -> Html:
    returned = [view.ent(name) for name in entities_of(chosen)]
    says = text(chosen.description.partition("\n\n")[0], " Returns ", returned, ".")
    return head(
        el("code.h", chosen.name),
        says,
        el("button.btn.quiet", "Copy link", data_copy="address"),
        flush=True,
    )


def _declared(view: PageView, chosen: AccessPattern) -> Html:
    """A pattern of a design file: its request is known, and nothing can run it."""
    return text(
        _title(view, chosen),
        banner("", view.system.why_read_only or "This design cannot run here."),
        panel("Request", code(request_text(view, chosen))),
        why(view, chosen),
        findings_panel(view, chosen.name),
    )


def _first_run(view: PageView, chosen: AccessPattern, declared: Pattern[Any, Any]) -> Html:
    """A pattern that was just opened, run with the values of its form."""
    wanted = arguments(declared, view.query, view.system)
    form = _form(view, chosen, wanted, show_problems=False)
    if any(one.problem for one in wanted):
        # Values come from the data, which may not have been looked at yet.
        return live_part(RUN, form, lasting=view.system.survey.is_first_look)
    ran = invoke(view.system, declared, wanted, "")
    return live_part(RUN, form, answer(view, chosen, declared, wanted, ran), lasting=False)


def _runnable(view: PageView, chosen: AccessPattern, declared: Pattern[Any, Any]) -> Html:
    wanted = arguments(declared, view.query, view.system)
    ran: PatternRun | None = None
    asked = "run" in view.query
    form = _form(view, chosen, wanted, show_problems=asked)
    if not asked and not view.query:
        form = live_part(RUN, form)
    if asked and not any(one.problem for one in wanted):
        ran = invoke(view.system, declared, wanted, view.query.get("after", ""))
    return text(
        _title(view, chosen),
        form,
        answer(view, chosen, declared, wanted, ran) if ran is not None else None,
        why(view, chosen),
        findings_panel(view, chosen.name),
        _history(ran, declared, wanted),
    )


def _form(
    view: PageView, chosen: AccessPattern, wanted: list[PatternArgument], *, show_problems: bool
) -> Html:
    boxes = []
    if getattr(chosen, "paged", False) or view.query.get("after"):
        wanted = [
            *wanted,
            PatternArgument("after", "cursor", view.query.get("after", ""), "", False),
        ]
    for one in wanted:
        name = f"p-{one.name}"
        options = [el("option", label, value=value) for value, label in one.offered[:OFFERED]]
        wrong = show_problems and bool(one.problem)
        boxes.append(
            el(
                "div",
                el("label", one.name, " ", el("code", one.type), for_=name),
                el(
                    "input.mono",
                    type="text",
                    id=name,
                    name=one.name,
                    value=one.text,
                    list=f"{name}-offered" if options else None,
                    aria_invalid="true" if wrong else None,
                    placeholder="from the start" if one.type == "cursor" else None,
                    autocomplete="off",
                ),
                el("datalist", options, id=f"{name}-offered") if options else None,
                el("small.err", one.problem) if wrong else None,
            )
        )
    run = el("button.btn.main", "Run ", el("kbd", "⏎"), type="submit", name="run", value="1")
    return el(
        "form.panel",
        el("div.pad.fields", boxes, el("div", run)),
        action=view.at("patterns", chosen.name),
        method="get",
        aria_label="Parameters",
    )


def _history(
    ran: PatternRun | None, declared: Pattern[Any, Any], wanted: list[PatternArgument]
) -> Html:
    """What ran in this browser; the script keeps it there."""
    told: dict[str, str | bool | None] = {}
    if ran is not None and not ran.problem:
        call = ", ".join(
            f"{one.name}={one.text}"
            if isinstance(one.value, int | float)
            else f'{one.name}="{one.text}"'
            for one in wanted
            if one.text
        )
        told = {
            "data_call": f"{declared.name}({call})",
            "data_items": count(len(ran.rows)),
            "data_requests": count(len(ran.requests)),
            "data_units": units(ran.units),
            "data_time": f"{1000 * ran.seconds:.1f} ms",
            "data_at": f"{datetime.now(UTC):%H:%M:%S}",
        }
    return el(
        "section.panel",
        el(
            "header",
            el("h2", "Runs in this browser"),
            el("span.small.muted", "kept here only"),
        ),
        grid(("When", "Call", "#Items", "#Requests", "#Units", "#Time"), []),
        id="history",
        hidden=True,
        **told,
    )
