"""The map of a table: its items by partition in key order, their places on the indexes, copies and
counts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, KeyTemplates, Schema, TableSchema
from keyfold.review.docs.relations import relations
from keyfold.review.docs.svg import COLOURS, Drawing, mono_width, sans_width

ROW, HEAD, GAP = 24, 28, 14
CHIP, BESIDE, LANE = 36, 46, 11
_SLOT = re.compile(r"\{[^{}]*\}")


def key_map(schema: Schema, table: TableSchema) -> str:
    """The table on the left, its indexes on the right; a frame for each kind of partition."""
    drawing = Drawing(f"Keys of {table.name}")
    marks = _marks(schema)
    own = [(e, e.key) for e in schema.entities_of(table.name) if e.key is not None]
    attributes = " / ".join(table.key_attributes)
    rows = dict(_list(drawing, _Title(table.name, attributes), _group(own), (0, 0), marks))
    _tie(drawing, schema, rows)
    x = drawing.width + BESIDE
    bottom = 0.0
    for index in table.indexes:
        placed = _group([(e, p.key) for e, p in schema.placed_on(table.name, index.name)])
        if placed:
            title = _Title(index.name, index.key_text)
            there = _list(drawing, title, placed, (x, bottom), marks)
            bottom = there[-1][1].y + ROW + GAP + 8
            for item, entry in ((rows.get(name), entry) for name, entry in there):
                if item is not None:
                    drawing.place(item.x + item.width, item.y, entry.x, entry.y)
    return drawing.render()


@dataclass(frozen=True)
class _Title:
    name: str
    attributes: str


@dataclass(frozen=True)
class _Row:
    """Where an entity's row begins, at half its height, and how wide it is."""

    x: float
    y: float
    width: float


_Placed = dict[str, list[tuple[EntitySchema, KeyTemplates]]]
_Marks = dict[str, tuple[int, bool]]


def _marks(schema: Schema) -> _Marks:
    """The colour of each entity, and whether it is a copy: one has the colour of its source."""
    sources = {r.source: r.target for r in relations(schema) if r.kind == "copy"}
    own = [e.name for e in schema.entities if e.name not in sources and e.role == "canonical"]
    colours = {name: number % COLOURS + 1 for number, name in enumerate(own)}
    return {
        e.name: (
            colours.get(sources.get(e.name, e.name), 0),
            e.name in sources or e.role == "feed_item",
        )
        for e in schema.entities
    }


def _list(
    drawing: Drawing, title: _Title, placed: _Placed, at: tuple[float, float], marks: _Marks
) -> list[tuple[str, _Row]]:
    """Draw the partitions of a table or an index; the rows with their entities."""
    x, y = at
    keys = [row for partition in placed.values() for row in partition]
    key_at = CHIP + max([sans_width(entity.name) for entity, _ in keys], default=0) * 1.4 + 14
    sorts = [mono_width(key.sort.text if key.sort else "") for _, key in keys]
    heads = [mono_width(partition) + 24 for partition in placed]
    width = max([180.0, key_at + max(sorts, default=0) + 12, *heads])
    drawing.text(x, y + 12, title.name, "name")
    drawing.text(x + sans_width(title.name) * 1.35 + 12, y + 12, title.attributes, "mono soft")
    y += 22
    rows: list[tuple[str, _Row]] = []
    for partition, entities in placed.items():
        height = HEAD + ROW * len(entities)
        drawing.box(x, y, width, height, "card")
        drawing.template(x + 12, y + 19, partition)
        drawing.line(x, y + HEAD, x + width, y + HEAD)
        for number, (entity, key) in enumerate(entities):
            middle = y + HEAD + ROW * number + ROW / 2
            drawing.chip(x + 8, middle, entity.name, *marks[entity.name])
            drawing.text(x + CHIP, middle + 4, entity.name, "name")
            drawing.template(x + key_at, middle + 4, key.sort.text if key.sort else "")
            rows.append((entity.name, _Row(x, middle, width)))
        y += height + GAP
    return rows


def _tie(drawing: Drawing, schema: Schema, rows: dict[str, _Row]) -> None:
    """Lines beside the table: from an item to its copies, and to the numbers that count it."""
    lanes: list[list[tuple[float, float]]] = []
    # A copy points at its source, and what is counted at its holder.
    ends = dict.fromkeys(
        (one.target, one.source, one.kind)
        if one.kind == "copy"
        else (one.source, one.target, one.kind)
        for one in relations(schema)
        if one.kind
    )
    for first, last, kind in ends:
        if first == last or first not in rows or last not in rows:
            continue
        start, end = rows[first].y, rows[last].y
        span = (min(start, end), max(start, end))
        lane = next((n for n, taken in enumerate(lanes) if _is_free(taken, span)), len(lanes))
        lanes += [[]] if lane == len(lanes) else []
        lanes[lane].append(span)
        drawing.bracket(-14 - LANE * lane, start, end, kind)


def _is_free(taken: list[tuple[float, float]], span: tuple[float, float]) -> bool:
    return all(span[1] < low or high < span[0] for low, high in taken)


def _group(keys: list[tuple[EntitySchema, KeyTemplates]]) -> _Placed:
    """By partition, the fullest first: `USER#{followerId}` and `USER#{userId}` are the same."""
    shapes: dict[str, list[tuple[EntitySchema, KeyTemplates]]] = {}
    for entity, key in keys:
        shapes.setdefault(_SLOT.sub("{}", key.partition.text), []).append((entity, key))
    grouped: _Placed = {}
    for _, rows in sorted(shapes.items(), key=lambda each: (-len(each[1]), each[0])):
        names = Counter(key.partition.text for _, key in rows)
        rows.sort(key=lambda row: row[1].sort.text if row[1].sort else "")
        grouped[names.most_common(1)[0][0]] = rows
    return grouped
