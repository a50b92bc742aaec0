"""Data: tables, partitions as DynamoDB sees them, the items of an entity, and the search."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from keyfold.design.schema import EntitySchema, Index, TableSchema
from keyfold_workbench.studio.collection import (
    ANY,
    ItemPage,
    entity_page,
    find_item,
    partition_page,
)
from keyfold_workbench.studio.declaration import declaration
from keyfold_workbench.studio.detail import detail
from keyfold_workbench.studio.findings import findings_panel
from keyfold_workbench.studio.item_list import (
    chosen_item,
    filter_of,
    named_item,
    names_item,
    only_rows,
    split,
)
from keyfold_workbench.studio.items import KnownItem, binary, partition_of
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, plural, size, size_with_unit, units
from keyfold_workbench.studio.parts import (
    banner,
    bar,
    empty,
    grid,
    head,
    kept_boxes,
    link,
    live_part,
    panel,
    state,
    stats,
    words,
)
from keyfold_workbench.studio.view import PageMissing, PageView

PATIENCE = 5.0
"""Seconds that the first look at the tables is waited for; then they come by themselves."""
PARTITIONS = 60
BESIDE_OTHERS = 12
"""Partitions of a table that are listed: of the only one, and of one among several."""
PARTITION_COLUMNS = ("Partition", "Beside the largest", "#Items", "#Size")


def data(view: PageView) -> Html | Response:
    """A partition, an entity's items, or the tables."""
    if "pk" in view.query:
        return _partition(view, _table(view))
    if "entity" in view.query:
        return _entity(view)
    return _tables(view)


def _table(view: PageView) -> TableSchema:
    name = view.query.get("table", "")
    table = view.system.table(name)
    if table is None:
        known = ", ".join(view.system.schema.by_table)
        raise PageMissing(f"Not found: table {name!r}. The design has {known}.")
    return table


def _partition(view: PageView, table: TableSchema) -> Html | Response:
    wanted = view.query.get("index")
    index = table.index(wanted) if wanted else None
    if wanted and index is None:
        raise PageMissing(f"Not found: index {wanted!r} of {table.name}.")
    if view.partial and names_item(view):
        return _detail(view, table)
    key = view.query["pk"]
    after = view.query.get("after", "")
    only = filter_of(view)
    page = partition_page(view.system, table, index, key, after=after, only=only)
    seen = view.system.survey.tables().get(table.name)
    known = ""
    if index is None and seen is not None and key in seen.partitions:
        known = count(seen.partitions[key], estimate=not seen.complete)
    if view.partial:
        return HTMLResponse(only_rows(view, page, known))
    chosen = chosen_item(view, table, page)
    shown_key = partition_key(view, page, key, index)
    whole = plural(len(page.items), "item") + (", and more follow" if page.after else "")
    if known and page.after:
        whole = f"{known} items"
    named = f"One partition of {index.name if index else table.name}"
    switch = _switch(view, table, index, key, chosen)
    new = None
    if view.system.design is not None:
        new = link(view.at("new", table=table.name), "New item…", class_="btn")
    body = [
        head(
            el("span.big", shown_key),
            f"{named}: {whole}, in sort order, as DynamoDB stores it.",
            switch,
            new,
        ),
        el(
            "div.stack",
            _figures(view, page),
            split(view, table, page, chosen, f"Items of {key} in sort order", known),
        ),
    ]
    crumbs: list[tuple[Child, str | None]] = [("Data", view.at("data")), (shown_key, None)]
    return view.page(key, *body, current="data", crumbs=crumbs)


def _detail(view: PageView, table: TableSchema) -> Response:
    """The chosen item alone, for a list that is there already."""
    item = named_item(view, table)
    gone = empty("Not there", "This item was deleted. Load the list again.")
    return HTMLResponse(gone if item is None else detail(view, item))


def value(view: PageView) -> Response:
    """The bytes of a binary attribute."""
    query = view.query
    item = find_item(view.system, _table(view), query.get("pk", ""), query.get("sk"))
    name = query.get("name", "")
    found = item.wire.get(name, {}).get("B") if item is not None else None
    if found is None:
        raise PageMissing(f"Not found: a binary value {name!r} of this item.")
    quoted = quote(name, safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quoted}.bin"}
    return Response(binary(found), media_type="application/octet-stream", headers=headers)


def partition_key(view: PageView, page: ItemPage, key: str, index: Index | None) -> Html:
    for item in page.items:
        if item.entity is None:
            continue
        if index is not None:
            return view.index_key(item, index, index.partition_types)
        template = item.entity.key.partition if item.entity.key else None
        if template is not None and template.matches(key):
            return view.key(key, item.entity, template)
    return view.key(key, None, None)


def _switch(
    view: PageView, table: TableSchema, index: Index | None, key: str, chosen: KnownItem | None
) -> Html | None:
    """The same partition, or the chosen item's, through the table and each index."""
    if not table.indexes:
        return None
    first = chosen.partition if chosen is not None else key
    isk = chosen.sort if chosen is not None else None
    ways = [
        link(
            view.partition(table.name, first if index is not None else key, isk=isk),
            table.name,
            aria_current=None if index else "true",
        )
    ]
    for one in table.indexes:
        there = key
        if chosen is not None and one.partition_types.keys() <= chosen.wire.keys():
            there = partition_of(chosen.wire, one)
        elif len(one.partition_types) > 1:
            ways.append(el("span", one.name, aria_disabled="true"))
            continue
        where = view.partition(table.name, there, one.name, ipk=first, isk=isk)
        ways.append(link(where, one.name, aria_current="true" if one is index else None))
    return el("span.tabs", ways, role="group", aria_label="Read through")


def _figures(view: PageView, page: ItemPage) -> Html:
    checkup = view.system.checkup
    drifts = [one for one in page.items if checkup.drift_of(one.table.name, one.key) is not None]
    sizes = [item.size for item in page.items]
    more = "and more follow" if page.after else "all"
    unknown = sum(item.kind == "undeclared" for item in page.items)
    return stats(
        [
            ("Items", count(len(page.items)), more),
            ("Size", *size(sum(sizes))),
            ("To read this", units(page.units), f"units, {plural(page.requests, 'request')}"),
            ("Largest item", *size(max(sizes, default=0))),
            (
                "Undeclared",
                state("warn", count(unknown)) if unknown else state("ok", "0"),
                "",
            ),
            (
                "Drift here",
                "–" if checkup.last is None else state("bad" if drifts else "ok", str(len(drifts))),
                "not verified yet" if checkup.last is None else "",
            ),
        ]
    )


def _entity(view: PageView) -> Html | Response:
    name = view.query["entity"]
    entity = view.system.entity(name)
    if entity is None and name not in ("undeclared", ANY):
        raise PageMissing(f"Not found: entity {name!r} in {view.system.title}.")
    tables = view.system.schema.tables
    table = view.system.schema.by_table[entity.table] if entity is not None else tables[0]
    if entity is None and "table" in view.query:
        table = _table(view)
    if view.partial and names_item(view):
        return _detail(view, table)
    after, only = view.query.get("after", ""), filter_of(view)
    page = entity_page(view.system, table, name, after=after, only=only)
    seen = view.system.survey.tables().get(table.name)
    items = count(seen.items, estimate=not seen.complete) if seen is not None else ""
    if view.partial:
        return HTMLResponse(only_rows(view, page, items))
    chosen = chosen_item(view, table, page)
    title = entity.name if entity is not None else "Undeclared"
    says = entity.description if entity else "Items that no entity of the design declares."
    if name == ANY:
        title, says = table.name, "All items, in the table's order."
    elif seen is not None and seen.count(name):
        of = count(seen.count(name), estimate=not seen.complete)
        says = f"{says} {count(len(page.items))} of {of} here.".strip() if only is None else says
    acts: list[Child] = []
    if entity is not None and view.system.design is not None and entity.copy is None:
        acts.append(link(view.at("new", entity=entity.name), "New item…", class_="btn"))
    if entity is not None:
        acts.append(link(view.at("map", lit=title), "On the map", class_="btn quiet"))
    if entity is None and len(tables) > 1:
        ways = (
            link(
                view.at("data", entity="undeclared", table=one.name),
                one.name,
                aria_current="true" if one is table else None,
            )
            for one in tables
        )
        acts = [el("span.tabs", ways, role="group", aria_label="Table")]
    return view.page(
        title,
        head(text(view.chip(name if entity else ""), " ", title), says, *acts),
        _declared(view, entity),
        el(
            "div.stack",
            findings_panel(view, entity.name) if entity is not None else None,
            split(view, table, page, chosen, f"Items of {title}", items),
        ),
        current="data",
        crumbs=[("Data", view.at("data")), (title, None)],
    )


def _declared(view: PageView, entity: EntitySchema | None) -> Child:
    if entity is None or entity.key is None:
        return None
    sort = entity.key.sort
    separator = el("span.sep", "›", aria_hidden="true")
    key = text(
        view.template(entity, entity.key.partition),
        (separator, view.template(entity, sort)) if sort else None,
    )
    read_by = [
        link(view.at("patterns", one.name), one.name, class_="link")
        for one in view.system.schema.patterns
        if entity.name in one.entities
    ]
    said = [
        el("span", key),
        el("span.small", "read by ", words(read_by)) if read_by else None,
        declaration(view.system, entity.place, entity.name),
        _consequences(view, entity),
    ]
    return el("div.declared", said)


WHEN = {"transaction": "In the same transaction", "stream": "By the stream", "none": "Never"}
"""When a consequence happens."""


def _consequences(view: PageView, entity: EntitySchema) -> Child:
    """What a write of the entity's items causes, by when it happens."""
    found = [f for f in view.system.schema.follows if f.source == entity.name]
    if not found:
        return el("span.muted.small", "Nothing follows from a write.")
    columns = []
    for sync, title in WHEN.items():
        rows = [
            el("li", view.ent(f.target, f.name) if f.target else el("span", f.name))
            for f in found
            if f.sync == sync
        ]
        if rows:
            columns.append(el("div", el("h3", title), el("ul", rows)))
    summary = el("summary", plural(len(found), "consequence"), " of a write")
    return el("details.small", summary, el("div.follows", columns))


def _tables(view: PageView) -> Html:
    seen = view.system.survey.tables(PATIENCE)
    tables = []
    most = PARTITIONS if len(view.system.schema.tables) == 1 else BESIDE_OTHERS
    for table in view.system.schema.tables:
        found = seen.get(table.name)
        if found is None:
            continue
        rough = not found.complete
        rows = [
            (
                link(view.partition(table.name, key), view.partition_key(table, key)),
                bar(number / max(found.partitions.values())),
                count(number),
                size_with_unit(found.partition_bytes[key]),
            )
            for key, number in sorted(found.partitions.items(), key=lambda one: (-one[1], one[0]))[
                :most
            ]
        ]
        opener = el(
            "form.acts",
            kept_boxes([("table", table.name)]),
            el("label.hide", "Open a partition", for_=f"pk-{table.name}"),
            el(
                "input.mono.narrow",
                type="text",
                id=f"pk-{table.name}",
                name="pk",
                placeholder="partition key",
            ),
            el("button.btn", "Open", type="submit"),
            action=view.at("data"),
            method="get",
        )
        listed: Child = grid(PARTITION_COLUMNS, rows)
        if found.missing:
            listed = empty("No such table", f"The backend has no {view.system.physical(table)}.")
        elif not rows:
            listed = empty("No items", "Write items with your code or with New item…")
        note = f"{count(found.items, estimate=rough)} items · {' '.join(size(found.bytes))}"
        tables.append(
            panel(
                table.name,
                el("div.strip", opener),
                listed,
                note=note,
                footer=_counted(len(found.partitions), most, rough=rough),
            )
        )
    survey = view.system.survey
    notice = banner("warn" if survey.is_first_look else "bad", survey.notice)
    listed_now = live_part(
        "tables", notice if survey.notice else None, tables, lasting=survey.is_first_look
    )
    if view.partial:
        return listed_now
    return view.page(
        "Data",
        head("Data", "Choose a partition or an entity, or search with /."),
        el("div.stack", _entities(view), listed_now),
        current="data",
    )


def _counted(partitions: int, most: int, *, rough: bool) -> Child:
    if not partitions:
        return None
    where = " in the first pages of the table" if rough else ""
    words = f"The largest {most}" if partitions > most else "All"
    return el("span.small", f"{words} of {plural(partitions, 'partition')}{where}.")


def _entities(view: PageView) -> Html:
    """Links to each entity, for narrow pages."""
    ways = (
        link(view.at("data", entity=one.name), view.ent(one.name), class_="tag")
        for one in view.system.schema.entities
    )
    return el("nav.entities", ways, aria_label="Entities")
