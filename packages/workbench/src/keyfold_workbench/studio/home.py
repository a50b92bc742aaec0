"""Home: the systems, their state, and what needs attention."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.errors import KeyfoldError
from keyfold_workbench.studio import layout
from keyfold_workbench.studio.findings import KINDS, with_code
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, dollars, plural, size_with_unit
from keyfold_workbench.studio.parts import empty, head, link, live_part, panel, state
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageView

COLUMNS = (
    ("System", False),
    ("Entities", True),
    ("Patterns", True),
    ("Tables", True),
    ("Items", True),
    ("Size", True),
    ("A month", True),
    ("Findings", False),
    ("Health", False),
)
WORST_FIRST = ("bad", "warn", "note")


def home(view: PageView) -> Html:
    """All systems, and the first steps with the first of them."""
    systems = list(view.systems.values())
    places = sorted({one.place for one in systems})
    title = text(plural(len(systems), "system"), " in ", el("code", ", ".join(places)))
    rows = [_row(view, one) for one in systems]
    heads = (el("th", name, class_="num" if number else None) for name, number in COLUMNS)
    table = el("table.systems.cards", el("thead", el("tr", heads)), el("tbody", rows))
    note = (
        "Cost: on demand, under each system’s own workload file. Findings: of the design, and of "
        "the document as it was written. Counts: as the tables say."
    )
    listed = el(
        "section.panel",
        el("div.scroll", table),
        el("footer", el("span.small", note)),
        aria_label="Systems",
    )
    says = "Each is a design document that runs. Choose one, or press / to search."
    below = el(
        "div.cols.wide-left", _needs(view, systems), _steps(view, _simplest(systems), systems)
    )
    state_now = live_part("systems", listed, below, lasting=False)
    if view.partial:
        return state_now
    body = text(head(title, says, *_access(systems)), state_now)
    return layout.document(
        view.base,
        "Systems",
        body,
        crumbs=[("All systems", None)],
        known=[hit for one in systems for hit in _hits(view, one)],
    )


def _hits(view: PageView, system: StudioSystem) -> Iterator[layout.Hit]:
    """What the search finds from here: a system, its patterns and its entities."""
    yield view.of(system).at("map"), system.title, "system"
    yield from layout.known_hits(view.base, system, f" of {system.title}")


def _access(systems: list[StudioSystem]) -> list[Html]:
    """Whether data can be changed here."""
    writable = sum(one.writable for one in systems)
    if writable == len(systems):
        return [state("ok", "writable")]
    return [state("note", f"{writable} of {len(systems)} writable" if writable else "read-only")]


def _simplest(systems: list[StudioSystem]) -> StudioSystem:
    """The system to begin with: a small one with copies."""
    copying = [one for one in systems if any(e.copy for e in one.schema.entities)]
    return min(copying or systems, key=lambda one: len(one.schema.entities))


def _row(view: PageView, system: StudioSystem) -> Html:
    at = view.of(system).at

    items: int | None
    try:
        tables = system.survey.describe()
        items, bytes = sum(t.items for t in tables.values()), sum(t.bytes for t in tables.values())
        health: Child = _health(system, at("streams"))
    except KeyfoldError as problem:
        items, bytes = None, 0
        health = state("bad", f"away: {problem}")
    name = text(
        link(at("map"), system.title, class_="name"),
        el(
            "small",
            system.description[:1].upper() + system.description[1:],
            (" ", link(system.page, "Use it", class_="link")) if system.page else "",
        ),
    )
    cells: list[tuple[Child, str]] = [
        (name, "full"),
        (count(len(system.schema.entities)), "num"),
        (count(len(system.schema.patterns)), "num"),
        (count(len(system.schema.tables)), "num"),
        (count(items), "num"),
        (size_with_unit(bytes) if items is not None else "–", "num"),
        (dollars(system.bill.dollars) if system.bill else "–", "num"),
        (_findings(system, at("review")), "findings"),
        (health, "health"),
    ]
    return el(
        "tr",
        (
            el("td", cell, class_=kind, data_h=heading if kind != "full" else None)
            for (cell, kind), (heading, _) in zip(cells, COLUMNS, strict=True)
        ),
    )


def _findings(system: StudioSystem, where: str) -> Html:
    found = system.review.findings
    worst = next((f.severity for s in ("error", "warning") for f in found if f.severity == s), "")
    kind = {"error": "bad", "warning": "warn", "": "note" if found else "ok"}[worst]
    said = state(kind, plural(len(found), "finding") if found else "None")
    written = system.written_review
    more = el("span.of", f"of {len(written.findings)} as written") if written else None
    return text(link(where, said), more)


def _health(system: StudioSystem, where: str) -> Html:
    checkup = system.checkup.last
    if checkup is None:
        return link(where, state("note", "Not verified yet"))
    drifts = len(checkup.drifts)
    said = state("bad", plural(drifts, "difference")) if drifts else state("ok", "Consistent")
    return link(where, said)


def _needs(view: PageView, systems: list[StudioSystem]) -> Html:
    """What needs attention: differences, findings, undeclared items."""
    rows = [row for system in systems for row in _of_system(view, system)]
    rows.sort(key=lambda row: WORST_FIRST.index(row[0]))
    body = (
        el("ul.todo", (row for _, row in rows))
        if rows
        else empty("Nothing to do", "Differences, findings and unknown items appear here.")
    )
    return panel("To do", body, note="worst first")


def _of_system(view: PageView, system: StudioSystem) -> Iterator[tuple[str, Html]]:
    """What one system needs, each with its kind."""

    at = view.of(system).at

    checkup = system.checkup.last
    if checkup is not None and checkup.drifts:
        says = f": {plural(len(checkup.drifts), 'difference')} in {checkup.scanned:,} items"
        yield _need("bad", "Drift", system.title, says, at("streams"), "Look")
    for severity, kind in KINDS.items():
        found = [one for one in system.review.findings if one.severity == severity]
        if found:
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            first = found[0]
            says = text(f": {first.subject}: ", with_code(first.message), f" ({first.code}){more}")
            yield _need(kind, severity.capitalize(), system.title, says, at("review"), "Read")
    unknown = sum(one.count("undeclared") for one in system.survey.tables(0.0).values())
    if unknown:
        says = f": {plural(unknown, 'item')} that no entity declares"
        where = at("data", entity="undeclared")
        yield _need("warn", "Unknown", system.title, says, where, "Open")


def _need(kind: str, word: str, title: str, says: Child, where: str, act: str) -> tuple[str, Html]:
    said = el("span", el("b", title), says)
    return kind, el("li", state(kind, word), said, link(where, act, class_="link"))


def _steps(view: PageView, system: StudioSystem, systems: list[StudioSystem]) -> Html:
    at = view.of(system).at

    copies = {e.name for e in system.schema.entities if e.copy}
    asked = [p for p in system.schema.patterns if p.kind == "query"]
    # One that reads copies has something to show.
    pattern = next((p for p in asked if copies & {*p.entities}), asked[0] if asked else None)
    copied = next((e.copy.of for e in system.schema.entities if e.copy), "")
    entity = copied or (system.schema.entities[0].name if system.schema.entities else "")
    steps = [
        ("Find an item", entity, at("data", entity=entity)),
        ("Follow it to its copies", "choose a row", at("data", entity=entity)),
        (
            "Run a pattern, see its cost",
            pattern.name if pattern else "",
            at("patterns", pattern.name) if pattern else at("patterns"),
        ),
        ("Change a value with its plan in view", "Edit…", at("data", entity=entity)),
        ("Verify copies, and repair what differs", "verify", at("streams")),
    ]
    moved = next((one for one in systems if one.migrations), None)
    if moved is not None:
        where = view.of(moved).at("migrations")
        steps.append(("Migrate a table while people use it", moved.title, where))
    rows = (
        el("li", link(where, el("span", says), el("span.faint", beside)))
        for says, beside, where in steps
    )
    return panel("First steps", el("ol.steps", rows), note=f"with {system.title}, two minutes")
