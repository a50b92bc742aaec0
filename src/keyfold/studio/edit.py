"""Changing an item: a form, the plan of what would be written, and the sending of just that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import ValidationError

from keyfold.design.entity import Entity
from keyfold.design.validation import complaints
from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
    KeyfoldError,
    NotFound,
    TransportError,
    ValueRefused,
    VersionConflict,
)
from keyfold.runtime import transaction
from keyfold.runtime.intent import Intent
from keyfold.studio.collection import stored
from keyfold.studio.entry import FormField, form_fields, read_fields, written
from keyfold.studio.items import KnownItem
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import plural, units
from keyfold.studio.outline import OutlineStep, WriteOutline, outline, send
from keyfold.studio.parts import banner, code, diff, fields, grid, head, link, panel, state, stats
from keyfold.studio.relatives import typed
from keyfold.studio.snippets import wire_text
from keyfold.studio.view import PageMissing, PageView

Verb = Literal["create", "update", "delete"]
CONFLICTS = (VersionConflict, ConditionFailed, NotFound, AlreadyExists)


class _Draft:
    """What somebody wants changed, as the form says it."""

    def __init__(self, view: PageView, entity: type[Entity], verb: Verb) -> None:
        self.view, self.entity, self.verb = view, entity, verb
        self.read: KnownItem | None = None
        """The item as it was when the form was opened."""
        self.before: Entity | None = None
        self.typed: dict[str, str] = {}
        self.problems: dict[str, str] = {}

    @property
    def values(self) -> dict[str, Any]:
        found, problems = read_fields(self.entity, self.typed, is_new=self.verb == "create")
        self.problems |= problems
        return found

    @property
    def changes(self) -> dict[str, Any]:
        """The fields whose value is another than was read."""
        return {
            name: value
            for name, value in self.values.items()
            if written(value) != written(getattr(self.before, name))
        }

    def intents(self) -> list[Intent]:
        if self.verb == "create":
            try:
                return [transaction.create(self.entity(**self.values))]
            except ValidationError as wrong:
                self.problems |= complaints(wrong)
                return []
        if self.before is None:
            raise PageMissing("Not found: the item that this form was opened for.")
        changes = {} if self.verb == "delete" else self.changes
        where = _unchanged(self.before, changes)
        if self.verb == "delete":
            return [transaction.delete(self.before, must_exist=True)]
        if not changes:
            return []
        more = {"where": where} if where is not None else {}
        return [transaction.update(self.before, **changes, **more)]


def _unchanged(before: Entity, changes: Mapping[str, Any]) -> Any:
    """Without a version, the fields that change must be what they were."""
    if before.__spec__.version is not None:
        return None
    plain = {
        name: getattr(before, name)
        for name in changes
        if isinstance(getattr(before, name), str | int | float)
    }
    if not plain:
        return None

    def where(item: Any) -> Any:
        asked: Any = None
        for name, value in plain.items():
            one = getattr(item, name) == value
            asked = one if asked is None else asked & one
        return asked

    return where


def edit(view: PageView) -> Html:
    """The form of a stored item."""
    table = view.system.table(view.query.get("table", ""))
    if table is None:
        raise PageMissing("Not found: the table of this item.")
    item = stored(view.system, table, view.query.get("pk", ""), view.query.get("sk"))
    if item is None:
        raise PageMissing(f"Not found: {view.query.get('pk')} {view.query.get('sk') or ''}")
    draft = _of_item(view, item, "update")
    if item.entity is not None and item.entity.copy is not None:
        raise PageMissing(f"A copy follows its canonical: edit the {item.entity.copy.of}.")
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
        chosen = el("div", ways, class_="panel pad links")
        return view.page("New item", head("New item", "Of which entity?"), chosen, current="data")
    draft = _Draft(view, _class(view, name), "create")
    draft.typed = {k: v for k, v in view.query.items() if k in draft.entity.model_fields}
    return _page(view, draft)


def plan(view: PageView) -> Html:
    """The plan of what the form says; nothing is sent."""
    view.require_write()
    draft = _posted(view)
    return _page(view, draft, planned=True)


def sent(view: PageView) -> Html:
    """Send the plan that was shown; another plan is shown instead of being sent."""
    view.require_write()
    draft = _posted(view)
    intents = draft.intents()
    if not intents:
        return _page(view, draft, planned=True)
    try:
        planned = outline(view.system, intents)
        if planned.digest != view.form.get("digest"):
            return _page(view, draft, planned=True, note="The plan changed since you saw it.")
        request, took = send(view.system, intents)
    except TransportError:
        raise
    except CONFLICTS as problem:
        return _page(view, draft, conflict=str(problem))
    except KeyfoldError as problem:
        draft.problems[""] = str(problem)
        return _page(view, draft)
    done = (
        f"Sent: {plural(len(planned.steps), 'item')} in {request.operation}, {units(took)} units."
    )
    return _done(view, draft, planned, done)


def _class(view: PageView, name: str) -> type[Entity]:
    design = view.system.design
    found = design.entities.get(name) if design is not None else None
    if found is None:
        raise PageMissing(f"Not found: entity {name!r}, as a class that can be written.")
    return found


def _of_item(view: PageView, item: KnownItem, verb: Verb) -> _Draft:
    if item.entity is None:
        raise PageMissing("No entity declares this item, so that nothing knows how to write it.")
    draft = _Draft(view, _class(view, item.entity.name), verb)
    draft.read, draft.before = item, typed(view.system, item)
    if draft.before is None:
        raise PageMissing(f"This item cannot be read as {item.entity.name}: see its wire JSON.")
    return draft


def _posted(view: PageView) -> _Draft:
    verb: Verb = "update"
    for known in ("create", "update", "delete"):
        if view.form.get("verb") == known:
            verb = known
    wire = view.form.get("read", "")
    if verb == "create":
        draft = _Draft(view, _class(view, view.form.get("entity", "")), verb)
    else:
        table = view.system.table(view.form.get("table", ""))
        try:
            item = orjson.loads(wire)
        except orjson.JSONDecodeError:
            item = None
        if table is None or not isinstance(item, dict):
            raise PageMissing("Not found: the item that this form was opened for.")
        draft = _of_item(view, view.system.reader.read(table, item), verb)
    draft.typed = {n.removeprefix("f-"): v for n, v in view.form.items() if n.startswith("f-")}
    return draft


def _page(
    view: PageView,
    draft: _Draft,
    *,
    planned: bool = False,
    conflict: str = "",
    note: str = "",
) -> Html:
    name = draft.entity.__name__
    word = {"create": "New", "update": "Edit", "delete": "Delete"}[draft.verb]
    shown_plan: Child = _explained()
    if planned:
        shown_plan = _planned(view, draft, note)
    elif conflict:
        shown_plan = _conflict(view, draft, conflict)
    made = form_fields(draft.entity, draft.before, draft.typed, draft.problems)
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
            "div",
            _form(view, draft, made),
            el("div", shown_plan, class_="stack"),
            class_="cols wide-right",
        ),
    ]
    return view.page(
        f"{word} {name}",
        *body,
        current="data",
        crumbs=[("Data", view.at("data")), (name, back), (word, None)],
    )


def _form(view: PageView, draft: _Draft, made: list[FormField]) -> Html:
    edited = [one for one in made if not one.kept]
    kept = [one for one in made if one.kept]
    changed = sum(one.was is not None for one in made)
    common = draft.problems.get("", "")
    body = el(
        "div",
        banner("bad", common) if common else None,
        [_field(one) for one in edited],
        fields(
            (one.name, text(one.text or "–", " ", el("span", one.kept, class_="faint")))
            for one in kept
        ),
        class_="pad stack tight",
    )
    off = not view.system.writable
    acts = [
        el(
            "button",
            "Show the plan",
            class_="btn main",
            type="submit",
            name="verb",
            value="create" if draft.verb == "create" else "update",
            disabled=off,
        ),
    ]
    if draft.verb != "create":
        acts.append(
            el(
                "button",
                "Delete…",
                class_="btn danger",
                type="submit",
                name="verb",
                value="delete",
                disabled=off,
            )
        )
    return view.form_for(
        view.at("plan"),
        _hidden(draft),
        el("header", el("h2", "Fields"), el("span", f"{changed} changed", class_="small muted")),
        body,
        el("footer", acts),
        class_="panel",
        aria_label="Fields",
    )


def _hidden(draft: _Draft) -> Html:
    """What the form was opened for, which a later write must still find."""
    parts = [el("input", type="hidden", name="entity", value=draft.entity.__name__)]
    if draft.read is not None:
        parts.append(el("input", type="hidden", name="table", value=draft.read.table.name))
        wire = orjson.dumps(draft.read.wire).decode()
        parts.append(el("input", type="hidden", name="read", value=wire))
    return text(*parts)


def _field(one: FormField) -> Html:
    name = f"f-{one.name}"
    wrong = "true" if one.problem else None
    box: Html
    if one.choices:
        options = [el("option", v, value=v, selected=v == one.text) for v in ("", *one.choices)]
        box = el("select", options, id=name, name=name, aria_invalid=wrong)
    elif one.rows > 1:
        box = el("textarea", one.text, id=name, name=name, rows=one.rows, aria_invalid=wrong)
    else:
        box = el("input", type="text", id=name, name=name, value=one.text, aria_invalid=wrong)
    return el(
        "div",
        el("label", one.name, " ", el("code", one.kind), for_=name),
        box,
        el("small", f"was “{one.was}”", class_="muted") if one.was is not None else None,
        el("small", one.problem, class_="err") if one.problem else None,
        class_="changed" if one.was is not None else None,
    )


def _explained() -> Html:
    says = (
        "Change a field and ask for the plan: each item that would be written, with its old and "
        "new values, conditions and units."
    )
    return panel(
        "What will be written",
        el("p", el("b", "No plan yet"), says, class_="empty"),
        note=state("note", "nothing has been sent"),
    )


def _planned(view: PageView, draft: _Draft, note: str) -> Child:
    try:
        intents = draft.intents()
        made = outline(view.system, intents) if intents else WriteOutline(None)
    except TransportError:
        raise
    except CONFLICTS as problem:
        return _conflict(view, draft, str(problem))
    except ValueRefused as refused:
        draft.problems |= dict(refused.fields)
        return banner("bad", str(refused))
    except KeyfoldError as problem:
        return banner("bad", str(problem))
    if draft.problems:
        return banner("bad", "Some fields cannot be written as they are; see the form.")
    if made.request is None:
        return panel(
            "What will be written",
            el("p", el("b", "Nothing"), "No value would change.", class_="empty"),
        )
    return text(
        banner("warn", note) if note else None, _plan_panel(view, draft, made), _later(made)
    )


def _plan_panel(view: PageView, draft: _Draft, made: WriteOutline) -> Html:
    assert made.request is not None, "a plan without a request is shown otherwise"
    atomic = made.request.operation == "TransactWriteItems"
    words = "1 transaction" if atomic else f"1 {made.request.operation}"
    hidden = [
        el("input", type="hidden", name=f"f-{name}", value=value)
        for name, value in draft.typed.items()
    ]
    submit = view.form_for(
        view.at("send"),
        _hidden(draft),
        hidden,
        el("input", type="hidden", name="verb", value=draft.verb),
        el("input", type="hidden", name="digest", value=made.digest),
        el(
            "button", f"Send {words} ", el("kbd", "⌘⏎"), class_="btn main", type="submit", id="send"
        ),
    )
    wire = el(
        "button",
        "Wire request",
        class_="btn quiet",
        type="button",
        data_toggle="#wire",
        aria_expanded="false",
    )
    return el(
        "section",
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
                ("Read first", units(made.read_units), "units"),
            ],
            inset=True,
        ),
        el("ol", [_step(view, at, one) for at, one in enumerate(made.steps, 1)], class_="plan"),
        el("footer", submit, wire),
        el("div", code(wire_text(made.request)), id="wire", hidden=True),
        class_="panel",
        aria_label="Plan",
    )


def _step(view: PageView, number: int, step: OutlineStep) -> Html:
    item = step.item
    name = item.entity.name if item is not None and item.entity is not None else ""
    words = name or ("unique value" if item is not None and item.support else "item")
    key = view.item_key(item) if item is not None else el("code", str(step.key))
    return el(
        "li",
        el("span", number, class_="i"),
        el(
            "div",
            el("b", "Check" if step.action == "ConditionCheck" else step.action),
            view.ent(name, words),
            el("span", key),
            class_="top2",
        ),
        el("span", f"{units(step.units)} units", class_="num small muted"),
        diff(step.changes) if step.changes else None,
        el("div", step.condition, class_="if") if step.condition else None,
    )


def _later(made: WriteOutline) -> Child:
    if not made.later:
        return None
    rows = (
        el("li", state("note", kind), el("code", name), el("span", "by the stream", class_="muted"))
        for kind, name in made.later
    )
    return panel(
        "Afterwards, from the stream",
        el("ul", rows, class_="todo"),
        note="delivered at least once, one effect",
    )


def _conflict(view: PageView, draft: _Draft, problem: str) -> Html:
    """What was read, what is stored now, and what was wanted."""
    rows: list[tuple[Child, ...]] = []
    now = None
    if draft.read is not None:
        now = stored(view.system, draft.read.table, draft.read.partition, draft.read.sort)
    present = typed(view.system, now) if now is not None else None
    wanted = draft.values if draft.before is not None else {}
    for name in (
        draft.entity.model_fields if present is not None and draft.before is not None else ()
    ):
        read, theirs = written(getattr(draft.before, name)), written(getattr(present, name))
        yours = written(wanted[name]) if name in wanted else read
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
            n: t
            for n, t in draft.typed.items()
            if draft.before is not None
            and n in draft.entity.model_fields
            and t != written(getattr(draft.before, n))
        }
        fresh = _of_item(view, now, "update")
        again = view.form_for(
            view.at("plan"),
            _hidden(fresh),
            [el("input", type="hidden", name=f"f-{n}", value=t) for n, t in mine.items()],
            el("input", type="hidden", name="verb", value=draft.verb),
            el("button", "Plan again on what is stored", class_="btn main", type="submit"),
        )
    columns = [(name, False) for name in ("Field", "You read", "Stored now", "Yours", "So it")]
    return panel(
        "Somebody was faster",
        el(
            "div",
            el("p", f"{problem}. Nothing of yours was written."),
            grid(columns, rows) if rows else None,
            class_="pad stack tight",
        ),
        note=state("warn", "conflict"),
        footer=again,
    )


def _done(view: PageView, draft: _Draft, made: WriteOutline, done: str) -> Html:
    name = draft.entity.__name__
    first = made.steps[0]
    where = view.at("data", entity=name)
    if draft.verb != "delete":
        where = view.by_key(first.table, first.key)
    after = stored(view.system, first.table, *_texts(first)) if draft.verb != "delete" else None
    steps = el("ol", [_step(view, at, one) for at, one in enumerate(made.steps, 1)], class_="plan")
    return view.page(
        f"Sent {name}",
        head(
            text("Sent ", view.ent(name)),
            "What was planned is written.",
            link(where, "Open the item", class_="btn main"),
            _undo(view, draft, after),
        ),
        el(
            "div",
            banner("ok", done),
            panel("What was written", steps),
            _later(made),
            class_="stack",
        ),
        current="data",
        crumbs=[("Data", view.at("data")), (name, where), ("Sent", None)],
    )


def _texts(step: OutlineStep) -> tuple[str, str | None]:
    texts = [str(next(iter(step.key[name].values()))) for name in step.table.key_attributes]
    return texts[0], texts[1] if len(texts) > 1 else None


def _undo(view: PageView, draft: _Draft, after: KnownItem | None) -> Child:
    """The way back, as a plan of its own, while the old item is known."""
    if draft.verb == "delete" and draft.before is not None:
        back = _Draft(view, draft.entity, "create")
        names = {n for n, f in draft.entity.__spec__.fields.items()}
        values = {n: written(getattr(draft.before, n)) for n in names}
    elif after is None:
        return None
    elif draft.verb == "create":
        back, values = _of_item(view, after, "delete"), {}
    else:
        back = _of_item(view, after, "update")
        values = {name: written(getattr(draft.before, name)) for name in draft.changes}
    return view.form_for(
        view.at("plan"),
        _hidden(back),
        [el("input", type="hidden", name=f"f-{n}", value=v) for n, v in values.items()],
        el("input", type="hidden", name="verb", value=back.verb),
        el("button", "Undo…", class_="btn", type="submit"),
    )
