"""Streams and drift: who keeps what, how far behind they are, whether it holds, and its repair."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

from starlette.responses import RedirectResponse, Response

from keyfold.clients.recorded import RecordedClient, WriteHeldBack
from keyfold.errors import KeyfoldError
from keyfold.maintain import Drift, DriftReport, repair
from keyfold.maintain.repair import fix
from keyfold.maintain.repair import plan as repair_plan
from keyfold.runtime import Db
from keyfold.streams import StreamStatus, drop, letter, letters, replay, status
from keyfold.studio.items import KnownItem, plain, scalar, shown
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import count, moment, plural
from keyfold.studio.parts import banner, code, diff, empty, grid, head, link, panel, state, stats
from keyfold.studio.snippets import wire_text
from keyfold.studio.view import PageMissing, PageView

SHOWN = 100
"""So many differences stand on the page."""
PREVIEWED = 20
"""Of so many the request that repairs them is shown."""
PATIENCE = 2.0
"""A verification that takes longer goes on while the page counts."""
LETTERS = 50
BESIDE = (" orphans", " late", " now")
"""Parts of a consequence that stands on the page already."""
AHEAD = (("expired, waits for deletion", 0), ("within an hour", 3600), ("within a day", 86_400),
         ("within a week", 604_800))  # fmt: skip


def streams(view: PageView) -> Html:
    """The state of everything that follows from a write."""
    system = view.system
    db = system.open()
    if db is None:
        says = "A design file declares consequences and keeps none: they need the design in Python."
        body = [head("Streams and drift", says), _kept_table(view, None)]
        return view.page("Streams and drift", *body, current="streams")
    now = db.run(status(db.context))
    checkup = system.checkup
    drift_link = link(view.at("drift"), "Cause a drift…", class_="btn")
    verify = view.form_for(
        view.at("verify"), el("button", "Verify now", class_="btn main", type="submit")
    )
    says = "What follows from a write: who keeps it, how far behind they are, whether it holds."
    told = view.query.get("told")
    return view.page(
        "Streams and drift",
        head("Streams and drift", says, drift_link, verify),
        el(
            "div",
            banner("ok", told) if told else None,
            _figures(view, now),
            el(
                "div",
                _drift(view, db),
                el(
                    "div",
                    _kept_table(view, now),
                    _shards(now),
                    class_="stack",
                ),
                class_="cols wide-left",
            ),
            _letters(view, db),
            _feeds(view),
            _expiry(view),
            class_="stack",
            data_refresh="1" if checkup.is_running else None,
        ),
        current="streams",
    )


def _figures(view: PageView, now: StreamStatus) -> Html:
    checkup = view.system.checkup
    owned = sum(bool(one.owner) for one in now.shards if not one.finished)
    alive = sum(not one.finished for one in now.shards)
    dead = count(now.dead_letters)
    if checkup.is_running:
        last: tuple[Child, Child] = (state("run", count(checkup.scanned)), "items so far")
    elif checkup.problem:
        last = (state("bad", "failed"), "")
    elif checkup.last is None:
        last = ("–", "not yet")
    else:
        number = checkup.last.counts.total()
        word = "difference" if number == 1 else "differences"
        last = (state("bad" if number else "ok", count(number)), word)
    return stats(
        [
            ("Behind", f"{now.lag_seconds:.0f}", "s"),
            ("Shards", count(owned), f"of {alive} owned"),
            ("Dead letters", state("bad" if now.dead_letters else "ok", dead), ""),
            ("Events waiting", count(now.waiting_events), "for a sink"),
            ("Last verify", *last),
        ]
    )


def verify(view: PageView) -> Response:
    """Begin a verification; a short one is done when the page comes back."""
    db = view.system.open()
    if db is None:
        raise PageMissing("Only a design in Python can be verified.")
    view.system.checkup.start(db, settle=view.system.writable, wait=PATIENCE)
    return RedirectResponse(view.at("streams"), 303)


def _drift(view: PageView, db: Db) -> Html:
    checkup = view.system.checkup
    if checkup.is_running:
        says = f"{checkup.scanned:,} items compared so far. The page loads again by itself."
        return panel("Drift", empty("Verifying", says), note=state("run", "running"))
    if checkup.problem:
        return panel("Drift", banner("bad", f"The verification failed: {checkup.problem}"))
    report = checkup.last
    if report is None:
        says = "Verify recomputes every copy, counter, unique value and index key, and compares."
        return panel("Drift", empty("Not verified yet", says))
    note = f"{report.scanned:,} items compared in {checkup.seconds:.1f} s, {moment(checkup.at)}"
    if report.clean:
        says = "Every copy, counter, unique value and index key is what its record says."
        return panel("Drift", empty("Consistent", says), note=note)
    kinds = [
        el("span", state("bad", f"{number:,} {kind}")) for kind, number in report.counts.items()
    ]
    shown_drifts = report.drifts[:SHOWN]
    rows = [_difference(view, db, at, one) for at, one in enumerate(shown_drifts)]
    repairable = sum(one.repairable for one in shown_drifts)
    button = el(
        "button",
        f"Repair {repairable}",
        class_="btn main",
        type="submit",
        id="repair",
        disabled=not (repairable and view.system.writable),
    )
    says = "Each only if the item is still as found. The plan is above; nothing has been sent."
    return view.form_for(
        view.at("repair"),
        el("header", el("h2", "Drift"), el("span", note, class_="small muted")),
        el("div", kinds, class_="strip legend"),
        el("ol", rows, class_="drift"),
        el("footer", button, el("span", says, class_="small")),
        class_="panel",
        aria_label="Drift",
    )


def _difference(view: PageView, db: Db, at: int, one: Drift) -> Html:
    item = _present(view, one)
    box: Child = el("span", "–", class_="faint", title="needs a decision")
    if one.repairable:
        box = el(
            "input",
            type="checkbox",
            name="drift",
            value=f"{at}:{_digest(one)}",
            data_fix=True,
            checked=True,
            aria_label=f"Repair {one.structure}",
        )
    name = item.entity.name if item is not None and item.entity is not None else ""
    if item is not None:
        key: Child = link(view.item(item), view.item_key(item))
    else:
        key = el("code", " › ".join(scalar(value) for value in one.key.values()), class_="key")
    follows = f"Shown by {', '.join(one.follows)}: right once this is." if one.follows else ""
    return el(
        "li",
        box,
        el("span", view.chip(name), " ", key, " ", el("span", one.structure, class_="muted")),
        el("span", repair_plan(one), class_="small muted"),
        diff(_changes(one)),
        el("div", follows, class_="why") if follows else None,
        _request(db, one) if at < PREVIEWED and one.repairable else None,
    )


def _present(view: PageView, one: Drift) -> KnownItem | None:
    table = view.system.table(one.table)
    if table is None:
        return None
    where = {"TableName": view.system.physical(table), "Key": dict(one.key)}
    wire = view.system.call("GetItem", where).get("Item")
    return None if wire is None else view.system.reader.read(table, wire)


def _changes(one: Drift) -> list[tuple[str, str | None, str | None]]:
    """What is found and what is expected, by attribute where both are items."""
    if isinstance(one.expected, dict) and isinstance(one.found, dict):
        names = {**one.expected, **one.found}
        return [(name, _said(one.found.get(name)), _said(one.expected.get(name))) for name in names]
    return [(one.kind, _said(one.found), _said(one.expected))]


def _said(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in ("S", "N", "B", "BOOL", "SS", "NS", "L", "M"):
            return shown(plain(value))
        return ", ".join(f"{name}: {_said(inner)}" for name, inner in value.items())
    return shown(value) if isinstance(value, str | bool | list) else str(value)


def _request(db: Db, one: Drift) -> Child:
    """The request that would repair it, made by the repair itself and held back."""
    client = RecordedClient(db.client)
    watched = Db(db.context, client)
    try:
        watched.run(fix(watched.context, one))
    except WriteHeldBack:
        return el("details", el("summary", "Wire request"), code(wire_text(client.requests[-1])))
    except KeyfoldError:
        return None
    return None


def _digest(one: Drift) -> str:
    return hashlib.sha256(str(one).encode()).hexdigest()[:16]


def repaired(view: PageView) -> Response:
    """Repair what was chosen, verify again, and say what came of it."""
    view.require_write()
    db, report = view.system.open(), view.system.checkup.last
    if db is None or report is None:
        raise PageMissing("Not found: the report that this repair is of. Verify again.")
    chosen = []
    for given in view.lists.get("drift", ()):
        number, _, digest = given.partition(":")
        if number.isdigit() and int(number) < len(report.drifts):
            one = report.drifts[int(number)]
            chosen += [one] if _digest(one) == digest else []
    done = repair(db, DriftReport(drifts=chosen))
    view.system.survey.forget()
    view.system.checkup.start(db, settle=True, wait=PATIENCE)
    right = f", {done.right} right by now" if done.right else ""
    told = f"{done.fixed} repaired{right}, {len(done.left)} left; verified again."
    return RedirectResponse(view.at("streams", told=told), 303)


def drift(view: PageView) -> Html:
    """What a program that does not know the design could do to a copy: the plan of a drift."""
    item, name = _victim(view)
    says = "A copy is written past the design, as a program that does not know it would."
    changed = [(name, shown(plain(item.wire[name])), _drifted(item, name))]
    submit = view.form_for(
        view.at("drift"),
        el("input", type="hidden", name="table", value=item.table.name),
        el("input", type="hidden", name="pk", value=item.partition),
        el("input", type="hidden", name="sk", value=item.sort or ""),
        el("input", type="hidden", name="name", value=name),
        el("button", "Send 1 UpdateItem", class_="btn main", type="submit"),
    )
    step = el(
        "li",
        el("span", 1, class_="i"),
        el("div", el("b", "Update"), view.ent(item.kind), view.item_key(item), class_="top2"),
        el("span", "without its canonical", class_="num small muted"),
        diff(changed),
    )
    return view.page(
        "Cause a drift",
        head("Cause a drift", says, link(view.at("streams"), "Discard", class_="btn quiet")),
        panel(
            "What will be written",
            el("ol", step, class_="plan"),
            note=state("note", "nothing has been sent"),
            footer=submit,
        ),
        current="streams",
        crumbs=[("Streams and drift", view.at("streams")), ("Cause a drift", None)],
    )


def drifted(view: PageView) -> Response:
    """Write a copy past the design."""
    view.require_write()
    item, name = _victim(view)
    given = view.form
    if (given.get("pk"), given.get("sk"), given.get("name")) != (item.partition, item.sort, name):
        raise PageMissing("Not found: the copy of this plan. Look at the plan again.")
    view.system.call(
        "UpdateItem",
        {
            "TableName": view.system.physical(item.table),
            "Key": item.key,
            "UpdateExpression": "SET #n = :n",
            "ConditionExpression": "attribute_exists(#p)",
            "ExpressionAttributeNames": {"#n": name, "#p": item.table.partition},
            "ExpressionAttributeValues": {":n": {"S": _drifted(item, name)}},
        },
    )
    view.system.survey.forget()
    return RedirectResponse(view.item(item), 303)


def _victim(view: PageView) -> tuple[KnownItem, str]:
    """A copy with a text that it has from its canonical."""
    for seen in view.system.survey.tables(5.0).values():
        for items in seen.examples.values():
            for item in items:
                copied = item.entity.copy.fields if item.entity and item.entity.copy else ()
                for attribute in item.entity.attributes if item.entity else ():
                    keys = item.entity.key.fields if item.entity and item.entity.key else ()
                    text_field = attribute.type == "string" and attribute.field not in keys
                    if attribute.field in copied and text_field and attribute.name in item.wire:
                        return item, attribute.name
    raise PageMissing("This design has no copies that a program could forget.")


def _drifted(item: KnownItem, name: str) -> str:
    return f"{scalar(item.wire[name])[:100]} (drifted)"


def _kept_table(view: PageView, now: StreamStatus | None) -> Html:
    rows = []
    for one in view.system.schema.follows:
        if one.fact == "need" or one.name.endswith(BESIDE):
            continue
        behind = "never" if one.sync == "transaction" else "–"
        if now is not None and one.sync == "stream":
            behind = f"{now.lag_seconds:.0f} s"
        target = one.target or one.source
        rows.append((text(view.chip(target), " ", one.name), one.sync, behind))
    if view.system.design is not None:
        for processor in view.system.design.processors:
            behind = f"{now.lag_seconds:.0f} s" if now is not None else "–"
            rows.append((el("code", processor.name), "stream", behind))
    if not rows:
        return panel("Who keeps what", empty("Nothing follows", "No copies, counters or jobs."))
    columns = [("Consequence", False), ("By", False), ("Behind", True)]
    return panel("Who keeps what", grid(columns, rows), note=plural(len(rows), "consequence"))


def _shards(now: StreamStatus) -> Child:
    if not now.shards:
        return panel("Shards", empty("No consumer yet", "keyfold streams run follows the tables."))
    rows = (
        (
            el("code", one.shard[-12:]),
            one.owner or "nobody",
            one.lost or ("finished" if one.finished else f"{one.lag_seconds:.0f} s"),
        )
        for one in now.shards[:SHOWN]
    )
    return panel("Shards", grid([("Shard", False), ("Owner", False), ("Behind", True)], rows))


def _letters(view: PageView, db: Db) -> Html:
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


def _feeds(view: PageView) -> Child:
    feeds = view.system.schema.feeds
    if not feeds:
        return None
    seen = view.system.survey.tables()
    parts: list[Child] = []
    for feed in feeds:
        kept = dict(feed.support)
        entity = view.system.entity(kept.get("state", ""))
        examples = [] if entity is None else seen[entity.table].examples.get(entity.name, [])
        says = f"{feed.post} reaches followers by {feed.mode.replace('_', ' ')}"
        parts.append(el("p", el("b", feed.name), f": {says}.", class_="pad"))
        if examples:
            names = [n for n in examples[0].values if n not in ("version",)][:6]
            rows = (
                (
                    link(view.item(one), view.item_key(one)),
                    *(shown(one.values.get(n)) for n in names),
                )
                for one in examples[:20]
            )
            parts.append(grid([("Source", False), *((n, False) for n in names)], rows))
        else:
            parts.append(empty("Nobody is pushed", "Every source is gathered when a feed is read."))
    return panel("Feeds", *parts, note="who is pushed, who is pulled, and why")


def _expiry(view: PageView) -> Child:
    if not any(table.ttl for table in view.system.schema.tables):
        return None
    rows = list(_ahead(view))
    if not rows:
        return panel(
            "Time to live", empty("Nothing expires", "Items with a time to live stand here.")
        )
    return panel("Time to live", grid([("When", False), ("Items", True), ("First", False)], rows),
                 note="of the items that were looked at")  # fmt: skip


def _ahead(view: PageView) -> Iterator[tuple[Child, ...]]:
    expiring = [one for seen in view.system.survey.tables().values() for one in seen.expiring]
    now, begin = time.time(), float("-inf")
    for words, seconds in (*AHEAD, ("later", float("inf"))):
        found = [item for at, item in expiring if begin < at - now <= seconds]
        begin = seconds
        if found:
            first = found[0]
            yield words, count(len(found)), link(view.item(first), view.item_key(first))
