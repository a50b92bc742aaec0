"""Editing an item: a form, the plan of its writes, and sending exactly that plan."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from keyfold.design.entity import Entity
from keyfold.errors import (
    KeyfoldError,
    TransportError,
)
from keyfold_workbench.studio.collection import find_item
from keyfold_workbench.studio.draft import (
    ItemDraft,
    class_of,
    draft_of_form,
    kept_fields,
    of_item,
)
from keyfold_workbench.studio.entry import FormField, field_shape, form_fields
from keyfold_workbench.studio.invocation import offers
from keyfold_workbench.studio.items import KnownItem, key_texts
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import plural, unit_words
from keyfold_workbench.studio.outline import WriteOutline, outline, send
from keyfold_workbench.studio.parts import banner, fields, head, link, panel
from keyfold_workbench.studio.plan import (
    CONFLICTS,
    conflict_panel,
    later_panel,
    no_plan,
    plan_of,
    step_row,
)
from keyfold_workbench.studio.shape import EACH, boxes
from keyfold_workbench.studio.view import PageMissing, PageView
from keyfold_workbench.studio.widget import field_widget

PLAN_SECONDS: Final = 600
"""How long a plan's times are those that are sent."""


def edit(view: PageView) -> Html:
    """The form of a stored item."""
    table = view.system.table(view.query.get("table", ""))
    if table is None:
        raise PageMissing("Not found: the table of this item.")
    item = find_item(view.system, table, view.query.get("pk", ""), view.query.get("sk"))
    if item is None:
        raise PageMissing(f"Not found: {view.query.get('pk')} {view.query.get('sk') or ''}")
    draft = of_item(view, item, "update")
    if item.entity is not None and item.entity.copy is not None:
        raise PageMissing(f"This item is a copy: edit its canonical, the {item.entity.copy.of}.")
    return _page(view, draft)


def new(view: PageView) -> Html:
    """The form of a new item."""
    name = view.query.get("entity", "")
    if not name:
        canonical = [e for e in view.system.schema.entities if e.copy is None]
        ways = (
            link(view.at("new", entity=one.name), view.ent(one.name), class_="jump")
            for one in canonical
        )
        chosen = el("div.panel.pad.links", ways)
        return view.page("New item", head("New item", "Which entity?"), chosen, current="data")
    draft = ItemDraft(view, class_of(view, name), "create")
    for name, given in view.query.items():
        if name in draft.entity.__spec__.fields:
            shape = field_shape(draft.entity, draft.entity.__spec__.fields[name])
            draft.given[f"{name}{EACH}" if shape.kind == "several" else name] = [given]
    return _page(view, draft)


def plan(view: PageView) -> Html:
    """The plan for the form's input; nothing is sent."""
    view.require_write()
    draft = draft_of_form(view)
    return _page(view, draft, plan_of(view, draft))


def send_plan(view: PageView) -> Html:
    """Send the plan that was shown; if the plan has changed, show it instead."""
    view.require_write()
    draft = draft_of_form(view)
    intents = draft.intents()
    if not intents:
        return _page(view, draft, plan_of(view, draft))
    try:
        made = outline(view.system, intents, _planned_at(view))
        if made.planned.digest != view.form.get("digest"):
            return _page(view, draft, plan_of(view, draft, "The plan changed since you saw it."))
        sent = send(view.system, made)
    except TransportError:
        raise
    except CONFLICTS as problem:
        return _page(view, draft, conflict_panel(view, draft, str(problem)))
    except KeyfoldError as problem:
        draft.problems[""] = str(problem)
        return _page(view, draft)
    items = plural(len(made.steps), "item")
    done = f"Sent: {items} in {sent.operation}, {unit_words(sent.units)}."
    return _sent_page(view, draft, made, done)


def _planned_at(view: PageView) -> float | None:
    """When the plan was shown, unless that is too long ago to be written as now."""
    try:
        at = float(view.form.get("at", ""))
    except ValueError:
        return None
    return at if 0 <= time.time() - at <= PLAN_SECONDS else None


def _page(view: PageView, draft: ItemDraft, planned: Child = None) -> Html:
    name = draft.entity.__name__
    word = {"create": "New", "update": "Edit", "delete": "Delete"}[draft.verb]
    made = [
        replace(one, offered=offers(view.system, one.name))
        if _is_reference(draft.entity, one)
        else one
        for one in form_fields(draft.entity, draft.before, draft.given, draft.problems)
    ]
    says: Child = "Nothing is sent before its plan is shown."
    back = view.at("data", entity=name)
    if draft.read is not None:
        says = text(view.item_key(draft.read), " ", draft.read.title)
        back = view.item(draft.read)
    title = text(f"{word} ", view.ent(name))
    body = [
        head(title, says, link(back, "Discard", class_="btn quiet")),
        None if view.system.writable else banner("warn", "Read-only: start with --write to send."),
        el(
            "div.cols.wide-right",
            _form(view, draft, made),
            el("div.stack", planned or no_plan(), id="plan"),
        ),
    ]
    return view.page(
        f"{word} {name}",
        *body,
        current="data",
        crumbs=[("Data", view.at("data")), (name, back), (word, None)],
    )


def _form(view: PageView, draft: ItemDraft, made: list[FormField]) -> Html:
    edited = [one for one in made if not one.kept]
    kept = [one for one in made if one.kept]
    changed = sum(one.was is not None for one in made)
    common = draft.problems.get("", "")
    body = el(
        "div.pad.stack.tight",
        banner("bad", common) if common else None,
        [field_widget(one) for one in edited],
        fields(
            (one.name, text(_read_only_text(one), " ", el("span.faint.nowrap", one.kept)))
            for one in kept
        ),
    )
    off = not view.system.writable
    acts = [
        el(
            "button.btn.main",
            "Show the plan",
            type="submit",
            name="verb",
            value="create" if draft.verb == "create" else "update",
            disabled=off,
        ),
    ]
    if draft.verb != "create":
        acts.append(
            el(
                "button.btn.danger",
                "Delete…",
                type="submit",
                name="verb",
                value="delete",
                disabled=off,
            )
        )
    return view.form_for(
        f"{view.at('plan')}#plan",
        kept_fields(draft),
        el("header", el("h2", "Fields"), el("span.small.muted", f"{changed} changed")),
        body,
        el("footer", acts),
        class_="panel",
        aria_label="Fields",
    )


def _is_reference(entity: type[Entity], one: FormField) -> bool:
    """Whether it refers to an existing item; a key's only field is the item's own."""
    own = tuple(entity.__spec__.key.address) == (one.name,)
    named = one.name.endswith(("_id", "_ids")) and one.shape.kind in ("text", "several")
    return named and not own and not one.kept


def _read_only_text(one: FormField) -> str:
    """A read-only value: times to the second."""
    is_time = one.kind == "timestamp" and "T" in one.text
    return f"{one.text[:10]} {one.text[11:19]} UTC" if is_time else one.text or "–"


def _sent_page(view: PageView, draft: ItemDraft, made: WriteOutline, done: str) -> Html:
    name = draft.entity.__name__
    first = made.steps[0]
    where = view.at("data", entity=name)
    if draft.verb != "delete":
        where = view.by_key(first.table, first.key)
    after = (
        find_item(view.system, first.table, *key_texts(first.table, first.key))
        if draft.verb != "delete"
        else None
    )
    steps = el("ol.plan", [step_row(view, at, one) for at, one in enumerate(made.steps, 1)])
    return view.page(
        f"Sent {name}",
        head(
            text("Sent ", view.ent(name)),
            "The plan was written.",
            link(where, "Open the item", class_="btn main"),
            _undo(view, draft, after),
        ),
        el("div.stack", banner("ok", done), panel("What was written", steps), later_panel(made)),
        current="data",
        crumbs=[("Data", view.at("data")), (name, where), ("Sent", None)],
    )


def _undo(view: PageView, draft: ItemDraft, after: KnownItem | None) -> Child:
    """The way back, as a separate plan, while the old item is known."""
    if draft.verb == "delete" and draft.before is not None:
        back = ItemDraft(view, draft.entity, "create")
        wanted = list(draft.entity.__spec__.fields)
    elif after is None:
        return None
    elif draft.verb == "create":
        back, wanted = of_item(view, after, "delete"), []
    else:
        back = of_item(view, after, "update")
        wanted = list(draft.changes)
    for name in wanted:
        shape = field_shape(draft.entity, draft.entity.__spec__.fields[name])
        back.given |= boxes(shape, name, getattr(draft.before, name))
    return view.form_for(
        view.at("plan"),
        kept_fields(back, back.given, verb=back.verb),
        el("button.btn", "Undo…", type="submit"),
    )
