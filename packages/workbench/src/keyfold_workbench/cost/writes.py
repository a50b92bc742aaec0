"""The cost of a write: its item, what joins its transaction, and the stream's work after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyfold.design.schema import Effect
from keyfold_workbench.cost.consumer_parts import follow
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.part import Part, PricedWrite, Store, in_transaction, times
from keyfold_workbench.cost.transaction_parts import MARKER_UNITS, is_alone, item_transaction
from keyfold_workbench.cost.workload import WriteLoad

DEEPEST = 3
"""The recursion limit for a write that triggers itself."""


def write(figures: Figures, load: WriteLoad) -> PricedWrite:
    """The cost of one call."""
    parts: list[Part] = []
    for effect in load.effects:
        count = figures.each(load) if effect.each else 1.0
        parts += times(_effect(figures, effect, load), count)
    if load.once:
        # The request id is claimed, then stores the result.
        table = figures.schema.tables[0].name
        parts.append(Part(Store(table), "", 2 * MARKER_UNITS, "request id"))
    return PricedWrite(load.name, tuple(parts))


def _effect(figures: Figures, effect: Effect, load: WriteLoad) -> Iterator[Part]:
    entity = figures.schema.by_entity.get(effect.entity)
    if entity is None:
        return
    if load.expired:
        made = list(follow(figures, entity, effect, expired=True))
    else:
        parts = item_transaction(figures, entity, effect)
        alone = is_alone(parts) and not load.atomic
        made = parts if alone else list(in_transaction(parts))
    yield from made
    yield from (replace(part, streamed=True) for part in _follow(figures, made))


def _follow(figures: Figures, made: list[Part], depth: int = 0) -> Iterator[Part]:
    """The stream's work for each written item, and for its own writes."""
    gone = frozenset(p.entity for p in made if p.effect and p.effect.action == "delete")
    for part in made:
        if part.effect is None or depth == DEEPEST:
            continue
        entity = figures.schema.by_entity[part.entity]
        lost = gone - {part.entity} if part.why == "cascade" else frozenset[str]()
        after = list(times(follow(figures, entity, part.effect, gone=lost), part.items))
        yield from after
        yield from _follow(figures, after, depth + 1)
