"""Feeds: which pairs are pushed, which are pulled, and why."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.flow import FeedSchema
from keyfold.maintain.feed.maintainers import FeedMaintainer
from keyfold.runtime import Db
from keyfold_workbench.studio.items import KnownItem, value_text
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count
from keyfold_workbench.studio.parts import banner, empty, grid, link, panel, state
from keyfold_workbench.studio.view import PageView

PAIRS = 20
"""Readers with a source that are listed for each way."""
WAYS = {"push": "copied to the reader", "pull": "gathered when the reader reads", "gone": "ended"}


def feeds_panel(view: PageView, db: Db) -> Child:
    """Each feed with pairs of readers and sources, by delivery."""
    feeds = view.system.schema.feeds
    if not feeds:
        return None
    parts = [part for feed in feeds for part in _feed(view, db, feed)]
    return panel("Feeds", *parts, note="who is pushed, who is pulled, and why")


def _feed(view: PageView, db: Db, feed: FeedSchema) -> Iterator[Child]:
    says = f"{feed.post} reaches readers by {feed.mode.replace('_', ' ')}. {feed.description}"
    yield el("p", el("b", feed.name), f": {says}", class_="pad")
    pairs = [*_pairs(view, feed, "source"), *_pairs(view, feed, "subscription")]
    if not pairs:
        yield empty("No readers yet", "Readers and their sources appear here.")
        return
    yield _decision_banner(view, db, feed)
    totals = [
        f"{count(_number(view, feed, kind))} {words}"
        for kind, words in (("subscription", "pushed"), ("source", "pulled, ended or new"))
    ]
    yield el("p", " · ".join(totals), class_="pad small muted")
    columns = [("Reader", False), ("Source", False), ("Way", False), ("", False)]
    yield grid(columns, (_row(view, feed, kind, item) for kind, item in pairs))


def _support(view: PageView, feed: FeedSchema, kind: str) -> tuple[str, str]:
    """The table and name of one of the feed's support entities."""
    entity = view.system.entity(dict(feed.support).get(kind, ""))
    return ("", "") if entity is None else (entity.table, entity.name)


def _number(view: PageView, feed: FeedSchema, kind: str) -> int | None:
    table, name = _support(view, feed, kind)
    seen = view.system.survey.tables().get(table)
    return None if seen is None else seen.count(name)


def _pairs(view: PageView, feed: FeedSchema, kind: str) -> list[tuple[str, KnownItem]]:
    table, name = _support(view, feed, kind)
    seen = view.system.survey.tables().get(table)
    return [] if seen is None else [(kind, one) for one in seen.examples.get(name, [])[:PAIRS]]


def _row(view: PageView, feed: FeedSchema, kind: str, item: KnownItem) -> tuple[Child, ...]:
    way = "push" if kind == "subscription" else str(item.values.get("state", ""))
    reader, source = _reader(item), str(item.values.get("source", ""))
    why = view.at("streams", feed=feed.name, reader=reader, source=source)
    named = el("code", value_text(reader))
    return (
        link(view.item(item), named),
        el("code", source),
        text(el("b", way), " ", el("span", WAYS.get(way, ""), class_="muted")),
        link(why, "Why", class_="link"),
    )


def _reader(item: KnownItem) -> str:
    """The key field that is not the source."""
    fields = item.entity.key.fields if item.entity is not None and item.entity.key else ()
    return str(next((item.values.get(f, "") for f in fields if f != "source"), ""))


def _decision_banner(view: PageView, db: Db, feed: FeedSchema) -> Html | None:
    """Why the requested pair is pushed or pulled."""
    asked = view.query
    if asked.get("feed") != feed.name or "reader" not in asked or "source" not in asked:
        return None
    kept = (one for one in db.context.design.maintainers if isinstance(one, FeedMaintainer))
    found = next((one.feed for one in kept if one.feed.name == feed.name), None)
    if found is None:
        return None
    decision = found.explain(db, asked["reader"], asked["source"])
    after = "switches with the next page" if decision.switch else "stays so"
    return banner(
        "",
        el("b", f"{asked['reader']} ← {asked['source']}: {decision.mode}. "),
        decision.reason,
        ". ",
        state("note", after),
    )
