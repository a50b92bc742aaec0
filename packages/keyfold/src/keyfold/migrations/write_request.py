"""A write request of an application: its tables, its actions, and their results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from keyfold.errors import CancellationReason, ConditionFailed, TransactionCanceled
from keyfold.migrations.backend import Item
from keyfold.runtime.flow import Answer
from keyfold_engine.expressions import parameters

_SINGLE: Final = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
WRITES: Final = frozenset((*_SINGLE, "TransactWriteItems", "BatchWriteItem"))
_NOT_IN_TRANSACTIONS: Final = frozenset(
    ("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics")
)

Action = tuple[str, Mapping[str, Any]]
"""`Put`, `Update`, `Delete` or `ConditionCheck`, and its request."""
Images = tuple[Item | None, Item | None]
"""An item before a write and after it."""


def tables_of(request: Mapping[str, Any]) -> Iterator[str]:
    """The physical tables that a request names."""
    if "TableName" in request:
        yield request["TableName"]
    yield from request.get("RequestItems", ())
    for action in request.get("TransactItems", ()):
        ((_, one),) = action.items()
        yield one["TableName"]


def actions_of(operation: str, request: Mapping[str, Any]) -> list[Action]:
    """A request as the actions of a transaction."""
    if operation in _SINGLE:
        kept = {n: v for n, v in request.items() if n not in _NOT_IN_TRANSACTIONS}
        return [(_SINGLE[operation], kept)]
    if operation == "BatchWriteItem":
        return [
            (kind.removesuffix("Request"), {"TableName": name, **one})
            for name, requests in request["RequestItems"].items()
            for each in requests
            for kind, one in each.items()
        ]
    return [next(iter(action.items())) for action in request["TransactItems"]]


def item_after(action: Action, before: Item | None, key: Item) -> Item | None:
    """An item after an action."""
    kind, one = action
    if kind == "ConditionCheck":
        return before
    if kind == "Put":
        return dict(one["Item"])
    if kind == "Delete":
        return None
    read = parameters.read(one)
    held = before or key
    return held if read.update is None else dict(read.update.apply(held, read.values))


def with_attributes(action: Action, key: Item, part: Iterable[str], values: Item) -> Action:
    """The action, extended to set these attributes of its item to `values`."""
    kind, one = action
    if kind == "Delete":
        return action
    if kind == "Put":
        kept = {n: w for n, w in one["Item"].items() if n not in part}
        return kind, {**one, "Item": {**kept, **values}}
    return "Update", {**one, "Key": key, **_extend(one, part, values)}


def _extend(one: Mapping[str, Any], names: Iterable[str], values: Item) -> Item:
    """An update's expression and placeholders, extended to set or remove these attributes."""
    placeholders = {f"#part{number}": name for number, name in enumerate(sorted(names))}
    sets = [p for p, name in placeholders.items() if name in values]
    removes = [p for p, name in placeholders.items() if name not in values]
    text = one.get("UpdateExpression", "")
    text = _join(text, "SET", [f"{p} = :{p[1:]}" for p in sets])
    text = _join(text, "REMOVE", removes)
    found: Item = {"UpdateExpression": text} if text else {}
    if all_names := {**one.get("ExpressionAttributeNames", {}), **placeholders}:
        found["ExpressionAttributeNames"] = all_names
    given = {f":{p[1:]}": values[placeholders[p]] for p in sets}
    if all_values := {**one.get("ExpressionAttributeValues", {}), **given}:
        found["ExpressionAttributeValues"] = all_values
    return found


def _join(text: str, clause: str, more: Sequence[str]) -> str:
    """An update expression with more actions in one of its clauses, which may occur only once."""
    if not more:
        return text
    there = re.search(rf"(?<![#:\w]){clause}\b", text, re.IGNORECASE)
    if there is None:
        return f"{text} {clause} {', '.join(more)}".strip()
    return f"{text[: there.end()]} {', '.join(more)},{text[there.end() :]}"


def refusal_of(operation: str, reasons: list[CancellationReason]) -> Exception:
    """The error for the application's original request, in place of a transaction's."""
    if operation in _SINGLE:
        return ConditionFailed(item=reasons[0].item)
    return TransactionCanceled(reasons=reasons)


def answer_of(operation: str, request: Mapping[str, Any], images: Sequence[Images]) -> Answer:
    before, after = images[0] if images else (None, None)
    wanted = request.get("ReturnValues", "NONE") if operation in _SINGLE else "NONE"
    returned = {"ALL_OLD": before, "UPDATED_OLD": before, "ALL_NEW": after, "UPDATED_NEW": after}
    found = returned.get(wanted)
    return {"Attributes": found} if found else {}
