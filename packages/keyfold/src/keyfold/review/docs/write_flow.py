"""The data flow of a write: the write, its transaction, and later consequences."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.design.schema import Effect, Follows, OperationSchema, Schema
from keyfold.review.docs.svg import Drawing, sans_width

CARD, GAP, TOP = 46, 10, 30


@dataclass(frozen=True)
class WriteCard:
    """One card: what happens to which entity, and why."""

    entity: str
    action: str
    note: str = ""


@dataclass(frozen=True)
class Flow:
    """A write with all its consequences."""

    name: str
    writes: tuple[WriteCard, ...]
    atomic: bool
    later: tuple[tuple[str, WriteCard], ...] = ()


def flows(schema: Schema) -> tuple[Flow, ...]:
    """The declared operations; without any, the writes that maintainers follow."""
    if schema.operations:
        return tuple(_operation(schema, operation) for operation in schema.operations)
    found = (_upkeep(schema, entity.name) for entity in schema.entities)
    return tuple(flow for flow in found if len(flow.writes) > 1 or flow.later)


def _operation(schema: Schema, operation: OperationSchema) -> Flow:
    written = {effect.entity for effect in operation.effects}
    later = [
        (consumer.name, _card(effect))
        for consumer in schema.consumers
        if written & set(consumer.entities)
        for effect in consumer.effects
    ]
    stated = {name for name, _ in later}
    later += [
        (each.name, _follow_card(each))
        for each in schema.follows
        if each.source in written and each.fact == "job" and each.found is not None
        if each.name not in stated
    ]
    return Flow(
        operation.name,
        tuple(_card(effect) for effect in operation.effects),
        bool(operation.atomic),
        tuple(later),
    )


def _card(effect: Effect) -> WriteCard:
    action = f"{effect.action} each" if effect.each else effect.action
    notes = [", ".join(effect.fields)] if effect.fields else []
    notes += ["guarded"] if effect.guarded else []
    notes += [f"found in {effect.via_index}"] if effect.via_index else []
    return WriteCard(effect.entity, action, " · ".join(notes))


def _upkeep(schema: Schema, name: str) -> Flow:
    together = [WriteCard(name, "write", "the item itself")]
    later: list[tuple[str, WriteCard]] = []
    stated = {consumer.name for consumer in schema.consumers}
    for each in schema.follows:
        if each.source != name or each.name in stated or not (card := _follow_card(each)).action:
            continue
        if each.joins and each.fact != "job":
            together.append(card)
        elif each.sync == "stream" or each.fact == "job":
            later.append(("stream", card))
    later += [
        (consumer.name, _card(effect))
        for consumer in schema.consumers
        if name in consumer.entities
        for effect in consumer.effects
    ]
    return Flow(f"Writing {name}", tuple(together), len(together) > 1, tuple(later))


_ACTIONS = {"copy": "keep equal", "amount": "count", "claim": "claim", "best": "keep best"}


def _follow_card(each: Follows) -> WriteCard:
    """A structure's effect on its target; None if it only reads."""
    shown = ", ".join(each.writes)
    if each.fact == "job" and each.found is not None:
        action = "delete each" if each.deletes else "update each"
        notes = [shown, "guarded", f"found in {each.found}" if each.found else ""]
        return WriteCard(each.target, action, " · ".join(note for note in notes if note))
    note = f"unique {shown}" if each.fact == "claim" else _short(shown)
    return WriteCard(each.target or "marker", _ACTIONS.get(each.fact, ""), note)


def _short(text: str) -> str:
    return text if len(text) <= 46 else f"{text[:45]}…"


def write_flow(flow: Flow) -> str:
    """The write, its transaction (framed), and what follows."""
    drawing = Drawing(f"Data flow of {flow.name}")
    high = len(flow.writes) * (CARD + GAP) - GAP
    middle = TOP + high / 2
    start = sans_width(flow.name) * 1.2 + 28
    drawing.box(0, middle - 17, start, 34, "ground", r=17)
    drawing.text(start / 2, middle + 4.5, flow.name, "name", anchor="middle")
    width = _column(flow.writes)
    x = start + 76
    drawing.arrow(start, middle, x - 16 if flow.atomic else x, middle)
    for number, write in enumerate(flow.writes, 1):
        step = f"{number}. " if len(flow.writes) > 1 and not flow.atomic else ""
        _draw(drawing, write, x, TOP + (number - 1) * (CARD + GAP), width, step)
    _caption(drawing, flow, x)
    if flow.atomic:
        drawing.box(x - 16, TOP - 14, width + 32, high + 28, "frame")
    if flow.later:
        _later(drawing, flow, (x + width + (16 if flow.atomic else 0), middle), high)
    return drawing.render()


def _caption(drawing: Drawing, flow: Flow, x: float) -> None:
    if flow.atomic:
        drawing.text(x - 16, 10, "one transaction", "slot")
    elif len(flow.writes) > 1:
        drawing.text(x, 10, "one after the other", "warm")


def _later(drawing: Drawing, flow: Flow, start: tuple[float, float], high: float) -> None:
    x = start[0] + 96
    width = _column(tuple(write for _, write in flow.later))
    y = max(TOP, TOP + (high - len(flow.later) * (CARD + GAP) + GAP) / 2)
    drawing.text(x, y - 14, "later, from the stream", "green")
    for _, write in flow.later:
        drawing.arrow(*start, x, y + CARD / 2, "count")
        _draw(drawing, write, x, y, width)
        y += CARD + GAP


def _column(writes: tuple[WriteCard, ...]) -> float:
    return max(
        170.0,
        *[
            max(sans_width(w.entity) * 1.25 + sans_width(w.action) + 40, sans_width(w.note)) + 26
            for w in writes
        ],
    )


def _draw(
    drawing: Drawing, write: WriteCard, x: float, y: float, width: float, step: str = ""
) -> None:
    drawing.box(x, y, width, CARD)
    title = y + (19 if write.note else CARD / 2 + 4.5)
    drawing.text(x + 12, title, step + write.entity, "name")
    drawing.text(x + width - 12, title, write.action, "violet", anchor="end")
    if write.note:
        drawing.text(x + 12, y + 36, write.note, "soft")
