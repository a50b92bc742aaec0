"""Differences of what follows from writes: pointers, unique values, numbers, shown fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keyfold.design.schema import Condition, Follows, Schema
from keyfold.maintain.structure import restated
from keyfold.migrations.schema_change import MOVES, SchemaChange
from keyfold_engine.expressions.text import condition_text


def diff_structures(
    before: Schema, after: Schema, entities: list[SchemaChange]
) -> Iterator[SchemaChange]:
    """Consequences that are new, changed or removed."""
    known = {each.name: each for each in before.follows}
    moved = {c.subject for c in entities if c.kind in MOVES}
    for new in after.follows:
        old = known.pop(new.name, None)
        if old is None:
            yield from _find_additions(before, after, new)
        elif changes := list(_differences(old, new)):
            words = f"{new.name}: {', '.join(changes)}"
            yield SchemaChange("structure changed", new.source, words, old, new, new.name)
        elif new.fact == "amount" and restated(new) and new.source in moved:
            name = new.name.removeprefix("counter ")
            words = f"{name} is counted again, because {new.source} moves"
            yield SchemaChange("structure changed", new.target, words, old, new, new.name)
    for old in known.values():
        if old.fact not in ("need", "job") and (not old.target or old.target in after.by_entity):
            words = f"{old.name} is no longer maintained"
            yield SchemaChange("structure removed", old.source, words, old, None, old.name)


def _find_additions(before: Schema, after: Schema, new: Follows) -> Iterator[SchemaChange]:
    old_entity, new_entity = before.by_entity.get(new.source), after.by_entity.get(new.source)
    if new.fact == "amount" and restated(new):
        name = new.name.removeprefix("counter ")
        words = f"{name} counts {new.source}"
        yield SchemaChange("structure added", new.target, words, None, new, new.name)
    elif new.fact == "claim" and old_entity is not None:
        words = f"{' + '.join(new.writes)} of {new.source} becomes unique"
        yield SchemaChange("unique added", new.source, words, old_entity, new_entity)
    elif new.fact == "shown" and old_entity is not None:
        words = f"{new.source}.{', '.join(new.writes)} is copied from {new.target}"
        yield SchemaChange("structure added", new.source, words, None, new, new.name)
    elif new.fact in ("best", "amount") and old_entity is not None:
        words = f"{new.name} is maintained in {', '.join(new.writes)} of {new.target}"
        yield SchemaChange("structure added", new.target, words, None, new, new.name)


_COMPARED: Final = (
    *("source", "target", "writes", "adds", "via", "each", "when", "sums", "normalise", "marker"),
    *("by", "smallest", "shows", "creates", "stamps", "shards", "sync", "overflow", "fields"),
)


def _differences(old: Follows, new: Follows) -> Iterator[str]:
    """The differences in words."""
    for name in _COMPARED:
        before, after = getattr(old, name), getattr(new, name)
        if before == after or (name == "fields" and (old.when, old.via) != (new.when, new.via)):
            continue
        if name == "when":
            yield f"{condition_words(_text(after))} (before: {condition_words(_text(before))})"
        else:
            yield f"{name} changes from {_shown_value(before)} to {_shown_value(after)}"


def _text(condition: Condition | None) -> str:
    return "" if condition is None else condition_text(condition)


def _shown_value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_shown_value, value)) or "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value) or "nothing"


def condition_words(text: str) -> str:
    return f"where {text}" if text else "always"
