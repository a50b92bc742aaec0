"""Dead letters: records whose effect failed for good, to look into, replay or drop."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import RedirectResponse, Response

from keyfold.errors import KeyfoldError
from keyfold.runtime import Db
from keyfold.streams import drop, letter, letters, replay
from keyfold.studio.markup import Html, el
from keyfold.studio.notation import count, moment, plural
from keyfold.studio.parts import code, empty, panel, state
from keyfold.studio.view import PageView

LETTERS = 50


def letters_panel(view: PageView, db: Db) -> Html:
    found = db.run(letters(db.context, LETTERS))
    if not found:
        says = "Records whose effect failed for good are kept here, to look into and replay."
        return panel("Dead letters", empty("None", says), note=state("ok", "0"))
    rows = []
    for one in found:
        acts = [
            view.form_for(
                view.at("letters"),
                el("input", type="hidden", name="id", value=one.id),
                el("button", word, class_=f"btn {kind}", type="submit", name="act", value=act,
                   disabled=not view.system.writable),
            )
            for word, act, kind in (("Replay", "replay", ""), ("Drop…", "drop", "danger"))
        ]  # fmt: skip
        record = plain_json(one.record) if one.record is not None else "too large to keep"
        rows.append(
            el(
                "li",
                state("bad", one.effect),
                el(
                    "span",
                    el("b", one.reason),
                    el(
                        "small",
                        f" {one.table}, {moment(one.at)}, {plural(one.attempts, 'attempt')}",
                    ),
                    el(
                        "details",
                        el("summary", "Record and traceback"),
                        code(f"{record}\n\n{one.trace}"),
                    ),
                ),
                el("span", acts, class_="acts"),
            )
        )
    return panel(
        "Dead letters", el("ul", rows, class_="todo"), note=state("bad", count(len(found)))
    )


def plain_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def letter_decided(view: PageView) -> Response:
    """Replay or drop a dead letter."""
    view.require_write()
    db = view.system.open()
    assert db is not None, "writable systems have a design"
    found = db.run(letter(db.context, view.form.get("id", "")))
    if view.form.get("act") == "drop":
        db.run(drop(db.context, found.id))
        told = "Dropped 1 dead letter."
    else:
        try:
            db.run(replay(db, found))
            told = "Replayed 1 dead letter."
        except Exception as problem:
            raise KeyfoldError(f"The replay failed: {type(problem).__name__}: {problem}") from None
    return RedirectResponse(view.at("streams", told=told), 303)
