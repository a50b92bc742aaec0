"""The index map: for a table and each index, the items of one partition in key order."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, KeyTemplates, Schema, TableSchema
from keyfold.review.docs.svg import Drawing, mono_width, sans_width

ROW, HEAD, GAP = 21, 30, 18
PAGE = 1080
_SLOT = re.compile(r"\{[^{}]*\}")


def key_map(schema: Schema, table: TableSchema) -> str:
    """A list for the table and each of its indexes, a frame for each kind of partition."""
    drawing = Drawing(f"Keys of {table.name}")
    columns: list[Column] = []
    for name, attributes, placed in _columns(schema, table):
        if not placed:
            continue
        width = _width(name, placed)
        column = _room(columns, width)
        column.bottom = _list(drawing, column, (name, attributes), placed, width)
    return drawing.render()


@dataclass
class Column:
    """Where the next list can start."""

    x: float
    width: float
    bottom: float = 0


def _room(columns: list[Column], width: float) -> Column:
    """A new column while there is room; then the shortest one that is wide enough."""
    right = columns[-1].x + columns[-1].width + 34 if columns else 0.0
    wide = [column for column in columns if column.width >= width]
    if right + width > PAGE and wide:
        return min(wide, key=lambda column: column.bottom)
    columns.append(Column(right, width))
    return columns[-1]


def _list(
    drawing: Drawing, column: Column, title: tuple[str, str], placed: _Placed, width: float
) -> float:
    x, y = column.x, column.bottom
    drawing.text(x, y + 12, title[0], "name")
    drawing.text(x, y + 29, title[1], "mono soft")
    y += 44
    for partition, rows in placed.items():
        height = HEAD + ROW * len(rows) + 8
        drawing.box(x, y, width, height, "ground")
        drawing.template(x + 12, y + 20, partition)
        drawing.line(x, y + HEAD, x + width, y + HEAD)
        for number, (entity, key) in enumerate(rows):
            base = y + HEAD + ROW * number + 16
            drawing.template(x + 12, base, key.sort.text if key.sort else "")
            drawing.text(x + width - 12, base, entity.name, "soft", anchor="end")
        y += height + GAP
    return y + 14


_Placed = dict[str, list[tuple[EntitySchema, KeyTemplates]]]


def _columns(schema: Schema, table: TableSchema) -> list[tuple[str, str, _Placed]]:
    own = [(e, e.key) for e in schema.entities_of(table.name) if e.key is not None]
    columns = [(table.name, " / ".join(table.key_attributes), _group(own))]
    for index in table.indexes:
        placed = [(e, p.key) for e, p in schema.placed_on(table.name, index.name)]
        columns.append((index.name, index.key_text, _group(placed)))
    return columns


def _group(keys: list[tuple[EntitySchema, KeyTemplates]]) -> _Placed:
    """By partition: `USER#{followerId}` and `USER#{userId}` are the same."""
    shapes: dict[str, list[tuple[EntitySchema, KeyTemplates]]] = {}
    for entity, key in keys:
        shapes.setdefault(_SLOT.sub("{}", key.partition.text), []).append((entity, key))
    grouped: _Placed = {}
    for _, rows in sorted(shapes.items()):
        names = Counter(key.partition.text for _, key in rows)
        rows.sort(key=lambda row: row[1].sort.text if row[1].sort else "")
        grouped[names.most_common(1)[0][0]] = rows
    return grouped


def _width(name: str, placed: _Placed) -> float:
    rows = [
        mono_width(key.sort.text if key.sort else "") + sans_width(entity.name) + 56
        for keys in placed.values()
        for entity, key in keys
    ]
    heads = [mono_width(partition) + 30 for partition in placed]
    return max([180.0, sans_width(name) * 1.2, *rows, *heads])
