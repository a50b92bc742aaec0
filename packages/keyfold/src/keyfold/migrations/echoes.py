"""Writes under a new attribute name, repeated under the old one until the old one goes.

So both names always have one value, whichever application wrote it, and a cleared value stays
cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyfold.migrations.backend import Item
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.routed_migration import RoutedMigration, item_at
from keyfold.migrations.wire_equality import same
from keyfold.migrations.write_request import Action, actions_of, item_after, with_attributes
from keyfold.runtime.flow import Flow


def echoed(routed: RoutedMigration, operation: str, request: Mapping[str, Any]) -> Flow[Any]:
    """The request, extended by the changes of former attributes."""
    actions = []
    for action in actions_of(operation, request):
        actions.append((yield from _echoed(routed, action)))
    if operation == "TransactWriteItems":
        return {**request, "TransactItems": [{kind: one} for kind, one in actions]}
    if operation == "BatchWriteItem":
        tables: dict[str, list[Item]] = {}
        for kind, one in actions:
            body = {name: part for name, part in one.items() if name != "TableName"}
            tables.setdefault(one["TableName"], []).append({f"{kind}Request": body})
        return {**request, "RequestItems": tables}
    ((_, one),) = actions
    return {**request, **one}


def _echoed(routed: RoutedMigration, action: Action) -> Flow[Action]:
    kind, one = action
    rewrites = routed.echoes.get(one["TableName"], ())
    if not rewrites or kind not in ("Put", "Update"):
        return action
    table = routed.table(one["TableName"])
    key = yield from routed.key_of(table, one["Item"] if "Item" in one else one["Key"])
    before = yield from item_at(one["TableName"], key)
    after = item_after(action, before, key) or {}
    values = _values(rewrites, before or {}, after)
    changed = {name: wire for name, wire in values.items() if not same(wire, after.get(name))}
    given = {name: wire for name, wire in changed.items() if wire is not None}
    return with_attributes(action, key, changed, given) if changed else action


def _values(rewrites: Sequence[Rewrite], before: Item, after: Item) -> Item:
    """The new values of former attributes; None if they are removed."""
    found: Item = {}
    for rewrite in rewrites:
        if rewrite.echo is not None:
            found |= rewrite.echo(before, after)
    return found
