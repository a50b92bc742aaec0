"""W, continued: state machines. Is every state reachable, and can every item reach an end?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold.review.check.evidence import Evidence, keys_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule


@rule("W12", "state-unreachable", "error", "No item can reach a state")
def state_unreachable(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _with_states(facts):
        reached = attribute.reached_states()
        named = (one for step in attribute.states for one in (step.before, step.after))
        states = dict.fromkeys((*attribute.values, *named))
        lost = [state for state in states if state not in reached]
        if lost:
            begin = " or ".join(attribute.start or (attribute.states[0].before,))
            yield Defect(
                entity,
                f"a new item is {begin}, and no step leads to {', '.join(lost)}",
                "Add the missing step, or remove the state.",
                subject=f"{entity.name}.{attribute.field}",
                evidence=_reach_example(attribute, set(reached)),
            )


@rule("W13", "state-without-way-out", "warning", "An item can never leave a state")
def state_without_way_out(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _with_states(facts):
        ends = set(attribute.final or _ends(attribute))
        if not ends:
            continue
        for _ in attribute.states:
            ends |= {step.before for step in attribute.states if step.after in ends}
        stuck = [state for state in attribute.reached_states() if state not in ends]
        if stuck:
            yield Defect(
                entity,
                f"from {', '.join(stuck)} no step leads to an end",
                "Add the missing step, or name the state in final=.",
                subject=f"{entity.name}.{attribute.field}",
                evidence=_reach_example(attribute, ends),
            )


def _reach_example(attribute: AttributeSchema, ends: set[str]) -> Evidence:
    """The states that an item reaches, with the steps that lead on."""
    after: dict[str, list[str]] = {state: [] for state in attribute.reached_states()}
    for step in attribute.states:
        if step.before in after:
            after[step.before].append(step.after)
    rows = (
        (
            f"`{state}`",
            f"goes on to {', '.join(to)}" if to else "ends" if state in ends else "never leaves",
        )
        for state, to in after.items()
    )
    return keys_example("an item that is", *rows)


def _with_states(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema]]:
    return ((entity, one) for entity, one in facts.all_attributes() if one.states)


def _ends(attribute: AttributeSchema) -> set[str]:
    left = {step.before for step in attribute.states}
    return {step.after for step in attribute.states} - left
