"""The plan of a write as a page shows it: each item, its condition, its units, what follows."""

from __future__ import annotations

from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
    KeyfoldError,
    NotFound,
    TransportError,
    ValueRefused,
    VersionConflict,
)
from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.draft import ItemDraft, kept_fields, of_item
from keyfold_workbench.studio.entry import value_words
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import unit_words, units
from keyfold_workbench.studio.outline import OutlineStep, WriteOutline, outline
from keyfold_workbench.studio.parts import banner, code, diff, empty, grid, panel, state, stats
from keyfold_workbench.studio.relatives import read_entity
from keyfold_workbench.studio.request_text import wire_text
from keyfold_workbench.studio.shape import is_given
from keyfold_workbench.studio.view import PageView

CONFLICTS = (VersionConflict, ConditionFailed, NotFound, AlreadyExists)


def no_plan() -> Html:
    says = (
        "Change a field and ask for the plan: each item that would be written, with its old and "
        "new values, conditions and units."
    )
    return panel(
        "What will be written",
        empty("No plan yet", says),
        note=state("note", "nothing has been sent"),
    )


def plan_of(view: PageView, draft: ItemDraft, note: str = "") -> Child:
    try:
        intents = draft.intents()
        made = outline(view.system, intents) if intents else None
    except TransportError:
        raise
    except CONFLICTS as problem:
        return conflict_panel(view, draft, str(problem))
    except ValueRefused as refused:
        draft.problems |= dict(refused.fields)
        return banner("bad", str(refused))
    except KeyfoldError as problem:
        return banner("bad", str(problem))
    if draft.problems:
        return banner("bad", "Some fields cannot be written as they are; see the form.")
    if made is None or made.planned.request is None:
        return panel("What will be written", empty("Nothing", "No value would change."))
    return text(
        banner("warn", note) if note else None, _plan_panel(view, draft, made), later_panel(made)
    )


def _plan_panel(view: PageView, draft: ItemDraft, made: WriteOutline) -> Html:
    request = made.planned.request
    assert request is not None, "a plan without a request is shown otherwise"
    atomic = request.operation == "TransactWriteItems"
    words = "1 transaction" if atomic else f"1 {request.operation}"
    digest = made.planned.digest
    submit = view.form_for(
        view.at("send"),
        kept_fields(draft, draft.given, verb=draft.verb, digest=digest, at=f"{made.at:.6f}"),
        el("button.btn.main", f"Send {words} ", el("kbd", "⌘⏎"), type="submit", id="send"),
    )
    wire = el("button.btn.quiet", "Wire request", data_toggle="#wire", aria_expanded="false")
    return el(
        "section.panel",
        el("header", el("h2", "What will be written"), state("note", "nothing has been sent")),
        stats(
            [
                (
                    "Transaction" if atomic else "Request",
                    len(made.steps),
                    "of 100 items" if atomic else "item",
                ),
                (
                    "Write units",
                    units(made.table_units + made.index_units),
                    f"{units(made.table_units)} table, {units(made.index_units)} indexes",
                ),
                ("Read first", units(made.planned.read_units), "units"),
            ],
            inset=True,
        ),
        el("ol.plan", [step_row(view, at, one) for at, one in enumerate(made.steps, 1)]),
        el("footer", submit, wire),
        el("div", code(wire_text(request)), id="wire", hidden=True),
        aria_label="Plan",
    )


def step_row(view: PageView, number: int, step: OutlineStep) -> Html:
    item = step.item
    name = item.entity.name if item is not None and item.entity is not None else ""
    words = name or ("unique value" if item is not None and item.support else "item")
    key = view.item_key(item) if item is not None else el("code", str(step.key))
    return el(
        "li",
        el("span.i", number),
        el(
            "div.top2",
            el("b", "Check" if step.action == "ConditionCheck" else step.action),
            view.ent(name, words),
            el("span", key),
        ),
        el("span.num.small.muted", unit_words(step.units)),
        diff(step.changes) if step.changes else None,
        el("div.if", step.condition) if step.condition else None,
    )


def later_panel(made: WriteOutline) -> Child:
    if not made.planned.later:
        return None
    rows = (
        el("li", state("note", kind), el("code", name), el("span.muted", "by the stream"))
        for kind, name in made.planned.later
    )
    return panel(
        "Afterwards, from the stream",
        el("ul.todo", rows),
        note="delivered at least once, one effect",
    )


def conflict_panel(view: PageView, draft: ItemDraft, problem: str) -> Html:
    """What was read, what is stored now, and what was wanted."""
    rows: list[tuple[Child, ...]] = []
    now = None
    if draft.read is not None:
        now = find_item(view.system, draft.read.table, draft.read.partition, draft.read.sort)
    present = read_entity(view.system, now) if now is not None else None
    wanted = draft.values if draft.before is not None else {}
    spec = draft.entity.__spec__
    for name, field in spec.fields.items() if present and draft.before else ():
        if field in (spec.created, spec.updated):
            continue
        read, theirs = value_words(getattr(draft.before, name)), value_words(getattr(present, name))
        yours = value_words(wanted[name]) if name in wanted else read
        if theirs == read and yours == read:
            continue
        outcome = "keeps yours" if yours != read else "takes theirs"
        rows.append(
            (
                el("code", name),
                read,
                el("ins", theirs) if theirs != read else theirs,
                el("ins", yours) if yours != read else yours,
                outcome,
            )
        )
    again: Child = None
    if now is not None:
        mine = {
            path: texts
            for name in (draft.changes if draft.before is not None else ())
            for path, texts in draft.given.items()
            if is_given(name, {path: texts})
        }
        fresh = of_item(view, now, "update")
        again = view.form_for(
            view.at("plan"),
            kept_fields(fresh, mine, verb=draft.verb),
            el("button.btn.main", "Plan again on what is stored", type="submit"),
        )
    columns = ("Field", "You read", "Stored now", "Yours", "Result")
    return panel(
        "Changed meanwhile",
        el(
            "div.pad.stack.tight",
            el("p", f"{problem}. Your change was not written."),
            grid(columns, rows) if rows else None,
        ),
        note=state("warn", "conflict"),
        footer=again,
    )
