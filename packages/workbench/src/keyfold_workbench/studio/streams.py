"""Streams and drift: what maintains each copy, how far it lags, whether it is correct, repair."""

from __future__ import annotations

from typing import Final

from starlette.responses import RedirectResponse, Response

from keyfold.streams import StreamStatus
from keyfold_workbench.studio.change_log import StreamedChange
from keyfold_workbench.studio.drift import SHOWN, drift_panel
from keyfold_workbench.studio.lag import SAMPLED, lag_panel
from keyfold_workbench.studio.letters import decide, letters_panel
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, moment, plural
from keyfold_workbench.studio.parts import (
    banner,
    diff,
    empty,
    grid,
    head,
    link,
    live_part,
    panel,
    state,
    stats,
    words,
)
from keyfold_workbench.studio.view import PageView

FIELDS: Final = 4
"""The changed attributes that a row shows."""
DONE: Final = {"INSERT": "created", "MODIFY": "changed", "REMOVE": "deleted"}
BESIDE = (" orphans", " late", " now", " new")
"""Parts of a consequence that the page already shows."""


def decide_letter(view: PageView) -> Html | Response:
    """Replay or drop a dead letter; a failure is shown above the list."""
    told, problem = decide(view)
    if problem:
        return streams(view, problem)
    return RedirectResponse(view.at("streams", told=told), 303)


def streams(view: PageView, problem: str = "") -> Html:
    """The state of everything that follows from a write."""
    system = view.system
    db = system.open()
    if db is None:
        says = "A design file only declares structures. A design in Python also maintains them."
        body = [head("Streams and drift", says), _kept_table(view, None)]
        return view.page("Streams and drift", *body, current="streams")
    now = system.stream_status(within=SAMPLED if view.partial else 0.0)
    assert now is not None, "a design that runs has a state"
    parts = {
        "figures": lambda: _figures(view, now),
        "keepers": lambda: text(
            lag_panel("Behind, seconds", system.lag.look()), _kept_table(view, now), _shards(now)
        ),
        "drifts": lambda: drift_panel(view, db),
        "changes": lambda: _changes(view, system.changes.look()),
    }
    lasting = {"figures", "keepers", "changes"} | (
        {"drifts"} if system.checkup.is_running else set()
    )
    if problem:  # the address is that of an act, and cannot be asked again
        lasting = set()

    def live(name: str) -> Html:
        return live_part(name, parts[name](), lasting=name in lasting)

    if view.partial:
        return text(live(name) for name in parts if name in view.asked)
    verify = view.form_for(
        view.at("verify"), (), el("button.btn.main", "Verify now", type="submit")
    )
    says = (
        "What each write triggers: who maintains it, how far behind it is, whether it is correct."
    )
    told = view.query.get("told")
    return view.page(
        "Streams and drift",
        head(
            "Streams and drift",
            says,
            verify,
        ),
        el(
            "div.stack",
            banner("bad", problem) if problem else None,
            banner("ok", told) if told else None,
            live("figures"),
            el(
                "div.cols.wide-left",
                el(
                    "div.stack",
                    live("changes"),
                    live("drifts"),
                    letters_panel(view, db),
                ),
                live("keepers"),
            ),
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
            ("Rate", count(view.system.records_a_second()), "records/s"),
            ("Shards", count(owned), f"of {alive} owned"),
            ("Dead letters", state("bad" if now.dead_letters else "ok", dead), ""),
            ("Events waiting", count(now.waiting_events), "for a sink"),
            ("Last verify", *last),
        ]
    )


def _kept_table(view: PageView, now: StreamStatus | None) -> Html:
    kept: dict[tuple[str, str, str], list[str]] = {}
    for one in view.system.schema.follows:
        if one.fact == "need" or one.name.endswith(BESIDE):
            continue
        kind, _, rest = one.name.partition(" ")
        owner, _, part = rest.partition(" " if kind == "feed" else ".")
        kept.setdefault((kind, owner, one.sync), []).append(part)
    lag = "–" if now is None else f"{now.lag_seconds:.0f} s"
    rows = [
        (
            _keeper(view, kind, owner, parts),
            sync,
            "never" if sync == "transaction" else lag,
        )
        for (kind, owner, sync), parts in kept.items()
    ]
    processors = view.system.design.processors if view.system.design is not None else ()
    if not rows and not processors:
        return panel("Who keeps what", empty("Nothing follows", "No copies, counters or jobs."))
    columns = ("Consequence", "By", "#Behind")
    return panel(
        "Who keeps what",
        grid(columns, rows) if rows else None,
        _processors([one.name for one in processors], now) if processors else None,
        note=plural(sum(map(len, kept.values())), "consequence"),
    )


def _keeper(view: PageView, kind: str, owner: str, parts: list[str]) -> Html:
    """Consequences of one kind on one entity."""
    chip = view.chip(owner) if view.system.entity(owner) is not None else None
    named = words([el("code", one) for one in parts if one])
    return el("span.kept", chip, el("span", kind, " ", el("b", owner), " ", named))


def _processors(names: list[str], now: StreamStatus | None) -> Html:
    """Functions of the design that the stream calls, folded."""
    behind = f"{now.lag_seconds:.0f} s" if now is not None else "–"
    rows = ((el("code", name), behind) for name in names)
    return el(
        "details.pad",
        el("summary", plural(len(names), "processor")),
        grid(("Processor", "#Behind"), rows),
    )


def _shards(now: StreamStatus) -> Child:
    if not now.shards:
        return panel("Shards", empty("No consumer yet", "Start one with keyfold streams run."))
    rows = (
        (
            el("code", one.shard[-12:]),
            one.owner or (f"{one.unsure}, or none: its clock is ahead" if one.unsure else "none"),
            one.lost or ("finished" if one.finished else f"{one.lag_seconds:.0f} s"),
        )
        for one in now.shards[:SHOWN]
    )
    return panel("Shards", grid(("Shard", "Owner", "#Behind"), rows))


def _changes(view: PageView, changes: list[StreamedChange]) -> Html:
    """The newest changes: when, which item, before and after, and what follows."""
    if not changes:
        listed = empty("Nothing yet", "Changes of tables with a stream appear here as they happen.")
        return panel("Changes", listed)
    rows = (
        el(
            "li",
            el(
                "div.top2",
                el("span.mono.faint", moment(one.at)[11:19]),
                view.ent(one.item.entity.name if one.item.entity else ""),
                el("b", DONE.get(one.kind, one.kind.lower())),
                link(view.item(one.item), view.item_key(one.item)),
            ),
            diff(one.differences[:FIELDS]) if one.kind == "MODIFY" else None,
            el("div.small.muted", _followed(view, one)),
        )
        for one in changes
    )
    return panel("Changes", el("ul.changes", rows), note="the newest first")


def _followed(view: PageView, one: StreamedChange) -> Child:
    """What the design lets follow from this change, by when."""
    entity = one.item.entity
    if entity is None:
        return None
    stored = {attribute.name: attribute.field for attribute in entity.attributes}
    changed = {stored.get(name, name) for name, _, _ in one.differences}
    said = [
        f"{found.name} ({'same transaction' if found.sync == 'transaction' else 'by the stream'})"
        for found in view.system.schema.follows
        if found.source == entity.name
        and found.sync != "none"
        and (one.kind != "MODIFY" or not found.fields or changed.intersection(found.fields))
    ]
    return f"Followed by {', '.join(said)}." if said else None
