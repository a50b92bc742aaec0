"""Scale: what the design does with more users, simulated for some days."""

from __future__ import annotations

from keyfold_workbench.simulate.answer.changes import Cure, cure
from keyfold_workbench.simulate.answer.prediction import Prediction, predict
from keyfold_workbench.simulate.answer.report import moment, people
from keyfold_workbench.simulate.load.design_load import design_load
from keyfold_workbench.simulate.load.users import scale_users
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.notation import count, dollars
from keyfold_workbench.studio.parts import empty, grid, head, link, panel, state
from keyfold_workbench.studio.view import PageView

USERS = (1e4, 1e6, 1e8)
DAYS = 3.0
ROWS = 12


def scale(view: PageView) -> Html:
    """What throttles first with the chosen number of users, and what helps."""
    workload = view.system.workload
    says = f"The design under its workload, simulated for {DAYS:g} days with more users."
    if workload is None or workload.users is None:
        wanted = "Start the studio with a workload file that states its users, as users: 20000."
        body: Child = panel("Scale", empty("No users", wanted))
        return view.page("Scale", head("Scale", says), body, current="review")
    asked = view.query.get("users", "")
    users = next((each for each in USERS if f"{each:.0f}" == asked), USERS[-1])
    answer = predict(
        design_load(view.system.schema, scale_users(view.system.schema, workload, users)), DAYS
    )
    choices = (
        link(view.at("scale", users=f"{each:.0f}"), people(each), class_="btn quiet")
        for each in USERS
    )
    tried = cure(answer) if answer.outcome.firsts else None
    return view.page(
        f"At {people(users)} users",
        head(f"At {people(users)} users", says, *choices),
        el("div", _firsts(answer), _tried(tried), _slowest(answer), class_="stack"),
        current="review",
        crumbs=[("Review", view.at("review")), ("Scale", None)],
    )


def _firsts(answer: Prediction) -> Html:
    cost = f"{dollars(answer.cost.total)} a month"
    found = sorted(answer.outcome.firsts, key=lambda each: each.at)[:ROWS]
    if not found:
        return panel("What throttles first", empty("Nothing", "No call is refused."), note=cost)
    columns = [
        ("When", False),
        ("Where", False),
        ("Key", False),
        ("Reason", False),
        ("Asked a second", True),
        ("Limit", True),
    ]
    rows = (
        (
            moment(each.at),
            el("code", str(each.place)),
            el("code", each.key or "many", class_="key"),
            f"{each.kind}, {each.reason}",
            count(each.wanted),
            count(each.limit),
        )
        for each in found
    )
    lost = f"{answer.outcome.lost_share:.2%} of all calls fail; {cost}"
    return panel("What throttles first", grid(columns, rows), note=lost)


def _tried(tried: Cure | None) -> Child:
    if tried is None or not tried.tried:
        return None
    columns = [("Change", False), ("", False), ("Failed", True), ("Then", True), ("Note", False)]
    rows = (
        (
            each.name.replace("`", ""),
            state("ok", "helps") if each.helps else state("warn", "no help"),
            f"{each.lost_before:.2%}",
            f"{each.lost_after:.2%}",
            el("span", each.note, class_="small remark"),
        )
        for each in tried.tried[:ROWS]
    )
    return panel("Changes that were tried", grid(columns, rows))


def _slowest(answer: Prediction) -> Html:
    columns = [("Call", False), ("p50", True), ("p99", True), ("p99 at worst", True)]
    rows = (
        (
            el("code", each.call),
            f"{each.usual.p50:.0f} ms",
            f"{each.usual.p99:.0f} ms",
            f"{each.worst.p99:.0f} ms",
        )
        for each in answer.latencies[:ROWS]
    )
    return panel("Slowest calls", grid(columns, rows), note="service times are assumed")
