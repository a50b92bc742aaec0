"""The map: the contents of tables and indexes, copies, and what maintains them."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from keyfold.design.schema import TableSchema
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.key_map import key_map
from keyfold_workbench.cost.sizes import has
from keyfold_workbench.studio.lane import ends, lanes_of
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.parts import empty, head, link, words
from keyfold_workbench.studio.view import PageMissing, PageView

COMPACT = 12
"""With more entities, each takes one line."""
QUIET = 40
"""With more entities, lines are drawn only for the hovered one."""
PATIENCE = 1.5
"""Seconds to wait for the first read of the tables, so that entities show counts."""
EDGES = {"copy": "copy", "amount": "count", "shown": "field", "best": "field"}


def design_map(view: PageView) -> Html:
    """The whole design as one picture."""
    schema = view.system.schema
    if not schema.entities:
        nothing = empty("No entities", "The entities of a design appear here.")
        return view.page("Map", head("Map", ""), nothing, current="map")
    view.system.survey.tables(PATIENCE)
    number = len(schema.entities)
    classes = ["map"]
    classes += ["compact"] if number > COMPACT else []
    classes += ["quiet"] if number > QUIET else []
    tables = [table for table in schema.tables if schema.entities_of(table.name)]
    ids = {entity.name: f"t-{at}" for at, entity in enumerate(schema.entities)}
    lanes = [lane for table in tables for lane in lanes_of(view, table, ids)]
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
        "What is stored together in ",
        el("b", named),
        ". A frame is one partition; its rows come in the order of their sort keys. Point at an "
        "entity to see only what belongs to it.",
    )
    return view.page(
        "Map",
        head("Map", says, *_controls(quiet=number > QUIET)),
        el(
            "div.panel",
            el("header", _legend()),
            el("div.mapframe", picture),
            el("footer", _pictures(view, tables)),
        ),
        current="map",
    )


def _pictures(view: PageView, tables: list[TableSchema]) -> Html:
    """Downloads of the design's diagrams."""
    ways = []
    for name, says in (
        ("entities", "Entities"),
        *((f"keys-{one.name}", f"Keys of {one.name}") for one in tables),
    ):
        where = view.at("map", f"{name}.svg")
        as_png = el("button.link", "PNG", data_png=where)
        ways.append(text(says, " ", link(where, "SVG", class_="link"), " ", as_png))
    return el("span.small", "Download: ", words(ways))


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
        "input.narrow",
        type="text",
        placeholder="Find an entity",
        aria_label="Find an entity",
        data_sift=True,
    )
    zoom = el(
        "span.tabs",
        (
            el("button", word, data_zoom=step, aria_label=label)
            for word, step, label in (
                ("−", "out", "Smaller"),
                ("1:1", "fit", "Fit"),
                ("+", "in", "Larger"),
            )
        ),
        role="group",
        aria_label="Zoom",
    )
    lines = el(
        "span.tabs",
        (
            el(
                "button",
                word,
                data_lines=kind,
                aria_pressed="true" if (kind == "all") != quiet else "false",
            )
            for word, kind in (("All lines", "all"), ("None", "none"))
        ),
        role="group",
        aria_label="Lines",
    )
    return [find, zoom, lines]


def _edges(view: PageView, ids: dict[str, str]) -> list[Html]:
    """What the script draws: pairs of nodes, with the kind and colour of the line."""
    made: dict[tuple[str, str, str], str] = {}
    for one in view.system.schema.follows:
        kind = EDGES.get(one.fact)
        source, target = ends(one)
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
        return el("svg.e4", path, width="30", height="8", aria_hidden="true")

    chip = el("span.chip.e4", "Ab", aria_hidden="true")
    hollow = el("span.chip.e4.copy", "Cd", aria_hidden="true")
    return el(
        "div.legend",
        el("span", chip, " canonical"),
        el("span", hollow, " copy: the colour of its canonical, hollow"),
        el("span", line("copy"), " copied"),
        el("span", line("field"), " field kept equal"),
        el("span", line("count"), " counted"),
        el("span", line("index"), " also in an index"),
    )
