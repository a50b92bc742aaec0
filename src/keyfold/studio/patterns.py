"""Access patterns: each as a form, run, and shown with its requests, units, cost and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from keyfold.design.condition import written
from keyfold.design.entity import Entity
from keyfold.design.pattern import Pattern
from keyfold.design.schema import PatternSchema
from keyfold.prices import SECONDS_A_MONTH, prices
from keyfold.review.cost.bill import PatternLine
from keyfold.review.docs.requests import read_units, request
from keyfold.studio.detail import value_of
from keyfold.studio.findings import finding_list, findings_about
from keyfold.studio.invocation import AnswerRow, Argument, PatternRun, arguments, invoke
from keyfold.studio.items import KnownItem, shown
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import count, dollars, place_words, plural, units
from keyfold.studio.parts import (
    banner,
    code,
    empty,
    fields,
    grid,
    head,
    link,
    panel,
    state,
    stats,
    tabs,
)
from keyfold.studio.snippets import aws_command, boto3_code, python_code, wire_text
from keyfold.studio.view import PageMissing, PageView

COLUMNS = 9
OFFERED = 40


def patterns(view: PageView) -> Html:
    """The pattern that the address names, or the first."""
    known = view.system.schema.patterns
    if not known:
        nothing = empty("No patterns", "A design’s access patterns would stand here.")
        return view.page("Patterns", nothing, current="patterns")
    name = view.path.get("name") or known[0].name
    chosen = view.system.schema.by_pattern.get(name)
    if chosen is None:
        raise PageMissing(f"Not found: pattern {name!r} in {view.system.title}.")
    declared = view.system.design.patterns.get(name) if view.system.design else None
    body = _declared(view, chosen) if declared is None else _runnable(view, chosen, declared)
    return view.page(
        name,
        el("div", _list(view, chosen), el("div", body, class_="stack"), class_="cols list"),
        current="patterns",
        crumbs=[("Patterns", view.at("patterns")), (name, None)],
    )


def _list(view: PageView, chosen: PatternSchema) -> Html:
    rows = []
    for one in view.system.schema.patterns:
        budget = plural(one.requests, "request") if one.requests else "no budget"
        chip = view.chip(one.entities[0]) if one.entities else None
        rows.append(
            link(
                view.at("patterns", one.name),
                el("code", one.name),
                chip,
                el("small", _units_of(view, one)),
                el("small", budget, class_="num"),
                aria_current="page" if one is chosen else None,
            )
        )
    more = el(
        "button",
        "Show all",
        class_="btn quiet more",
        type="button",
        data_all=".pick",
        aria_expanded="false",
    )
    number = el("span", count(len(rows)), class_="small muted")
    return el(
        "nav",
        el("header", el("h2", "Patterns"), number, more),
        rows,
        class_="panel pick",
        aria_label="Patterns",
    )


def _units_of(view: PageView, one: PatternSchema) -> str:
    taken = read_units(view.system.schema, one)
    return f"{taken} {'unit' if taken == '1' else 'units'}"


def _title(view: PageView, chosen: PatternSchema) -> Html:
    returned = [view.ent(name) for name in chosen.entities]
    says = text(chosen.description.partition("\n\n")[0], " Returns ", returned, ".")
    return head(
        el("code", chosen.name, class_="h"),
        says,
        el("button", "Copy link", class_="btn quiet", type="button", data_copy="address"),
        flush=True,
    )


def _declared(view: PageView, chosen: PatternSchema) -> Html:
    """A pattern of a design file: its request is known, and nothing can run it."""
    return text(
        _title(view, chosen),
        banner("", "A design file cannot run. Declare it in Python to run its patterns here."),
        panel("Request", code(request(view.system.schema, chosen))),
        _why(view, chosen),
        _findings(view, chosen.name),
    )


def _runnable(view: PageView, chosen: PatternSchema, declared: Pattern[Any, Any]) -> Html:
    wanted = arguments(declared, view.query, view.system)
    ran: PatternRun | None = None
    asked = "run" in view.query
    if asked and not any(one.problem for one in wanted):
        ran = invoke(view.system, declared, wanted, view.query.get("after", ""))
    return text(
        _title(view, chosen),
        _form(view, chosen, wanted, show_problems=asked),
        _result(view, chosen, declared, wanted, ran) if ran is not None else None,
        _why(view, chosen),
        _findings(view, chosen.name),
        _history(ran, declared, wanted),
    )


def _form(
    view: PageView, chosen: PatternSchema, wanted: list[Argument], *, show_problems: bool
) -> Html:
    boxes = []
    for one in wanted:
        name = f"p-{one.name}"
        options = [el("option", label, value=value) for value, label in one.offered[:OFFERED]]
        wrong = show_problems and bool(one.problem)
        boxes.append(
            el(
                "div",
                el("label", one.name, " ", el("code", one.type), for_=name),
                el(
                    "input",
                    type="text",
                    id=name,
                    name=one.name,
                    value=one.text,
                    list=f"{name}-offered" if options else None,
                    class_="mono",
                    aria_invalid="true" if wrong else None,
                    autocomplete="off",
                ),
                el("datalist", options, id=f"{name}-offered") if options else None,
                el("small", one.problem, class_="err") if wrong else None,
            )
        )
    if chosen.paged or view.query.get("after"):
        boxes.append(
            el(
                "div",
                el("label", "after ", el("code", "cursor"), for_="p-after"),
                el(
                    "input",
                    type="text",
                    id="p-after",
                    name="after",
                    value=view.query.get("after", ""),
                    placeholder="from the start",
                ),
            )
        )
    run = el(
        "button", "Run ", el("kbd", "⏎"), class_="btn main", type="submit", name="run", value="1"
    )
    return el(
        "form",
        el("div", boxes, el("div", run), class_="pad fields"),
        class_="panel",
        action=view.at("patterns", chosen.name),
        method="get",
        aria_label="Parameters",
    )


def _result(
    view: PageView,
    chosen: PatternSchema,
    declared: Pattern[Any, Any],
    wanted: list[Argument],
    ran: PatternRun,
) -> Html:
    price = prices().read
    line = _line(view, chosen)
    allowed = f"of {chosen.requests} allowed" if chosen.requests else "no budget"
    figures: list[tuple[str, Child, Child]] = [
        ("Items", count(len(ran.rows)), "more follow" if ran.cursor else ""),
        ("Requests", count(len(ran.requests)), allowed),
        ("Read units", units(ran.units), ""),
        ("Time", f"{1000 * ran.seconds:.1f}", "ms"),
        ("A million calls", dollars(ran.units * price), ""),
    ]
    if line is not None:
        monthly = line.rate.average * SECONDS_A_MONTH * ran.units * price / 1e6
        figures.append((f"At {line.rate.average:g} a second", dollars(monthly), "a month"))
    if ran.problem:
        return text(banner("bad", ran.problem), stats(figures), _code(view, declared, wanted, ran))
    return text(stats(figures), _rows(view, ran), _code(view, declared, wanted, ran))


def _line(view: PageView, chosen: PatternSchema) -> PatternLine | None:
    bill = view.system.bill
    if bill is None:
        return None
    return next((line for line in bill.patterns if line.pattern.name == chosen.name), None)


def _rows(view: PageView, ran: PatternRun) -> Html:
    if not ran.rows:
        says = "It read what the requests below say, and nothing matched."
        return panel("Items", empty("No items", says))
    more = None
    if ran.cursor:
        query = {**view.query, "after": ran.cursor}
        where = view.at("patterns", view.path.get("name", ""), **query)
        more = link(where, "Next page", class_="btn")
    note = "sort order, more follow" if ran.cursor else "sort order, no more"
    return panel("Items", _table(view, ran.rows), note=note, footer=more)


def _table(view: PageView, rows: list[AnswerRow]) -> Html:
    items = [_item(view, row.entity) for row in rows]
    in_key = {
        f
        for item in items
        if item and item.entity and item.entity.key
        for f in item.entity.key.fields
    }
    names = [n for n in dict.fromkeys(n for row in rows for n in row.values) if n not in in_key]
    names = names[:COLUMNS]
    body = (
        (
            _item_link(view, item),
            *(_cell(view, item, row, name) for name in names),
        )
        for row, item in zip(rows, items, strict=True)
    )
    return grid([("Key", False), *((name, False) for name in names)], body, hold=True)


def _item_link(view: PageView, item: KnownItem | None) -> Child:
    if item is None:
        return "–"
    return link(view.item(item), view.chip(item.kind), " ", view.item_key(item), class_="nowrap")


def _item(view: PageView, entity: Entity | None) -> KnownItem | None:
    if entity is None:
        return None
    spec = entity.__spec__
    return view.system.reader.read(spec.table.schema, spec.encode(entity))


def _cell(view: PageView, item: KnownItem | None, row: AnswerRow, name: str) -> Child:
    attribute = item.entity.by_field.get(name) if item and item.entity else None
    if item is None or attribute is None:
        return el("span", shown(row.values.get(name)), class_="nowrap")
    if name not in item.values:
        return el("span", "–", class_="faint")
    return el("span", value_of(view, item, attribute), class_="cell")


def _code(
    view: PageView, declared: Pattern[Any, Any], wanted: list[Argument], ran: PatternRun
) -> Html:
    wire = "\n\n".join(wire_text(one) for one in ran.requests)
    first = ran.requests[:1]
    panels: list[tuple[str, Child]] = [
        (f"Requests, {len(ran.requests)}", code(wire or "No request was sent.")),
        ("Python", code(python_code(view.system, declared, wanted))),
        ("boto3", code("\n\n".join(boto3_code(one) for one in first))),
        ("aws", code("\n\n".join(aws_command(one) for one in first))),
    ]
    copy = el("button", "Copy", class_="btn quiet", type="button", data_copy="tab")
    return tabs("code", panels, copy, label="As code")


def _why(view: PageView, chosen: PatternSchema) -> Html:
    return panel("Why it is like this", fields(_reasons(view, chosen), pad=True))


def _reasons(view: PageView, chosen: PatternSchema) -> Iterator[tuple[Child, Child]]:
    entity = view.system.entity(chosen.entities[0]) if chosen.entities else None
    through = f"{chosen.table}, through {chosen.index}" if chosen.index else chosen.table
    if chosen.partition is not None and entity is not None:
        yield "Reads", text(through, ", partition ", view.template(entity, chosen.partition))
    else:
        yield "Reads", through
    asked = chosen.condition
    if asked.operator != "none" and entity is not None:
        words = asked.operator.replace("_", " ")
        yield "Range", text("sort key ", words, " ", view.template(entity, asked.template))
    if chosen.filter is not None:
        says = "after reading: what it removes is paid for"
        yield "Filter", text(el("code", written(chosen.filter)), f", {says}")
    if chosen.index is not None:
        yield "Consistency", "eventual: a global index follows its table"
    else:
        consistent = "consistent" if chosen.consistent else "eventual; consistent costs twice"
        yield "Consistency", consistent
    if chosen.kind == "merge":
        yield "Merge", f"one request for each of {chosen.partitions or 'its parts'}"
    copy = entity.copy if entity is not None else None
    if copy is not None and entity is not None:
        says = f"carries {plural(len(copy.fields), 'field')} of {copy.of}: no canonical is read"
        yield "Copies", text(view.chip(entity.name), " ", says)
    if chosen.requests:
        asked_for = plural(chosen.requests, "request")
        says = f"{asked_for}, enforced when it runs; one more raises BudgetExceeded"
        yield "Budget", says
    if chosen.place.file:
        yield "Declared", el("code", place_words(chosen.place))


def _findings(view: PageView, name: str) -> Html:
    found = findings_about(view, name)
    said = finding_list(view, found) if found else el("p", state("ok", "none"), class_="pad")
    return panel("Findings", said, note="of the review")


def _history(ran: PatternRun | None, declared: Pattern[Any, Any], wanted: list[Argument]) -> Html:
    """What ran in this browser; the script keeps it there."""
    told: dict[str, str | bool | None] = {}
    if ran is not None and not ran.problem:
        call = ", ".join(f'{one.name}="{one.text}"' for one in wanted if one.text)
        told = {
            "data_call": f"{declared.name}({call})",
            "data_items": count(len(ran.rows)),
            "data_requests": count(len(ran.requests)),
            "data_units": units(ran.units),
            "data_time": f"{1000 * ran.seconds:.1f} ms",
            "data_at": f"{datetime.now(UTC):%H:%M:%S}",
        }
    heads = [("When", False), ("Call", False)]
    heads += [(name, True) for name in ("Items", "Requests", "Units", "Time")]
    return el(
        "section",
        el(
            "header",
            el("h2", "Runs in this browser"),
            el("span", "kept here only", class_="small muted"),
        ),
        grid(heads, []),
        class_="panel",
        id="history",
        hidden=True,
        **told,
    )
