"""The diagram of entities: cards with their keys, and their relations."""

from __future__ import annotations

from collections.abc import Callable

from keyfold.design.schema import EntitySchema, Schema
from keyfold.review.docs.relations import EntityRelation, relations
from keyfold.review.docs.svg import Drawing, mono_width, sans_width

GAP_X, GAP_Y, CARD = 74, 22, 66
ROLES = {
    "canonical": "",
    "pointer": "pointer",
    "edge": "edge",
    "counter": "counter",
    "feed_item": "feed item",
    "support": "support",
}


def entity_map(schema: Schema) -> str:
    """Referenced entities on the left, those that refer to them further right."""
    drawing = Drawing(f"Entities of {schema.name}")
    found = relations(schema)
    columns = _columns(schema, found)
    places: dict[str, tuple[float, float, float]] = {}
    x = 0.0
    tallest = max((len(column) for column in columns), default=0) * (CARD + GAP_Y)
    for column in columns:
        width = max(_width(entity) for entity in column)
        y = (tallest - len(column) * (CARD + GAP_Y)) / 2
        for entity in column:
            places[entity.name] = (x, y, width)
            y += CARD + GAP_Y
        x += width + GAP_X
    for relation in found:
        _connect(drawing, places, relation)
    for entity in schema.entities:
        if entity.name in places:
            _card(drawing, entity, *places[entity.name])
    return drawing.render()


def _width(entity: EntitySchema) -> float:
    lines = (
        [entity.key.partition.text, entity.key.sort.text if entity.key.sort else ""]
        if (entity.key)
        else ["no key"]
    )
    title = sans_width(entity.name) * 1.25 + sans_width(ROLES[entity.role]) + 18
    return max([130.0, title, *[mono_width(line) for line in lines]]) + 24


def _columns(schema: Schema, found: tuple[EntityRelation, ...]) -> list[list[EntitySchema]]:
    depth = {entity.name: 0 for entity in schema.entities}
    ties = [(r.source, r.target) for r in found if r.kind != "count"]
    # The longest path, bounded so that cycles end.
    for _ in range(min(len(depth), 6)):
        for source, target in ties:
            if source != target and depth[source] <= depth[target]:
                depth[source] = min(depth[target] + 1, 5)
    columns: dict[int, list[EntitySchema]] = {}
    for entity in schema.entities:
        columns.setdefault(depth[entity.name], []).append(entity)
    return _order_by_ties([columns[level] for level in sorted(columns)], found)


def _order_by_ties(
    columns: list[list[EntitySchema]], found: tuple[EntityRelation, ...]
) -> list[list[EntitySchema]]:
    """Each entity near the middle of its relations; unrelated ones at the bottom."""
    ties: dict[str, list[str]] = {}
    for relation in found:
        ties.setdefault(relation.source, []).append(relation.target)
        ties.setdefault(relation.target, []).append(relation.source)
    for _ in range(4):
        for column in columns:
            height = {
                entity.name: (row + 0.5) / len(other)
                for other in columns
                for row, entity in enumerate(other)
            }
            column.sort(key=_nearness(ties, height))
    return columns


def _nearness(
    ties: dict[str, list[str]], height: dict[str, float]
) -> Callable[[EntitySchema], float]:
    def middle(entity: EntitySchema) -> float:
        known = [height[name] for name in ties.get(entity.name, []) if name in height]
        return sum(known) / len(known) if known else 2.0

    return middle


def _card(drawing: Drawing, entity: EntitySchema, x: float, y: float, width: float) -> None:
    drawing.box(x, y, width, CARD)
    drawing.text(x + 12, y + 20, entity.name, "name")
    if ROLES[entity.role]:
        drawing.text(x + width - 12, y + 20, ROLES[entity.role], "soft", anchor="end")
    if entity.key is None:
        drawing.text(x + 12, y + 40, "no primary key", "warm")
        return
    drawing.template(x + 12, y + 40, entity.key.partition.text)
    if entity.key.sort is not None:
        drawing.template(x + 12, y + 56, entity.key.sort.text)


def _connect(
    drawing: Drawing, places: dict[str, tuple[float, float, float]], relation: EntityRelation
) -> None:
    x1, y1, w1 = places[relation.source]
    x2, y2, w2 = places[relation.target]
    shift = {"copy": -10, "count": 12}.get(relation.kind, 0)
    if x1 > x2 + 1:
        drawing.arrow(x1, y1 + CARD / 2 + shift, x2 + w2, y2 + CARD / 2 + shift, relation.kind)
    elif x2 > x1 + 1:
        drawing.arrow(x1 + w1, y1 + CARD / 2 + shift, x2, y2 + CARD / 2 + shift, relation.kind)
    else:
        drawing.arrow(x1 + w1, y1 + CARD / 2 + shift, x2 + w2, y2 + CARD / 2 + shift, relation.kind)
