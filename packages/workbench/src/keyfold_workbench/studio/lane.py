"""The lanes of the map: a table's partitions, its indexes, and the entities in them in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keyfold.design.schema import EntitySchema, Follows, KeyTemplates, TableSchema
from keyfold.design.template import Slot, Template
from keyfold_workbench.cost.sizes import has
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, plural, size
from keyfold_workbench.studio.parts import link, words
from keyfold_workbench.studio.survey import TableSurvey
from keyfold_workbench.studio.view import PageView

Member = tuple[EntitySchema, KeyTemplates, str, Child]
"""An entity in a frame: its key there, its id on the page, and what keeps it."""
PROJECTIONS = {"ALL": "all attributes", "KEYS_ONLY": "keys only", "INCLUDE": "some attributes"}


def lanes_of(view: PageView, table: TableSchema, ids: dict[str, str]) -> list[Html]:
    """A table, with its indexes beside it."""
    own = el("section.lane", _table(view, table, ids), aria_label=table.name)
    placed = el("section.lane", _indexes(view, table, ids), aria_label=f"Indexes of {table.name}")
    return [own, placed]


def _table(view: PageView, table: TableSchema, ids: dict[str, str]) -> Iterator[Html]:
    seen = view.system.survey.tables().get(table.name)
    names = ", ".join(table.key_attributes)
    told = names
    if seen is not None:
        items = count(seen.items, estimate=not seen.complete)
        told = f"{names} · {items} items · {' '.join(size(seen.bytes))}"
    yield el("h2", table.name, " ", el("small", told))
    members = [
        (entity, entity.key, ids[entity.name], _maintained_words(view, entity))
        for entity in view.system.schema.entities_of(table.name)
        if entity.key is not None and entity.role != "support"
    ]
    yield from _frames(view, seen, members)
    yield from _folded(view, table, ids)


def _frames(
    view: PageView, seen: TableSurvey | None, members: Sequence[Member], says: str = ""
) -> Iterator[Html]:
    """A frame for those whose partitions have one form, in the order of their sort keys."""
    frames: dict[str, list[Member]] = {}
    for one in members:
        frames.setdefault(_shape(one[1].partition), []).append(one)
    for held in frames.values():
        entity, key, _, _ = held[0]
        number = plural(len(held), "entity", "entities")
        nodes = [
            _node(view, one, own, id, seen.count(one.name) if seen else None, kept)
            for one, own, id, kept in sorted(held, key=lambda member: _order(member[1]))
        ]
        header = el("header", view.template(entity, key.partition), el("small", says or number))
        yield el("div.part", header, nodes)


def _shape(template: Template) -> str:
    return "".join("{}" if isinstance(part, Slot) else part.text for part in template.parts)


def _order(key: KeyTemplates) -> str:
    return key.sort.text if key.sort is not None else ""


def _indexes(view: PageView, table: TableSchema, ids: dict[str, str]) -> Iterator[Html]:
    schema = view.system.schema
    seen = view.system.survey.tables().get(table.name)
    several = len(schema.tables) > 1
    of_table = f" of {table.name}" if several else ""
    for at, index in enumerate(table.indexes):
        keys = index.key_text if index.has_several else ", ".join(index.key_attributes)
        yield el("h2", f"{index.name}{of_table}", " ", el("small", keys))
        members = [
            (entity, placement.key, f"x-{at}-{ids[entity.name]}", placement.note)
            for entity, placement in schema.placed_on(table.name, index.name)
        ]
        yield from _frames(view, seen, members, PROJECTIONS[index.projection])
    for at, vector in enumerate(table.vectors):
        distance = vector.distance.replace("_", " ")
        about = el("small", f"{vector.attribute}, {distance}")
        yield el("h2", f"{vector.name}{of_table}", " ", about)
        held = [one for one in schema.entities_of(table.name) if has(one, vector)]
        apart = el("code.key", vector.within or "all items")
        numbers = el("small", f"{vector.dimensions:,} numbers")
        yield el(
            "div.part",
            el("header", apart, numbers),
            [_node(view, one, None, f"v-{at}-{ids[one.name]}", None, None) for one in held],
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
        el("span.n", count(number)),
        view.template(entity, sort) if sort is not None else None,
        el("span.kept", kept) if kept else None,
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
        source, target = ends(one)
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


def ends(one: Follows) -> tuple[str, str]:
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
        el("div.part", nodes),
    )
