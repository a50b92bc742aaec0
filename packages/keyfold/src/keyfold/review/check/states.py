"""W, continued: state machines. Is every state reachable, and can every item reach an end?"""

from __future__ import annotations

from keyfold.design.schema import AttributeSchema
from keyfold.review.check.domains import STATES
from keyfold.review.check.rule import Found, hit, rule


@rule("W12", STATES)
def state_unreachable(attribute: AttributeSchema) -> Found | None:
    reached = attribute.reached_states()
    named = (one for step in attribute.states for one in (step.before, step.after))
    lost = [s for s in dict.fromkeys((*attribute.values, *named)) if s not in reached]
    begin = attribute.start or (attribute.states[0].before,)
    return hit(begin=begin, lost=lost) if lost else None


@rule("W13", STATES)
def state_without_way_out(attribute: AttributeSchema) -> Found | None:
    ends = set(attribute.final or _ends(attribute))
    if not ends:
        return None
    for _ in attribute.states:
        ends |= {step.before for step in attribute.states if step.after in ends}
    stuck = [state for state in attribute.reached_states() if state not in ends]
    return hit(stuck=stuck) if stuck else None


def _ends(attribute: AttributeSchema) -> set[str]:
    left = {step.before for step in attribute.states}
    return {step.after for step in attribute.states} - left
