"""The expression parameters of a request, modern or legacy, as bound trees.

An operation calls `refuse_mixture` where DynamoDB does, early, and `read` after all other checks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions import legacy
from keyfold_engine.expressions.ast import Condition, KeyTerm, Placeholder, Projection, Value
from keyfold_engine.expressions.bind import Placeholders, as_literals, check_names, checked_values
from keyfold_engine.expressions.evaluate import (
    NO_VALUES,
    ConditionPlan,
    Test,
    Values,
    plan_condition,
)
from keyfold_engine.expressions.update import UpdatePlan
from keyfold_engine.values.normal import NormalItem

_KEPT = 1024
_WITHOUT_VALUES = "ProjectionExpression"
_EXPRESSIONS = (
    "UpdateExpression",
    "ConditionExpression",
    "KeyConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
)
_VALUE_CHECKED = re.compile(r"between|attribute_type", re.IGNORECASE).search
_Texts = tuple[str | None, ...]
_Pairs = tuple[tuple[str, str], ...]


class ExpressionParameters(NamedTuple):
    """A request's expressions, from expression or legacy parameters."""

    condition: ConditionPlan | None = None
    filter: Condition | None = None
    key_terms: Mapping[str, KeyTerm] | None = None
    update: UpdatePlan | None = None
    projection: Projection | None = None
    # What conditions are evaluated and `update` is applied with.
    values: Values = NO_VALUES

    def test(self) -> Test | None:
        """The condition of a write, as a function."""
        return None if self.condition is None else self.condition(self.values)


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
_PARAMETERS = _LEGACY.union(_EXPRESSIONS, ("ExpressionAttributeNames", "ExpressionAttributeValues"))
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
    """The request's expressions, with all placeholders bound and used.

    `deeper` values may have one level more than stored ones.
    """
    if _PARAMETERS.isdisjoint(request):
        return _NOTHING
    names: Mapping[str, str] | None = request.get("ExpressionAttributeNames")
    values: Values | None = request.get("ExpressionAttributeValues")
    if values is not None and not isinstance(values, NormalItem):
        check_names(names)
        values = checked_values(values, deeper=deeper)
    texts = tuple(map(request.get, _EXPRESSIONS))
    if values is not None and _look_into_values(texts):
        bound = _BoundExpressions(texts, names, as_literals(values))
    else:
        pairs = None if names is None else tuple(names.items())
        bound = _bind(texts, pairs, None if values is None else _kinds(values))
    values = values or NO_VALUES
    key_terms = None if bound.key is None else bound.key.terms(values)
    if _LEGACY.isdisjoint(request):
        return ExpressionParameters(
            bound.condition, bound.filter, key_terms, bound.update, bound.projection, values
        )
    return ExpressionParameters(
        condition=bound.condition or _legacy_condition(request),
        filter=bound.filter or legacy.filter(request),
        key_terms=key_terms if key_terms is not None else legacy.key_conditions(request),
        update=bound.update or _legacy_plan(request),
        projection=bound.projection or legacy.attributes_to_get(request),
        values=values,
    )


class _BoundExpressions:
    """The expressions of a request, bound to its names and to what stands for its values."""

    __slots__ = ("condition", "filter", "key", "projection", "update")

    def __init__(
        self,
        texts: _Texts,
        names: Mapping[str, str] | None,
        operands: Mapping[str, Value | Placeholder] | None,
    ) -> None:
        placeholders = Placeholders(names, operands)
        update, condition, key, chosen, projection = texts
        self.update = None if update is None else placeholders.update(update)
        self.condition = (
            None if condition is None else plan_condition(placeholders.condition(condition))
        )
        self.key = None if key is None else placeholders.key_condition(key)
        self.filter = None if chosen is None else placeholders.condition(chosen, "FilterExpression")
        self.projection = None if projection is None else placeholders.projection(projection)
        placeholders.check_used()


# The same few expressions come again and again, with other values of the same types,
# which is all that binding and checking look at.
@lru_cache(_KEPT)
def _bind(texts: _Texts, names: _Pairs | None, kinds: _Pairs | None) -> _BoundExpressions:
    operands = None if kinds is None else {given: Placeholder(given, kind) for given, kind in kinds}
    return _BoundExpressions(texts, None if names is None else dict(names), operands)


@lru_cache(_KEPT)
def _look_into_values(texts: _Texts) -> bool:
    """Whether checks look at more than the types of values: at bounds, at the name of a type."""
    return any(text is not None and _VALUE_CHECKED(text) for text in texts)


def _kinds(values: Values) -> _Pairs:
    return tuple([(given, kind) for given, value in values.items() for kind in value])


def _legacy_condition(request: Mapping[str, Any]) -> ConditionPlan | None:
    condition = legacy.expected_condition(request)
    return None if condition is None else plan_condition(condition)


def _legacy_plan(request: Mapping[str, Any]) -> UpdatePlan | None:
    update = legacy.attribute_updates(request)
    return None if update is None else UpdatePlan(update)
