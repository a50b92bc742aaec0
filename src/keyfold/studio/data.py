"""Data: tables, partitions as DynamoDB sees them, the items of an entity, and the search."""

from __future__ import annotations

from collections import Counter as Tally

from starlette.responses import HTMLResponse, RedirectResponse, Response

from keyfold.design.schema import EntitySchema, Index, TableSchema
from keyfold.studio import layout, relatives
from keyfold.studio.collection import (
    FieldFilter,
    ItemPage,
    entity_page,
    partition_page,
    stored,
)
from keyfold.studio.detail import detail
from keyfold.studio.items import KnownItem, scalar, shown
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import count, plural, size, sized, units
from keyfold.studio.parts import banner, empty, grid, head, link, panel, state, stats
from keyfold.studio.view import PageMissing, PageView

PARTITIONS = 60
FIELDS = 3
"""So many fields of an item stand in its row, beside its title."""


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
    key = view.query["pk"]
    after = view.query.get("after", "")
    only = _filter(view)
    page = partition_page(view.system, table, index, key, after=after, only=only)
    chosen = _chosen(view, table, page, key)
    if view.partial:
        return HTMLResponse(detail(view, chosen) if chosen is not None else "")
    shown_key = _partition_key(view, page, key, index)
    title = next((i.title for i in page.items if i.entity and not i.entity.copy and i.title), "")
    named = f"One partition of {index.name if index else table.name}, in sort order"
    switch = _switch(view, table, index, key, chosen)
    new = None
    if view.system.design is not None:
        new = link(view.at("new", table=table.name), "New item…", class_="btn")
    body = [
        head(
            el("span", shown_key, " ", el("span", title, class_="muted"), class_="big"),
            f"{named}, as DynamoDB stores it.",
            switch,
            new,
        ),
        el(
            "div",
            _figures(page),
            _split(view, table, page, chosen, f"Items of {key} in sort order"),
            class_="stack",
        ),
    ]
    crumbs: list[tuple[Child, str | None]] = [("Data", view.at("data")), (shown_key, None)]
    return view.page(key, *body, current="data", crumbs=crumbs)


def _partition_key(view: PageView, page: ItemPage, key: str, index: Index | None) -> Html:
    for item in page.items:
        if item.entity is None:
            continue
        if index is None:
            template = item.entity.key.partition if item.entity.key else None
        else:
            placed = item.entity.placement(index.name)
            template = placed[0].key.partition if placed else None
        if template is not None and template.matches(key):
            return view.key(key, item.entity, template)
    return view.key(key, None, None)


def _switch(
    view: PageView, table: TableSchema, index: Index | None, key: str, chosen: KnownItem | None
) -> Html | None:
    """The same partition, or that of the chosen item, through the table and each index."""
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
        if chosen is not None and one.partition in chosen.wire:
            there = scalar(chosen.wire[one.partition])
        where = view.partition(table.name, there, one.name, ipk=first, isk=isk)
        ways.append(link(where, one.name, aria_current="true" if one is index else None))
    return el("span", ways, class_="tabs", role="group", aria_label="Read through")


def _figures(page: ItemPage) -> Html:
    sizes = [item.size for item in page.items]
    whole, whole_unit = size(sum(sizes))
    largest, largest_unit = size(max(sizes, default=0))
    more = "and more follow" if page.after else "all"
    unknown = sum(item.kind == "undeclared" for item in page.items)
    return stats(
        [
            ("Items", count(len(page.items)), more),
            ("Size", whole, whole_unit),
            ("To read this", units(page.units), f"units, {plural(page.requests, 'request')}"),
            ("Largest item", largest, largest_unit),
            (
                "Undeclared",
                state("warn", count(unknown)) if unknown else state("ok", "0"),
                "",
            ),
        ]
    )


def _chosen(view: PageView, table: TableSchema, page: ItemPage, key: str) -> KnownItem | None:
    """The item that the address names, or the first."""
    if "isk" not in view.query and "ipk" not in view.query:
        return page.items[0] if page.items else None
    partition, sort = view.query.get("ipk", key), view.query.get("isk")
    for item in page.items:
        if item.partition == partition and item.sort == sort:
            return stored(view.system, table, partition, sort) or item
    return stored(view.system, table, partition, sort)


def _split(
    view: PageView, table: TableSchema, page: ItemPage, chosen: KnownItem | None, label: str
) -> Html:
    kinds = Tally(item.kind for item in page.items)
    chips = (
        el(
            "button",
            view.chip(name if view.system.entity(name) else ""),
            f" {name if view.system.entity(name) else name.capitalize()} {number}",
            class_="tag",
            type="button",
            aria_pressed="true",
            data_show=name,
        )
        for name, number in kinds.items()
    )
    rows = [_row(view, item, chosen) for item in page.items]
    read_on = None
    if page.after:
        query = {**view.query, "after": page.after}
        read_on = link(view.at("data", **query), "Next page", class_="btn")
    took = f"{plural(page.read, 'item')} read for {units(page.units)} units"
    if not page.items:
        says = [f"{took}. "]
        title = "Nothing yet" if page.after else "Nothing here"
        listed: Child = empty(title, *says)
    else:
        listed = el("nav", rows, class_="rows", aria_label=label)
    section = el(
        "section",
        el("header", el("h2", "Items", class_="hide"), el("div", chips, class_="acts")),
        _filter_form(view, table),
        listed,
        el("footer", el("span", took, class_="small"), read_on),
        class_="panel",
        aria_label="Items",
    )
    back = el("button", "‹ All items", class_="btn quiet back", type="button", data_back=True)
    inner = detail(view, chosen) if chosen is not None else empty("No item", "Choose one.")
    aside = el(
        "aside",
        back,
        el("div", inner, id="detail"),
        class_="panel detail",
        aria_label="Selected item",
    )
    opened = " open" if "isk" in view.query or "ipk" in view.query else ""
    return el("div", section, aside, class_=f"split{opened}")


def _filter(view: PageView) -> FieldFilter | None:
    field, value = view.query.get("field", ""), view.query.get("value", "")
    return FieldFilter(field, value) if field and value else None


def _filter_form(view: PageView, table: TableSchema) -> Html:
    names = sorted(
        {
            attribute.name
            for entity in view.system.schema.entities_of(table.name)
            for attribute in entity.attributes
            if attribute.is_stored
        }
    )
    options = [
        el("option", name, value=name, selected=name == view.query.get("field")) for name in names
    ]
    kept = [
        el("input", type="hidden", name=name, value=value)
        for name, value in view.query.items()
        if name not in ("field", "value", "after")
    ]
    return el(
        "form",
        kept,
        el("label", "Filter by field", for_="field", class_="hide"),
        el("select", el("option", "any field", value=""), options, id="field", name="field"),
        el("label", "holds", for_="value", class_="hide"),
        el(
            "input",
            type="text",
            id="value",
            name="value",
            placeholder="holds",
            value=view.query.get("value", ""),
        ),
        el("button", "Filter", class_="btn", type="submit"),
        action=view.at("data"),
        method="get",
        class_="strip filter",
    )


def _row(view: PageView, item: KnownItem, chosen: KnownItem | None) -> Html:
    colour = view.system.palette.colour(item.kind)
    shape = "unknown"
    if item.entity is not None:
        shape = "copy" if item.entity.copy else "canonical"
    query = {**view.query, "ipk": item.partition, "isk": item.sort}
    query.pop("after", None) if not view.query.get("after") else None
    templates = item.entity.key if item.entity is not None else None
    template = None
    if templates is not None:
        template = templates.sort if item.sort is not None else templates.partition
    key = view.key(item.sort if item.sort is not None else item.partition, item.entity, template)
    if "entity" in view.query:
        key = view.item_key(item)
    flag = state("warn", "undeclared") if item.kind == "undeclared" else None
    return link(
        view.at("data", **query),
        view.chip(item.entity.name if item.entity else ""),
        key,
        el(
            "span",
            el("span", item.title or "", " ", el("small", summary(item))),
            el("span", flag, class_="flag small"),
            class_="what",
        ),
        el("span", sized(item.size), class_="size num muted"),
        class_=f"row {colour} {shape}",
        data_kind=item.kind,
        aria_current="true" if chosen is not None and chosen.key == item.key else None,
    )


def summary(item: KnownItem) -> str:
    """A few values that tell an item from its neighbours."""
    if item.entity is None:
        held = [shown(v) for n, v in item.values.items() if n not in item.table.key_attributes]
        return ", ".join(held[:FIELDS])[:120]
    in_key = set(item.entity.key.fields) if item.entity.key else set()
    said: list[str] = []
    for attribute in item.entity.attributes:
        value = item.values.get(attribute.field)
        dull = value in (None, "", [], item.title) or attribute.field in in_key
        if dull or isinstance(value, dict | bool) or attribute.field == item.entity.version:
            continue
        words = shown(value, attribute).removesuffix(" UTC")
        if len(words) > 40:
            continue
        is_number = attribute.type in ("number", "integer")
        said.append(f"{attribute.field} {words}" if is_number else words)
        if len(said) == FIELDS:
            break
    return ", ".join(said)


def _entity(view: PageView) -> Html | Response:
    name = view.query["entity"]
    entity = view.system.entity(name)
    if entity is None and name != "undeclared":
        raise PageMissing(f"Not found: entity {name!r} in {view.system.title}.")
    tables = view.system.schema.tables
    table = view.system.schema.by_table[entity.table] if entity is not None else tables[0]
    if entity is None and "table" in view.query:
        table = _table(view)
    after, only = view.query.get("after", ""), _filter(view)
    page = entity_page(view.system, table, entity, after=after, only=only)
    chosen = _chosen(view, table, page, view.query.get("ipk", ""))
    if view.partial:
        return HTMLResponse(detail(view, chosen) if chosen is not None else "")
    title = entity.name if entity is not None else "Undeclared"
    says = (entity.description if entity else "") or "Items that no entity of the design declares."
    acts: list[Child] = []
    if entity is not None and view.system.design is not None and entity.copy is None:
        acts.append(link(view.at("new", entity=entity.name), "New item…", class_="btn"))
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
        acts = [el("span", ways, class_="tabs", role="group", aria_label="Table")]
    return view.page(
        title,
        head(text(view.chip(name if entity else ""), " ", title), says, *acts),
        _declared(view, entity),
        el("div", _split(view, table, page, chosen, f"Items of {title}"), class_="stack"),
        current="data",
        crumbs=[("Data", view.at("data")), (title, None)],
    )


def _declared(view: PageView, entity: EntitySchema | None) -> Child:
    if entity is None or entity.key is None:
        return None
    sort = entity.key.sort
    separator = el("span", "›", class_="sep", aria_hidden="true")
    key = text(
        view.template(entity, entity.key.partition),
        (separator, view.template(entity, sort)) if sort else None,
    )
    kept = [f for f in view.system.schema.follows if entity.name in (f.source, f.target)]
    said = [
        el("span", key),
        el("span", plural(len(kept), "consequence"), class_="muted small"),
        el("span", str(entity.place), class_="muted small") if entity.place.file else None,
    ]
    return el("p", said, class_="declared")


def _tables(view: PageView) -> Html:
    seen = view.system.survey.tables(wait=5.0)
    tables = []
    for table in view.system.schema.tables:
        found = seen.get(table.name)
        if found is None:
            continue
        rough = not found.complete
        rows = [
            (
                link(view.partition(table.name, key), el("code", key, class_="key")),
                count(number),
                sized(found.partition_bytes[key]),
            )
            for key, number in sorted(found.partitions.items(), key=lambda one: (-one[1], one[0]))[
                :PARTITIONS
            ]
        ]
        opener = el(
            "form",
            el("input", type="hidden", name="table", value=table.name),
            el("label", "Open a partition", for_=f"pk-{table.name}", class_="hide"),
            el(
                "input",
                type="text",
                id=f"pk-{table.name}",
                name="pk",
                class_="mono narrow",
                placeholder="partition key",
            ),
            el("button", "Open", class_="btn", type="submit"),
            action=view.at("data"),
            method="get",
            class_="acts",
        )
        listed: Child = grid([("Partition", False), ("Items", True), ("Size", True)], rows)
        if found.missing:
            listed = empty("No such table", f"The backend has no {view.system.physical(table)}.")
        elif not rows:
            listed = empty("No items", "Items written by code or by New item… would stand here.")
        number, unit = size(found.bytes)
        note = f"{count(found.items, estimate=rough)} items · {number} {unit}"
        tables.append(
            panel(
                table.name,
                el("div", opener, class_="strip"),
                listed,
                note=note,
                footer=el(
                    "span",
                    f"The largest of {len(found.partitions):,} partitions"
                    + (" in the first pages of the table." if rough else "."),
                    class_="small",
                ),
            )
        )
    problem = view.system.survey.problem
    return view.page(
        "Data",
        head("Data", "Choose a partition, an entity at the left, or search with /."),
        banner("bad", f"The backend does not answer: {problem}") if problem else None,
        el("div", tables, class_="stack"),
        current="data",
    )


def find(view: PageView) -> Response:
    """Where a key or an id leads; one answer is gone to at once."""
    asked = view.query.get("q", "").strip()
    found = _found(view, asked) if asked else []
    if view.partial:
        return HTMLResponse(layout.hits(found))
    if len(found) == 1:
        return RedirectResponse(found[0][0], 303)
    listed = el("div", layout.hits(found), class_="panel hits")
    nothing = empty("Nothing by that name", "A full key such as GROUP#g03 opens its partition.")
    body = [head("Search", f"“{asked}”"), listed if found else nothing]
    return HTMLResponse(view.page("Search", *body, current="data"))


def _found(view: PageView, asked: str) -> list[tuple[str, Child, str]]:
    """Partitions with this key, items with this id, and examples whose title has the words."""
    system = view.system
    found: dict[str, tuple[str, Child, str]] = {}
    for table in system.schema.tables:
        if table.partition_type == "S":
            page = partition_page(system, table, None, asked)
            if page.items:
                where = view.partition(table.name, asked)
                found[where] = (where, _partition_key(view, page, asked, None), "partition")
    for entity in system.schema.entities:
        fields = dict.fromkeys(entity.key.fields if entity.key else ())
        key = relatives.address(system, entity, dict.fromkeys(fields, asked))
        if len(fields) != 1 or key is None:
            continue
        table = system.schema.by_table[entity.table]
        sort = None if table.sort is None else scalar(key[table.sort])
        item = stored(system, table, scalar(key[table.partition]), sort)
        if item is not None:
            named = text(view.item_key(item), " ", item.title)
            found[view.item(item)] = (view.item(item), named, entity.name)
    words = asked.lower()
    for seen in system.survey.tables().values():
        for kind, items in seen.examples.items():
            for item in items:
                if words in item.title.lower() and len(found) < 12:
                    named = text(view.item_key(item), " ", item.title)
                    found.setdefault(view.item(item), (view.item(item), named, kind))
    return list(found.values())
