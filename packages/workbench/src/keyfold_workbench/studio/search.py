"""The search: where a key, an id or a title leads."""

from __future__ import annotations

from starlette.responses import HTMLResponse, RedirectResponse, Response

from keyfold_workbench.studio import layout, relatives
from keyfold_workbench.studio.collection import (
    find_item,
    partition_page,
)
from keyfold_workbench.studio.data import partition_key
from keyfold_workbench.studio.items import KnownItem, scalar
from keyfold_workbench.studio.markup import Child, el, text
from keyfold_workbench.studio.parts import empty, head
from keyfold_workbench.studio.view import PageView

MOST = 12
"""Answers that are offered."""


def find(view: PageView) -> Response:
    """The results for a key or an id; a single one opens at once."""
    asked = view.query.get("q", "").strip()
    found = _matches(view, asked) if asked else []
    if view.partial:
        return HTMLResponse(layout.hits(found))
    if len(found) == 1:
        return RedirectResponse(found[0][0], 303)
    listed = el("div", layout.hits(found), class_="panel hits")
    nothing = empty("Nothing found", "A full key such as GROUP#g03 opens its partition.")
    body = [head("Search", f"“{asked}”"), listed if found else nothing]
    return HTMLResponse(view.page("Search", *body, current="data"))


def _says(item: KnownItem, words: str) -> bool:
    """Whether its title has the words, or its own id begins with them."""
    fields = set(item.entity.key.fields) if item.entity is not None and item.entity.key else set()
    own = str(item.values.get(fields.pop(), "")) if len(fields) == 1 else ""
    return words in item.title.lower() or own.lower().startswith(words)


def _matches(view: PageView, asked: str) -> list[tuple[str, Child, str]]:
    """Partitions with this key, items with this id, and examples that say the words."""
    system = view.system
    found: dict[str, tuple[str, Child, str]] = {}
    for table in system.schema.tables:
        if table.partition_type == "S":
            page = partition_page(system, table, None, asked)
            if page.items:
                where = view.partition(table.name, asked)
                found[where] = (where, partition_key(view, page, asked, None), "partition")
    for entity in system.schema.entities:
        fields = dict.fromkeys(entity.key.fields if entity.key else ())
        key = relatives.address(system, entity, dict.fromkeys(fields, asked))
        if len(fields) != 1 or key is None:
            continue
        table = system.schema.by_table[entity.table]
        sort = None if table.sort is None else scalar(key[table.sort])
        item = find_item(system, table, scalar(key[table.partition]), sort)
        if item is not None:
            named = text(view.item_key(item), " ", item.title)
            found[view.item(item)] = (view.item(item), named, entity.name)
    words = asked.lower()
    for seen in system.survey.tables().values():
        for kind, items in seen.examples.items():
            for item in items:
                if len(found) < MOST and _says(item, words):
                    named = text(view.item_key(item), " ", item.title)
                    found.setdefault(view.item(item), (view.item(item), named, kind))
    return list(found.values())
