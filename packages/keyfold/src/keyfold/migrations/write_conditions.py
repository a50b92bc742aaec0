"""Requests that write an item only if it is still what the write was computed from."""

from __future__ import annotations

from typing import Final

from keyfold.migrations.backend import Item
from keyfold.runtime.expression import Clauses, Expressions

ABSENT: Final = "attribute_not_exists(#key)"
PRESENT: Final = "attribute_exists(#key)"


def absent(key: Item) -> Item:
    """The condition that no item exists."""
    return {"ConditionExpression": ABSENT, "ExpressionAttributeNames": {"#key": next(iter(key))}}


def unchanged(item: Item, key: Item) -> Item:
    """The condition that an item is unchanged, as far as a condition can express."""
    expressions = Expressions()
    short = (name for name, wire in sorted(item.items())[:20] if len(str(wire)) < 200)
    conditions = expressions.unchanged((name for name in short if name not in key), item)
    return _request(expressions, key, conditions)


def difference(item: Item, changed: Item, key: Item) -> Item:
    """An update from one to the other, if the changed attributes are unchanged."""
    expressions = Expressions()
    names = sorted(item.keys() | changed.keys())
    differing = [one for one in names if item.get(one) != changed.get(one) and one not in key]
    conditions, clauses = expressions.unchanged(differing, item), Clauses(expressions)
    for name in differing:
        clauses.attribute(name, changed.get(name))
    return {"UpdateExpression": clauses.text(), **_request(expressions, key, conditions)}


def _request(expressions: Expressions, key: Item, conditions: list[str]) -> Item:
    given = expressions.placeholders()
    names = {"#key": next(iter(key)), **given.get("ExpressionAttributeNames", {})}
    condition = " AND ".join([PRESENT, *conditions])
    return {**given, "ConditionExpression": condition, "ExpressionAttributeNames": names}
