"""State machines of a design document: a diagram, and each transition with its operation."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, Schema
from keyfold.review.docs.blocks import Block, Grid, Heading, Picture, anchor
from keyfold.review.docs.svg import Drawing, sans_width

HIGH, GAP_X, GAP_Y = 30, 64, 22


def states(schema: Schema) -> Iterator[Block]:
    for entity in schema.entities:
        for attribute in entity.attributes:
            if not attribute.states:
                continue
            name = f"{entity.name}.{attribute.field}"
            yield Heading(name, anchor("states", name))
            yield Picture(
                anchor("states", name),
                state_map(name, attribute),
                f"The states of {name}. New items begin on the left; double frames may be the end.",
            )
            rows = tuple(
                (
                    f"`{step.before}`",
                    f"`{step.after}`",
                    _makers(schema, entity, attribute, i) or "–",
                )
                for i, step in enumerate(attribute.states)
            )
            yield Grid(("From", "To", "Made by"), rows)


def _makers(schema: Schema, entity: EntitySchema, attribute: AttributeSchema, place: int) -> str:
    """The operations that make a transition: those that set the field to this value."""
    step = attribute.states[place]
    found = dict.fromkeys([step.by] if step.by else [])
    for operation in schema.operations:
        for effect in operation.effects:
            if effect.entity == entity.name and (attribute.field, step.after) in effect.sets:
                found[operation.name] = None
    return ", ".join(found)


def state_map(name: str, attribute: AttributeSchema) -> str:
    """Columns by number of steps from the start; unreachable states come last."""
    drawing = Drawing(f"States of {name}")
    depth = attribute.reached_states()
    named = [one for step in attribute.states for one in (step.before, step.after)]
    every = dict.fromkeys((*depth, *attribute.values, *named))
    last = max(depth.values()) + 1
    columns: dict[int, list[str]] = {}
    for state in every:
        columns.setdefault(depth.get(state, last), []).append(state)
    places: dict[str, tuple[float, float, float]] = {}
    tallest = max(map(len, columns.values())) * (HIGH + GAP_Y)
    x = 0.0
    for _, column in sorted(columns.items()):
        width = max(sans_width(state) for state in column) + 28
        y = (tallest - len(column) * (HIGH + GAP_Y)) / 2
        for state in column:
            places[state] = (x, y, width)
            y += HIGH + GAP_Y
        x += width + GAP_X
    for step in attribute.states:
        _arrow(drawing, places[step.before], places[step.after])
    for state, (left, top, width) in places.items():
        drawing.box(left, top, width, HIGH, r=14)
        if state in attribute.final:
            drawing.box(left + 3, top + 3, width - 6, HIGH - 6, r=11)
        kind = "name" if state in depth else "warm"
        drawing.text(left + width / 2, top + HIGH / 2 + 4, state, kind, anchor="middle")
    return drawing.render()


def _arrow(
    drawing: Drawing, source: tuple[float, float, float], target: tuple[float, float, float]
) -> None:
    (x1, y1, w1), (x2, y2, w2) = source, target
    middle = HIGH / 2
    if x2 > x1 + 1:
        drawing.arrow(x1 + w1, y1 + middle, x2, y2 + middle)
    elif x1 > x2 + 1:
        drawing.arrow(x1, y1 + middle + 6, x2 + w2, y2 + middle + 6)
    else:
        drawing.arrow(x1 + w1, y1 + middle, x2 + w2, y2 + middle + (8 if source == target else 0))
