"""The diagram of entities: cards with their keys, and their relations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from keyfold.design.schema import EntitySchema, Schema
from keyfold.review.check.key_sets import templates_of
from keyfold.review.docs.relations import EntityRelation, relations
from keyfold.review.docs.svg import Drawing, mono_width, sans_width

GAP_X, GAP_Y, CARD, LANE = 74, 22, 66, 4


def entity_map(schema: Schema) -> str:
    """Referenced entities on the left, those that refer to them further right."""
    drawing = Drawing(f"Entities of {schema.name}")
    found = relations(schema)
    columns = _columns(schema, found)
    steps = _steps(columns, found)
    places: dict[str, Box] = {}
    x = 0.0
    heights = {name: CARD if name in schema.by_entity else LANE for c in columns for name in c}
    tallest = max((_height(column, heights) for column in columns), default=0)
    for column in _order_by_ties(columns, steps):
        cards = [schema.by_entity[name] for name in column if name in schema.by_entity]
        width = max(_width(entity) for entity in cards)
        y = (tallest - _height(column, heights)) / 2
        for name in column:
            places[name] = (x, y, width, heights[name])
            y += heights[name] + GAP_Y
        x += width + GAP_X
    for source, target, kind in steps:
        shift = {"copy": -10, "count": 12}.get(kind, 0) if target in schema.by_entity else 0
        _connect(drawing, places[source], places[target], kind, shift)
    for entity in schema.entities:
        _card(drawing, entity, *places[entity.name][:3])
    return drawing.render()


Box = tuple[float, float, float, float]
"""Where an entity or a lane is: left, top, width, height."""
Step = tuple[str, str, str]
"""A part of a relation: from an entity or lane to the next, and its kind."""


def _height(column: list[str], heights: dict[str, int]) -> int:
    return sum(heights[name] + GAP_Y for name in column)


def _role(entity: EntitySchema) -> str:
    return "" if entity.role == "canonical" else entity.role.replace("_", " ")


def _width(entity: EntitySchema) -> float:
    lines = [one.text for one in templates_of(entity.key)] if entity.key else []
    title = sans_width(entity.name) * 1.25 + sans_width(_role(entity)) + 18
    return max([130.0, title, *[mono_width(line) for line in lines]]) + 24


def _columns(schema: Schema, found: tuple[EntityRelation, ...]) -> list[list[str]]:
    depth = {entity.name: 0 for entity in schema.entities}
    ties = [(r.source, r.target) for r in found if r.kind != "count"]
    # The longest path, bounded so that cycles end.
    for _ in range(min(len(depth), 6)):
        for source, target in ties:
            if source != target and depth[source] <= depth[target]:
                depth[source] = min(depth[target] + 1, 5)
    columns: dict[int, list[str]] = {}
    for name, level in depth.items():
        columns.setdefault(level, []).append(name)
    return [columns[level] for level in sorted(columns)]


def _steps(columns: list[list[str]], found: tuple[EntityRelation, ...]) -> list[Step]:
    """Relations from column to column: through lanes between the cards that they pass."""
    level = {name: number for number, column in enumerate(columns) for name in column}
    steps: dict[Step, None] = {}
    for relation in found:
        start, end = level[relation.source], level[relation.target]
        between = range(start + 1, end) if start < end else range(start - 1, end, -1)
        stops = [relation.source]
        for number in between:
            lane = f"{relation.target} {relation.kind} {number}"
            stops.append(lane)
            if lane not in columns[number]:
                columns[number].append(lane)
        steps |= dict.fromkeys(
            (a, b, relation.kind) for a, b in pairwise([*stops, relation.target])
        )
    return [*steps]


def _order_by_ties(columns: list[list[str]], steps: list[Step]) -> list[list[str]]:
    """Each entity near the middle of its relations; unrelated ones at the bottom."""
    ties: dict[str, list[str]] = {}
    for source, target, _ in steps:
        ties.setdefault(source, []).append(target)
        ties.setdefault(target, []).append(source)
    for _ in range(4):
        for column in columns:
            height = {n: (row + 0.5) / len(c) for c in columns for row, n in enumerate(c)}
            column.sort(key=_nearness(ties, height))
    return columns


def _nearness(ties: dict[str, list[str]], height: dict[str, float]) -> Callable[[str], float]:
    def middle(name: str) -> float:
        known = [height[other] for other in ties.get(name, [])]
        return sum(known) / len(known) if known else 2.0

    return middle


def _card(drawing: Drawing, entity: EntitySchema, x: float, y: float, width: float) -> None:
    drawing.box(x, y, width, CARD)
    drawing.text(x + 12, y + 20, entity.name, "name")
    if _role(entity):
        drawing.text(x + width - 12, y + 20, _role(entity), "soft", anchor="end")
    if entity.key is None:
        drawing.text(x + 12, y + 40, "no primary key", "warm")
        return
    for line, template in enumerate(templates_of(entity.key)):
        drawing.template(x + 12, y + 40 + 16 * line, template.text)


def _connect(drawing: Drawing, source: Box, target: Box, kind: str, shift: int) -> None:
    x1, y1, w1, h1 = source
    x2, y2, w2, h2 = target
    leaves, comes = (x1, x2 + w2) if x1 > x2 + 1 else (x1 + w1, x2 if x2 > x1 + 1 else x2 + w2)
    start, end = y1 + h1 / 2, y2 + h2 / 2 + shift
    through = 2 * x1 + w1 - leaves if h1 == LANE else leaves
    start += 0 if h1 == LANE else shift
    drawing.arrow(leaves, start, comes, end, kind, through=through, head=h2 != LANE)
