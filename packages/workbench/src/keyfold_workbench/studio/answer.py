"""The result of an access pattern: figures, items, and the call as code."""

from __future__ import annotations

from typing import Any

from keyfold.design.entity import Entity
from keyfold.design.pattern import Pattern
from keyfold.prices import SECONDS_A_MONTH, prices
from keyfold_engine.limits import GB
from keyfold_workbench.cost.bill import PatternLine
from keyfold_workbench.studio.detail import value_of
from keyfold_workbench.studio.invocation import AnswerRow, PatternArgument, PatternRun
from keyfold_workbench.studio.items import KnownItem, value_text
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, dollars, size, units
from keyfold_workbench.studio.parts import banner, code, empty, grid, link, panel, stats, tabs
from keyfold_workbench.studio.reasons import AccessPattern
from keyfold_workbench.studio.request_text import (
    colour,
    python_code,
    wire_text,
)
from keyfold_workbench.studio.view import PageView

COLUMNS = 9


def answer(
    view: PageView,
    chosen: AccessPattern,
    declared: Pattern[Any, Any],
    wanted: list[PatternArgument],
    ran: PatternRun,
) -> Html:
    """The figures, the items and the code of a run."""
    figures = stats(_figures(view, chosen, ran))
    as_code = _code(view, declared, wanted, ran)
    if ran.problem:
        return text(banner("bad", ran.problem), figures, as_code)
    return text(figures, _rows(view, ran), as_code)


def _figures(
    view: PageView, chosen: AccessPattern, ran: PatternRun
) -> list[tuple[str, Child, Child]]:
    dear = prices()
    once = ran.units * dear.read / 1e6 + ran.searched_bytes / GB * dear.vector_search
    budget = getattr(chosen, "requests", None)
    made: list[tuple[str, Child, Child]] = [
        ("Items", count(len(ran.rows)), "more follow" if ran.cursor else ""),
        ("Requests", count(len(ran.requests)), f"of {budget} allowed" if budget else "no budget"),
    ]
    if ran.searched_bytes:
        made.append(("Looked at", *size(ran.searched_bytes)))
    else:
        made.append(("Read units", units(ran.units), ""))
    made.append(("Time", f"{1000 * ran.seconds:.1f}", "ms"))
    made.append(("A million calls", dollars(1e6 * once), ""))
    line = _line(view, chosen)
    if line is not None:
        monthly = line.rate.average * SECONDS_A_MONTH * once
        made.append((f"At {line.rate.average:g} a second", dollars(monthly), "a month"))
    return made


def _line(view: PageView, chosen: AccessPattern) -> PatternLine | None:
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
    order = "nearest first" if ran.searched_bytes else "sort order"
    note = f"{order}, {'more follow' if ran.cursor else 'no more'}"
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
    together = len({item.partition if item else "" for item in items}) == 1
    body = (
        (
            _item_link(view, item, sort_only=together and len(items) > 1),
            *(_cell(view, item, row, name) for name in names),
        )
        for row, item in zip(rows, items, strict=True)
    )
    return grid(["Key", *names], body, hold=True)


def _item_link(view: PageView, item: KnownItem | None, *, sort_only: bool) -> Child:
    """The link to an item; within one partition its sort key identifies it."""
    if item is None:
        return "–"
    key = view.item_key(item)
    if sort_only and item.sort is not None:
        own = item.entity.key if item.entity is not None else None
        key = view.key(item.sort, item.entity, own.sort if own is not None else None)
    return link(view.item(item), view.chip(item.kind), " ", key, class_="nowrap")


def _item(view: PageView, entity: Entity | None) -> KnownItem | None:
    if entity is None:
        return None
    spec = entity.__spec__
    return view.system.reader.read(spec.table.schema, spec.encode(entity))


def _cell(view: PageView, item: KnownItem | None, row: AnswerRow, name: str) -> Child:
    attribute = item.entity.by_field.get(name) if item and item.entity else None
    if item is None or attribute is None:
        return el("span.nowrap", value_text(row.values.get(name)))
    if name not in item.values:
        return el("span.faint", "–")
    return el("span.cell", value_of(view, item, attribute, short=True))


def _code(
    view: PageView, declared: Pattern[Any, Any], wanted: list[PatternArgument], ran: PatternRun
) -> Html:
    wire = "\n\n".join(wire_text(one) for one in ran.requests)
    panels: list[tuple[str, Child]] = [
        (
            f"Requests, {len(ran.requests)}",
            code(colour(wire) if wire else "No request was sent."),
        ),
    ]
    if view.system.file is None:
        panels.append(("Python", code(python_code(view.system, declared, wanted))))
    copy = el("button.btn.quiet", "Copy", data_copy="tab")
    return tabs("code", panels, copy, label="As code")
