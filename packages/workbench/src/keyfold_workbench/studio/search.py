"""The search: where a key, an id or a title leads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from starlette.responses import HTMLResponse, RedirectResponse, Response

from keyfold.design.schema import Index, TableSchema
from keyfold.errors import KeyfoldError
from keyfold_workbench.studio import layout, relatives
from keyfold_workbench.studio.collection import (
    ANY,
    find_item,
    partition_page,
)
from keyfold_workbench.studio.data import partition_key
from keyfold_workbench.studio.items import KnownItem, key_texts
from keyfold_workbench.studio.markup import el, text
from keyfold_workbench.studio.notation import count
from keyfold_workbench.studio.parts import head
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageView

MOST = 12
"""Answers that are offered."""
SCAN_BYTES = 8192
"""What a scan reads for a unit."""


def find(view: PageView) -> Response:
    """The results for a key or an id; a single one opens at once."""
    asked = view.query.get("q", "").strip()
    found = _matches(view, asked) if asked else []
    exact = len(found)
    if asked and len(found) < MOST:
        found += _whole_tables(view, asked)
    if view.partial:
        return HTMLResponse(layout.hits(found))
    if exact == 1:
        return RedirectResponse(found[0][0], 303)
    listed = el("div.panel.hits", layout.hits(found))
    body = [head("Search", f"“{asked}”"), listed]
    return HTMLResponse(view.page("Search", *body, current="data"))


def find_everywhere(view: PageView) -> Response:
    """The results of all systems, for the search of the start page."""
    asked = view.query.get("q", "").strip()
    found: list[layout.Hit] = []
    for system in view.systems.values():
        with suppress(KeyfoldError):  # What one backend cannot answer, others may.
            here = _matches(view.of(system), asked) if asked else []
            found += ((where, says, f"{kind} of {system.title}") for where, says, kind in here)
    return HTMLResponse(layout.hits(found[:MOST]))


def _whole_tables(view: PageView, asked: str) -> Iterator[layout.Hit]:
    """The way to what only a whole table would show, with what that takes."""
    for table, seen in view.system.survey.tables().items():
        if seen.complete or seen.missing:
            words = f"Search all {count(seen.items)} items for “{asked}”"
        else:
            words = f"Not among the {count(seen.seen)} items seen: search all for “{asked}”"
        where = view.at("data", entity=ANY, table=table, value=asked)
        yield where, words, f"{table}, about {count(seen.bytes / SCAN_BYTES)} units"


def _says(item: KnownItem, words: str) -> bool:
    """Whether its title has the words, or its own id begins with them."""
    fields = set(item.entity.key.fields) if item.entity is not None and item.entity.key else set()
    own = str(item.values.get(fields.pop(), "")) if len(fields) == 1 else ""
    return words in item.title.lower() or own.lower().startswith(words)


def _matches(view: PageView, asked: str) -> list[layout.Hit]:
    """Partitions with this key, items with this id, and examples that say the words."""
    system = view.system
    found: dict[str, layout.Hit] = {}
    opened: set[tuple[str, str, str]] = set()
    for table in system.schema.tables:
        if table.partition_type == "S":
            page = partition_page(system, table, None, asked, rows=1)
            if page.items:
                where = view.partition(table.name, asked)
                found[where] = (where, partition_key(view, page, asked, None), "partition")
    for entity in system.schema.entities:
        fields = dict.fromkeys(entity.key.fields if entity.key else ())
        key = relatives.address(system, entity, dict.fromkeys(fields, asked))
        if len(fields) != 1 or key is None:
            continue
        table = system.schema.by_table[entity.table]
        item = find_item(system, table, *key_texts(table, key))
        if item is not None:
            named = text(view.item_key(item), " ", item.title)
            found[view.item(item)] = (view.item(item), named, entity.name)
            opened.add((table.name, "", item.partition))
    for table, index, stored in _partitions(system, asked, opened):
        where = view.partition(table.name, stored, index.name if index else None)
        page = partition_page(system, table, index, stored, rows=1)
        if page.items and len(found) < MOST:
            found[where] = (where, partition_key(view, page, stored, index), "partition")
    words = asked.lower()
    for seen in system.survey.tables().values():
        for kind, items in seen.examples.items():
            for item in items:
                if len(found) < MOST and _says(item, words):
                    named = text(view.item_key(item), " ", item.title)
                    found.setdefault(view.item(item), (view.item(item), named, kind))
    return list(found.values())


def _partitions(
    system: StudioSystem, asked: str, tried: set[tuple[str, str, str]]
) -> Iterator[tuple[TableSchema, Index | None, str]]:
    """The partitions of tables and indexes whose key would hold the id, each once.

    `tried` are those, as table, index and key, that are known already.
    """
    for entity in system.schema.entities:
        table = system.schema.by_table[entity.table]
        owners = [(table.index(one.index), one.key) for one in entity.placements]
        for index, key in [(None, entity.key), *owners]:
            template = key.partition if key is not None else None
            if template is None or template.apart or len(template.fields) != 1:
                continue
            with suppress(KeyfoldError):
                stored = template.render({template.fields[0]: asked})
                known = (table.name, index.name if index else "", stored)
                if stored != asked and known not in tried:
                    tried.add(known)
                    yield table, index, stored
