"""Dead letters: records whose effect failed permanently, to inspect, replay or drop."""

from __future__ import annotations

from keyfold.runtime import Db
from keyfold.streams import DeadLetter, drop, letter, letters, replay
from keyfold_workbench.studio.items import differences
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, moment, plural
from keyfold_workbench.studio.parts import code, diff, empty, link, panel, state
from keyfold_workbench.studio.request_text import wire_json
from keyfold_workbench.studio.view import PageView

LETTERS = 50


def letters_panel(view: PageView, db: Db) -> Html:
    found = db.run(letters(db.context, LETTERS))
    if not found:
        says = "Records that failed permanently appear here. You can replay or drop them."
        return panel("Dead letters", empty("None", says), note=state("ok", "0"))
    rows = [_letter(view, one) for one in found]
    note = state("bad", count(len(found)))
    return panel("Dead letters", el("ol.letters", rows), note=note)


def _letter(view: PageView, one: DeadLetter) -> Html:
    """Which effect failed on which item, why, the record, and the options."""
    when = f"{moment(one.at)}, {plural(one.attempts, 'attempt')}"
    stream = (one.record or {}).get("dynamodb", {})
    record = wire_json(one.record) if one.record is not None else "The record was too large."
    return el(
        "li",
        el("div.top2", state("bad", one.effect), _item(view, one), el("span.small.muted", when)),
        el("span.acts", _acts(view, one)),
        el("b.why", one.reason),
        diff(differences(stream.get("OldImage"), stream.get("NewImage"))),
        el("details", el("summary", "Traceback"), code(one.trace)),
        el("details", el("summary", "Record"), code(record)),
    )


def _item(view: PageView, one: DeadLetter) -> Child:
    """The record's item, as it was then; it may have changed."""
    names = {view.system.physical(table): table for table in view.system.schema.tables}
    table = names.get(one.table)
    stream = (one.record or {}).get("dynamodb", {})
    image = stream.get("NewImage") or stream.get("OldImage")
    if table is None or not image or not all(name in image for name in table.key_attributes):
        return el("code", one.table)
    item = view.system.reader.read(table, image)
    return text(view.chip(item.kind), link(view.item(item), view.item_key(item)))


def _acts(view: PageView, one: DeadLetter) -> list[Html]:
    def act(words: str, verb: str, kind: str) -> Html:
        off = not view.system.writable
        return view.form_for(
            view.at("letters"),
            [("id", one.id)],
            el("button", words, class_=kind, type="submit", name="act", value=verb, disabled=off),
        )

    ask = el("summary.btn.quiet", "Drop…")
    return [
        act("Replay", "replay", "btn"),
        el("details.ask", ask, act("Drop permanently", "drop", "btn danger")),
    ]


def decide(view: PageView) -> tuple[str, str]:
    """Replay or drop a dead letter; returns what was done, and what failed."""
    view.require_write()
    db = view.system.open()
    assert db is not None, "writable systems have a design"
    found = db.run(letter(db.context, view.form.get("id", "")))
    if view.form.get("act") == "drop":
        db.run(drop(db.context, found.id))
        return "Dropped 1 dead letter.", ""
    try:
        db.run(replay(db, found))
    except Exception as problem:
        return "", f"The replay failed: {type(problem).__name__}: {problem}"
    return "Replayed 1 dead letter.", ""
