"""Review: findings, and what the design costs under its workload."""

from __future__ import annotations

from keyfold.errors import KeyfoldError
from keyfold.review.check import SEVERITIES, Finding
from keyfold.review.check.page import page as rule_page
from keyfold_workbench.advise import Advice, advise
from keyfold_workbench.cost import Bill
from keyfold_workbench.cost.bill import WARM
from keyfold_workbench.studio.findings import finding_list, rule_link, with_code
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, dollars, plural, units
from keyfold_workbench.studio.parts import bar, code, empty, grid, head, link, panel, state, tabs
from keyfold_workbench.studio.view import PageMissing, PageView

LINES = 14


def review(view: PageView) -> Html:
    """Findings beside the bill."""
    system = view.system
    panels: list[tuple[str, Child]] = [
        (f"The design, {len(system.review.findings)}", _list(view, system.review.findings))
    ]
    written = system.written_review
    if written is not None:
        title = f"As the document says, {len(written.findings)}"
        panels.append((title, _list(view, written.findings)))
    says = "What an expert would say about the design, and what it costs under its workload."
    return view.page(
        "Review",
        head("Review", says),
        el(
            "div.cols",
            el("div.stack", tabs("f", panels, label="Findings of"), _accepted(view), _advice(view)),
            el("div.stack", _cost(view)),
        ),
        current="review",
    )


def _list(view: PageView, findings: tuple[Finding, ...]) -> Child:
    ranked = sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
    return finding_list(view, ranked) if ranked else empty("No findings", "Every rule passes.")


def _accepted(view: PageView) -> Child:
    """Findings that the declaration answers with a reason."""
    silenced = view.system.review.silenced
    if not silenced:
        return None
    rows = (
        el(
            "li.finding",
            state("note", "accepted"),
            el("b.subject", one.finding.subject),
            rule_link(view, one.finding),
            el("p.say", f"“{one.reason}”"),
        )
        for one in silenced
    )
    return panel("Accepted in place", el("ul", rows), note=count(len(silenced)))


def _cost(view: PageView) -> Html:
    made = view.system.bill
    if made is None:
        draft = el("code", "keyfold workload")
        says = "Write one with ", draft, ", and start the studio with --workload FILE."
        return panel("Cost", empty("No workload", *says))
    return text(_bill(made), _hot_keys(made))


def _bill(made: Bill) -> Html:
    lines: list[tuple[str, float, float]] = [
        *((one.pattern.name, one.read.total, one.dollars) for one in made.patterns),
        *((one.write.name, one.write.units, one.dollars) for one in made.writes),
    ]
    lines.sort(key=lambda one: -one[2])
    most = max((one[2] for one in lines), default=0.0) or 1.0
    rows = (
        (el("code.nowrap", name), bar(cost / most), units(round(each, 1)), dollars(cost))
        for name, each, cost in lines[:LINES]
    )
    paths = (
        (el("code", str(one.path)), dollars(one.on_demand), dollars(one.storage))
        for one in made.paths
    )
    return panel(
        "Cost",
        el("p.pad.sum", el("b", dollars(made.dollars)), "under the workload"),
        grid(("Pattern or write", "Share", "#Units a call", "#A month"), rows),
        grid(("Table or index", "#Requests", "#Storage"), paths),
        note=f"a month, on demand, {made.prices.region}",
        footer=el("span.small", f"{plural(len(made.assumptions), 'number')} assumed"),
    )


def _hot_keys(made: Bill) -> Html:
    """The keys that are busy under the workload."""
    rows = [
        el(
            "li.finding",
            state("bad" if one.share >= 1 else "warn", "hot key"),
            el("b.subject", str(one.path)),
            el("span.rule", f"{one.share:.0%} of a partition"),
            el(
                "p.say",
                f"{one.key}: {count(one.units)} {one.kind} units a second, of {one.limit:,}",
            ),
        )
        for one in made.hot
        if one.share >= WARM
    ]
    body = el("ul", rows) if rows else empty("No hot key", "Every partition has room.")
    return panel("Hot keys", body)


def _advice(view: PageView) -> Html:
    system = view.system
    if system.workload is None:
        says = "Advice needs a workload: the best design depends on the rates of its patterns."
        return panel("Advice", empty("No workload", says))
    if "advise" not in view.query and system.advice is None:
        ask = link(view.at("review", advise="1"), "Search for a better design", class_="btn")
        return panel("Advice", el("p.pad", ask), note="takes some seconds")
    if system.advice is None:
        system.advice = advise(system.stated, system.workload)
    return _alternatives(system.advice)


def _alternatives(advice: Advice) -> Html:
    rows = (
        (
            el("b", one.name),
            dollars(advice.before.bill.dollars),
            dollars(one.bill.dollars),
            el("span.small", "; ".join(map(str, one.gains[:2])) or one.aim),
        )
        for one in advice.alternatives
    )
    columns = ("Design", "#Before", "#After", "Why")
    return panel("Advice", grid(columns, rows), note="before and after, a month")


def rule(view: PageView) -> Html:
    """A rule's page: why, a wrong and a right example, and the right one in Python."""
    try:
        found = rule_page(view.path["code"])
    except KeyfoldError as problem:
        raise PageMissing(f"Not found: {problem}.") from None
    opening, _, _ = found.text.partition("\n## ")
    title, *reasons = opening.strip().split("\n\n")
    why = el("div.prose", [el("p", with_code(one)) for one in reasons])
    return view.page(
        found.code,
        head(title.lstrip("# "), "", link(view.at("review"), "All findings", class_="btn quiet")),
        el(
            "div.stack",
            why,
            el(
                "div.cols",
                panel("Wrong", code(found.wrong), note=state("bad", "found")),
                panel("Right", code(found.right), note=state("ok", "not found")),
            ),
            panel("In Python", code(found.python), note="the right one as a declaration"),
        ),
        current="review",
        crumbs=[("Review", view.at("review")), (found.code, None)],
    )
