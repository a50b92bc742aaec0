"""State machine steps: the conditions a write carries, and the errors when they fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyfold.design.codec import encoder
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.formats import text_of
from keyfold.design.states import States
from keyfold.errors import StepRefused, ValueRefused
from keyfold.runtime import changes as change
from keyfold.runtime.expression import Expressions
from keyfold.runtime.intent import Update


def _state_changes(spec: EntitySpec, intent: Update) -> Iterator[tuple[str, States[Any], Any]]:
    """The state fields that an update sets, with their new values."""
    if intent.counting or intent.if_missing == "create":
        return
    for name, states in spec.states.items():
        one = intent.changes.get(name)
        if isinstance(one, change.Set):
            yield name, states, one.value


def step_conditions(expressions: Expressions, spec: EntitySpec, intent: Update) -> list[str]:
    """The conditions on the states that an update leaves."""
    found = []
    for name, states, value in _state_changes(spec, intent):
        field = spec.fields[name]
        before = states.before(value)
        if not before:
            raise StepRefused(
                f"{intent.ref}: {name} cannot become {text_of(value)}: no transition leads there",
                field=name,
                state="",
            )
        listed = ", ".join(expressions.value(encoder(field)(one)) for one in before)
        found.append(f"{expressions.name(field.attribute)} IN ({listed})")
    return found


def step_refused(spec: EntitySpec, intent: Update, held: Entity) -> StepRefused | None:
    """Why an item cannot take the steps of an update; None if it can."""
    for name, states, value in _state_changes(spec, intent):
        now = getattr(held, name)
        if text_of(value) in map(text_of, states.after(now)):
            continue
        ways = " or ".join(map(text_of, states.after(now)))
        allowed = f"from there it can become {ways}" if ways else "it is final"
        return StepRefused(
            f"{intent.ref}: {name} cannot change from {text_of(now)} to {text_of(value)}; "
            f"{allowed}",
            field=name,
            state=text_of(now),
        )
    return None


def refuse_start(new: Entity) -> None:
    """Refuse a new item whose state is not an initial one."""
    for name, states in new.__spec__.states.items():
        value = text_of(getattr(new, name))
        if value not in map(text_of, states.start):
            begin = " or ".join(map(text_of, states.start))
            raise ValueRefused(
                f"{new.ref()}: {name} cannot start as {value}; a new item is {begin}",
                {name: f"a new item is {begin}"},
            )
