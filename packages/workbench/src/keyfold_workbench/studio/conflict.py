"""A write conflict: what was read, what is stored now, and what was wanted."""

from __future__ import annotations

from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.draft import ItemDraft, kept_fields, of_item
from keyfold_workbench.studio.entry import value_words
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.parts import grid, panel, state
from keyfold_workbench.studio.relatives import read_entity
from keyfold_workbench.studio.shape import is_given
from keyfold_workbench.studio.view import PageView


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
