"""The map: the contents of tables and indexes, copies, and what maintains them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from starlette.responses import Response

from keyfold.design.schema import EntitySchema, Follows, KeyTemplates, TableSchema
from keyfold.design.template import Slot, Template
from keyfold.review.cost.sizes import has
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.key_map import key_map
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import count, plural, size
from keyfold.studio.parts import empty, head, link, words
from keyfold.studio.view import PageMissing, PageView

COMPACT = 12
"""With more entities, each takes one line."""
QUIET = 40
"""With more entities, lines are drawn only for the hovered one."""
PATIENCE = 1.5
"""Seconds to wait for the first read of the tables, so that entities show counts."""
EDGES = {"copy": "copy", "amount": "count", "shown": "field", "best": "field"}
PROJECTIONS = {"ALL": "all attributes", "KEYS_ONLY": "keys only", "INCLUDE": "some attributes"}


def design_map(view: PageView) -> Html:
    """The whole design as one picture."""
    schema = view.system.schema
    if not schema.entities:
        nothing = empty("No entities", "A design’s entities would stand here.")
        return view.page("Map", head("Map", ""), nothing, current="map")
    view.system.survey.tables(PATIENCE)
    number = len(schema.entities)
    classes = ["map"]
    classes += ["compact"] if number > COMPACT else []
    classes += ["quiet"] if number > QUIET else []
    tables = [table for table in schema.tables if schema.entities_of(table.name)]
    ids = {entity.name: f"t-{at}" for at, entity in enumerate(schema.entities)}
    lanes = [lane for table in tables for lane in _lanes(view, table, ids)]
    picture = el(
        "div",
        el("svg", aria_hidden="true"),
        _edges(view, ids),
        lanes,
        class_=" ".join(classes),
        data_lit=view.query.get("lit"),
    )
    named = ", ".join(table.name for table in tables)
    says = text(
        "What lies together in ",
        el("b", named),
        ". A frame is one partition; its rows come in the order of their sort keys. Point at an "
        "entity to see only what belongs to it.",
    )
    return view.page(
        "Map",
        head("Map", says, *_controls(quiet=number > QUIET)),
        el(
            "div",
            el("div", picture, class_="mapframe"),
            el("footer", _legend(), _pictures(view, tables)),
            class_="panel",
        ),
        current="map",
    )


def _lanes(view: PageView, table: TableSchema, ids: dict[str, str]) -> list[Html]:
    """A table, with its indexes beside it."""
    own = el("section", _table(view, table, ids), class_="lane", aria_label=table.name)
    placed = el(
        "section",
        _indexes(view, table, ids),
        class_="lane",
        aria_label=f"Indexes of {table.name}",
    )
    return [own, placed]


def _pictures(view: PageView, tables: list[TableSchema]) -> Html:
    """Downloads of the design's diagrams."""
    ways = [
        link(view.at("map", f"{name}.svg"), words, class_="link")
        for name, words in (
            ("entities", "Entities"),
            *((f"keys-{one.name}", f"Keys of {one.name}") for one in tables),
        )
    ]
    return el("span", "As SVG: ", words(ways), class_="small")


def picture(view: PageView) -> Response:
    """The entity diagram, or the keys of a table, as a file."""
    asked = view.path.get("picture", "")
    table = view.system.table(asked.removeprefix("keys-").removesuffix(".svg"))
    if asked == "entities.svg":
        drawn = entity_map(view.system.schema)
    elif table is not None and asked == f"keys-{table.name}.svg":
        drawn = key_map(view.system.schema, table)
    else:
        raise PageMissing(f"Not found: picture {asked!r} of {view.system.title}.")
    name = quote(f"{view.system.slug}-{asked}")
    headers = {"content-disposition": f"attachment; filename*=utf-8''{name}"}
    return Response(drawn, media_type="image/svg+xml", headers=headers)


def _controls(*, quiet: bool) -> list[Child]:
    find = el(
        "input",
        type="text",
        class_="narrow",
        placeholder="Find an entity",
        aria_label="Find an entity",
        data_sift=True,
    )
    zoom = el(
        "span",
        (
            el("button", word, type="button", data_zoom=step, aria_label=label)
            for word, step, label in (
                ("−", "out", "Smaller"),
                ("1:1", "fit", "Fit"),
                ("+", "in", "Larger"),
            )
        ),
        class_="tabs",
        role="group",
        aria_label="Zoom",
    )
    lines = el(
        "span",
        (
            el(
                "button",
                word,
                type="button",
                data_lines=kind,
                aria_pressed="true" if (kind == "all") != quiet else "false",
            )
            for word, kind in (("All lines", "all"), ("None", "none"))
        ),
        class_="tabs",
        role="group",
        aria_label="Lines",
    )
    return [find, zoom, lines]


def _shape(template: Template) -> str:
    return "".join("{}" if isinstance(part, Slot) else part.text for part in template.parts)


def _table(view: PageView, table: TableSchema, ids: dict[str, str]) -> Iterator[Html]:
    seen = view.system.survey.tables().get(table.name)
    names = ", ".join(table.key_attributes)
    told = names
    if seen is not None:
        number, unit = size(seen.bytes)
        rough = not seen.complete
        told = f"{names} · {count(seen.items, estimate=rough)} items · {number} {unit}"
    yield el("h2", table.name, " ", el("small", told))
    frames: dict[str, list[EntitySchema]] = {}
    for entity in view.system.schema.entities_of(table.name):
        if entity.key is not None and entity.role != "support":
            frames.setdefault(_shape(entity.key.partition), []).append(entity)
    for members in frames.values():
        first = members[0]
        assert first.key is not None, "entities without a key are not in a frame"
        rows = sorted(members, key=lambda one: _order(one.key))
        yield el(
            "div",
            el(
                "header",
                view.template(first, first.key.partition),
                el("small", plural(len(rows), "entity", "entities")),
            ),
            [
                _node(
                    view,
                    one,
                    one.key,
                    ids[one.name],
                    seen.count(one.name) if seen else None,
                    _maintained_words(view, one),
                )
                for one in rows
            ],
            class_="part",
        )
    yield from _folded(view, table, ids)


def _order(key: KeyTemplates | None) -> str:
    return key.sort.text if key is not None and key.sort is not None else ""


def _indexes(view: PageView, table: TableSchema, ids: dict[str, str]) -> Iterator[Html]:
    schema = view.system.schema
    seen = view.system.survey.tables().get(table.name)
    several = len(schema.tables) > 1
    of_table = f" of {table.name}" if several else ""
    for at, index in enumerate(table.indexes):
        keys = index.key_text if index.has_several else ", ".join(index.key_attributes)
        yield el("h2", f"{index.name}{of_table}", " ", el("small", keys))
        frames: dict[str, list[tuple[EntitySchema, KeyTemplates, str]]] = {}
        for entity, placement in schema.placed_on(table.name, index.name):
            frames.setdefault(_shape(placement.key.partition), []).append(
                (entity, placement.key, placement.note)
            )
        for members in frames.values():
            entity, key, _ = members[0]
            nodes = []
            for one, own, note in sorted(members, key=lambda member: _order(member[1])):
                number = seen.count(one.name) if seen else None
                nodes.append(_node(view, one, own, f"x-{at}-{ids[one.name]}", number, note))
            kept = PROJECTIONS[index.projection]
            yield el(
                "div",
                el("header", view.template(entity, key.partition), el("small", kept)),
                nodes,
                class_="part",
            )
    for at, vector in enumerate(table.vectors):
        distance = vector.distance.replace("_", " ")
        about = el("small", f"{vector.attribute}, {distance}")
        yield el("h2", f"{vector.name}{of_table}", " ", about)
        held = [one for one in schema.entities_of(table.name) if has(one, vector)]
        apart = el("code", vector.within or "all items", class_="key")
        numbers = el("small", f"{vector.dimensions:,} numbers")
        yield el(
            "div",
            el("header", apart, numbers),
            [_node(view, one, None, f"v-{at}-{ids[one.name]}", None, None) for one in held],
            class_="part",
        )


def _node(
    view: PageView,
    entity: EntitySchema,
    key: KeyTemplates | None,
    id: str,
    number: int | None,
    kept: Child,
) -> Html:
    sort = key.sort if key is not None else None
    return link(
        view.at("data", entity=entity.name),
        view.chip(entity.name),
        el("b", entity.name),
        el("span", count(number), class_="n"),
        view.template(entity, sort) if sort is not None else None,
        el("span", kept, class_="kept") if kept else None,
        class_=f"node {view.system.palette.colour(entity.name)}",
        id=id,
        data_name=entity.name,
    )


def _maintained_words(view: PageView, entity: EntitySchema) -> Child:
    """What is maintained on an entity, in words: by transaction, then by stream."""
    said: dict[str, list[Child]] = {"transaction": [], "stream": []}
    fields: dict[tuple[str, str, str], list[Child]] = {}
    for one in view.system.schema.follows:
        names = [el("code", name) for name in one.writes[:3]]
        source, target = _ends(one)
        sync = "transaction" if one.sync == "transaction" else "stream"
        if one.fact in ("shown", "best") and target == entity.name:
            fields.setdefault((sync, source, "as in"), []).extend(names)
        elif one.target != entity.name:
            continue
        elif one.fact == "copy":
            each = (" for each of ", el("code", one.each)) if one.each else ""
            said[sync].append(text("copy of ", one.source, each))
        elif one.fact == "amount":
            fields.setdefault((sync, source, "counts"), []).extend(names)
    for (sync, source, verb), kept in fields.items():
        agreed = "count" if verb == "counts" and len(kept) > 1 else verb
        said[sync].append(text(words(kept), f" {agreed} {source}"))
    told = [words(said["transaction"])] if said["transaction"] else []
    told += [text(words(said["stream"]), ", by the stream")] if said["stream"] else []
    return words(told, "; ") if told else None


def _ends(one: Follows) -> tuple[str, str]:
    """Where a value comes from, and where it is stored."""
    return (one.target, one.source) if one.fact == "shown" else (one.source, one.target)


def _folded(view: PageView, table: TableSchema, ids: dict[str, str]) -> Iterator[Html]:
    entities = view.system.schema.entities_of(table.name)
    support = [e for e in entities if e.role == "support" or e.key is None]
    if not support:
        return
    nodes = [_node(view, one, one.key, ids[one.name], None, None) for one in support]
    number = plural(len(support), "support entity", "support entities")
    yield el(
        "details",
        el("summary", f"{number} folded"),
        el("div", nodes, class_="part"),
    )


def _edges(view: PageView, ids: dict[str, str]) -> list[Html]:
    """What the script draws: pairs of nodes, with the kind and colour of the line."""
    made: dict[tuple[str, str, str], str] = {}
    for one in view.system.schema.follows:
        kind = EDGES.get(one.fact)
        source, target = _ends(one)
        if kind is not None and source in ids and target in ids and source != target:
            made[ids[source], ids[target], kind] = view.system.palette.colour(source)
    for table in view.system.schema.tables:
        for at, index in enumerate(table.indexes):
            for entity, _ in view.system.schema.placed_on(table.name, index.name):
                id = ids[entity.name]
                made[id, f"x-{at}-{id}", "index"] = view.system.palette.colour(entity.name)
        for at, vector in enumerate(table.vectors):
            for entity in view.system.schema.entities_of(table.name):
                if has(entity, vector):
                    id = ids[entity.name]
                    made[id, f"v-{at}-{id}", "index"] = view.system.palette.colour(entity.name)
    return [
        el("i", hidden=True, data_from=source, data_to=target, data_edge=kind, data_e=colour)
        for (source, target, kind), colour in made.items()
    ]


def _legend() -> Html:
    def line(kind: str) -> Html:
        path = el("path", class_=f"edge {kind}", d="M0 4H30")
        return el("svg", path, width="30", height="8", class_="e4", aria_hidden="true")

    chip = el("span", "Ab", class_="chip e4", aria_hidden="true")
    hollow = el("span", "Cd", class_="chip e4 copy", aria_hidden="true")
    return el(
        "div",
        el("span", chip, " canonical"),
        el("span", hollow, " copy: the colour of its canonical, hollow"),
        el("span", line("copy"), " copied"),
        el("span", line("field"), " field kept equal"),
        el("span", line("count"), " counted"),
        el("span", line("index"), " also in an index"),
        class_="legend",
    )
