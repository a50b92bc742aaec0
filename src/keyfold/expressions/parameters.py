"""The expression parameters of a request, modern or legacy, as bound trees.

An operation calls `refuse_mixture` where DynamoDB does, early, and `read` when everything else
about the request was found right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.errors import RequestInvalid
from keyfold.expressions import legacy
from keyfold.expressions.ast import Condition, KeyTerm, Projection
from keyfold.expressions.bind import Placeholders
from keyfold.expressions.evaluate import Test, Values, compile_condition
from keyfold.expressions.update import UpdatePlan

_WITHOUT_VALUES = "ProjectionExpression"


@dataclass(frozen=True, slots=True)
class ExpressionParameters:
    """What a request says in expressions, or said in legacy parameters."""

    condition: Condition | None = None
    filter: Condition | None = None
    key_terms: Mapping[str, KeyTerm] | None = None
    update: UpdatePlan | None = None
    projection: Projection | None = None
    # What conditions are evaluated and `update` is applied with.
    values: Values = field(default_factory=dict)

    def test(self) -> Test | None:
        """The condition of a write, as a function."""
        return None if self.condition is None else compile_condition(self.condition, self.values)


_LEGACY = frozenset(
    (
        "AttributesToGet",
        "AttributeUpdates",
        "ConditionalOperator",
        "Expected",
        "KeyConditions",
        "QueryFilter",
        "ScanFilter",
    )
)
_PARAMETERS = _LEGACY | {
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
}
_NOTHING = ExpressionParameters()


def refuse_mixture(
    request: Mapping[str, Any], expressions: Sequence[str], legacy_parameters: Sequence[str]
) -> None:
    """Refuse expressions beside legacy parameters, and placeholders without expressions."""
    if _PARAMETERS.isdisjoint(request):
        return
    modern = [name for name in expressions if request.get(name) is not None]
    old: list[str] = []
    if not _LEGACY.isdisjoint(request):
        old = [name for name in legacy_parameters if request.get(name) is not None]
    if modern and "KeyConditionExpression" not in modern and "KeyConditions" in old:
        # A filter expression may go with legacy key conditions.
        old.remove("KeyConditions")
    if modern and old:
        raise RequestInvalid(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} "
            f"Expression parameters: {{{', '.join(modern)}}}"
        )
    if request.get("ExpressionAttributeNames") is not None and not modern:
        raise RequestInvalid(
            "ExpressionAttributeNames can only be specified when using expressions"
        )
    if modern and modern != [_WITHOUT_VALUES]:
        return
    takers = [name for name in expressions if name != _WITHOUT_VALUES]
    if takers and request.get("ExpressionAttributeValues") is not None:
        verb = "are" if len(takers) > 1 else "is"
        reason = "ExpressionAttributeValues can only be specified when using expressions"
        raise RequestInvalid(f"{reason}: {' and '.join(takers)} {verb} null", newer=reason)


def read(request: Mapping[str, Any], *, deeper: bool = False) -> ExpressionParameters:
    """The request's expressions, all placeholders bound and accounted for.

    `deeper` values may have a level more than what is stored.
    """
    if _PARAMETERS.isdisjoint(request):
        return _NOTHING
    placeholders = Placeholders(
        request.get("ExpressionAttributeNames"),
        request.get("ExpressionAttributeValues"),
        deeper=deeper,
    )
    update = condition = key_condition = chosen = projection = None
    if (text := request.get("UpdateExpression")) is not None:
        update = placeholders.update(text)
    if (text := request.get("ConditionExpression")) is not None:
        condition = placeholders.condition(text)
    if (text := request.get("KeyConditionExpression")) is not None:
        key_condition = placeholders.key_condition(text)
    if (text := request.get("FilterExpression")) is not None:
        chosen = placeholders.condition(text, "FilterExpression")
    if (text := request.get("ProjectionExpression")) is not None:
        projection = placeholders.projection(text)
    placeholders.check_used()
    key_terms = None if key_condition is None else key_condition.terms(placeholders.values)
    if _LEGACY.isdisjoint(request):
        return ExpressionParameters(
            condition, chosen, key_terms, update, projection, placeholders.values
        )
    return ExpressionParameters(
        condition=condition if condition is not None else legacy.expected_condition(request),
        filter=chosen if chosen is not None else legacy.filter(request),
        key_terms=key_terms if key_terms is not None else legacy.key_conditions(request),
        update=update if update is not None else _legacy_plan(request),
        projection=projection if projection is not None else legacy.attributes_to_get(request),
        values=placeholders.values,
    )


def _legacy_plan(request: Mapping[str, Any]) -> UpdatePlan | None:
    update = legacy.attribute_updates(request)
    return None if update is None else UpdatePlan(update)
