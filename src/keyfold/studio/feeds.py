"""Feeds: who is pushed, who is pulled, and why."""

from __future__ import annotations

from keyfold.studio.items import shown
from keyfold.studio.markup import Child, el
from keyfold.studio.parts import empty, grid, link, panel
from keyfold.studio.view import PageView


def feeds_panel(view: PageView) -> Child:
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
