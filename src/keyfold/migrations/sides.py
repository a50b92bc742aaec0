"""What an item of one side stands for on the other, by all routes of one direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.errors import ConditionFailed, KeyfoldError, MigrationError
from keyfold.limits import TRANSACTION_ITEMS
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.state import key_text


class Uncopyable(MigrationError):
    """An item that cannot be copied as it is."""


@dataclass
class Sides:
    """The routes of one direction, by the table they read, with key names of all tables."""

    backend: Backend
    routes: Sequence[Route]
    rewrites: Sequence[Rewrite] = ()
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        tables = [route.source for route in self.routes]
        return list(dict.fromkeys([*tables, *(rewrite.table for rewrite in self.rewrites)]))

    def key_of(self, table: str, item: Mapping[str, Any]) -> Item:
        names = self._keys.get(table)
        if names is None:
            names = self._keys[table] = self.backend.key_attributes(table)
        return {name: item[name] for name in names}

    def outputs(self, table: str, item: Item | None) -> dict[tuple[str, str], Output]:
        """What an item stands for on the other side, by address; Refused where it cannot say."""
        found: dict[tuple[str, str], Output] = {}
        if item is None:
            return found
        for route in self.routes:
            if route.source != table or not route.selects(item):
                continue
            for output in self._made(route, item):
                found[output.table, key_text(self.key_of(output.table, output.item))] = output
        if len(found) >= TRANSACTION_ITEMS:
            raise Uncopyable(f"it stands for {len(found)} items, more than one transaction takes")
        return found

    def _made(self, route: Route, item: Item) -> Iterable[Output]:
        try:
            return list(route.outputs(item))
        except Exception as problem:  # the user's function, or an item it did not foresee
            kind = "" if isinstance(problem, KeyfoldError) else f"{type(problem).__name__}: "
            raise Uncopyable(f"{route.name}: {kind}{problem}") from problem

    def concerns(self, table: str, item: Item) -> bool:
        return any(route.source == table and route.selects(item) for route in self.routes)


def rewrite_item(sides: Sides, table: str, item: Item) -> bool:
    """Change an item in place, only as long as it is still what the change was computed from.

    All rewrites are one write: what one of them makes and the next one changes would otherwise
    come back by the stream and be made again, for ever.
    """
    backend = sides.backend
    changed: Item | None = item
    for rewrite in sides.rewrites:
        if rewrite.table == table and changed is not None:
            try:
                changed = rewrite.change(changed)
            except Exception as problem:  # the user's function
                raise Uncopyable(
                    f"{rewrite.name}: {type(problem).__name__}: {problem}"
                ) from problem
    if changed == item:
        return False
    key = sides.key_of(table, item)
    request = {"TableName": backend.physical(table), "Key": key}
    if changed is None:
        backend.call("DeleteItem", request)
        return True
    names: dict[str, str] = {}
    values: Item = {}
    sets, removes, conditions = [], [], []
    for number, name in enumerate(sorted(item.keys() | changed.keys())):
        before, after = item.get(name), changed.get(name)
        if before == after or name in key:
            continue
        placeholder = f"#n{number}"
        names[placeholder] = name
        if before is None:
            conditions.append(f"attribute_not_exists({placeholder})")
        else:
            values[f":b{number}"] = before
            conditions.append(f"{placeholder} = :b{number}")
        if after is None:
            removes.append(placeholder)
        else:
            values[f":a{number}"] = after
            sets.append(f"{placeholder} = :a{number}")
    if not names:
        return False
    clauses = [f"SET {', '.join(sets)}"] * bool(sets) + [f"REMOVE {', '.join(removes)}"] * bool(
        removes
    )
    request["UpdateExpression"] = " ".join(clauses)
    names["#key"] = next(iter(key))
    request["ConditionExpression"] = " AND ".join(["attribute_exists(#key)", *conditions])
    request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = values
    try:
        backend.call("UpdateItem", request)
    except ConditionFailed:
        return False  # somebody wrote it meanwhile: that change comes by the stream
    return True
