"""A migration as an application follows it: where its items are, and what they map to."""

from __future__ import annotations

from collections.abc import Mapping

from keyfold.migrations.backend import Item
from keyfold.migrations.follower import Routing
from keyfold.migrations.migration import Migration, Side
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.state import SUPPORT, marker_key
from keyfold.migrations.wire_equality import equal
from keyfold.runtime.flow import Call, Flow
from keyfold_engine.clock import Clock


class RoutedMigration:
    """One migration as an application follows it."""

    def __init__(
        self, migration: Migration, physical: Mapping[str, str], prefix: str, clock: Clock
    ):
        self.migration = migration
        self.routing = Routing(migration.name, prefix, clock)
        self.names = physical
        self.logical = {name: table for table, name in physical.items()}
        self.prefix = prefix
        self.back: list[Route] = migration.routes("old")
        self.forward: list[Route] = migration.routes("new")
        self.tables = {self.physical(route.source) for route in self.back}
        self.echoes: dict[str, list[Rewrite]] = {}
        """Rewrites that apply to writes of the new shape, by table."""
        for rewrite in migration.rewrites("backfill"):
            if rewrite.echo is not None:
                self.echoes.setdefault(self.physical(rewrite.table), []).append(rewrite)
        self.keys: dict[str, tuple[str, ...]] = {}

    def physical(self, table: str) -> str:
        return self.names.get(table) or f"{self.prefix}{table}"

    def table(self, name: str) -> str:
        """The design's name for a physical table."""
        return self.logical.get(name) or name.removeprefix(self.prefix)

    def key_of(self, table: str, item: Mapping[str, object]) -> Flow[Item]:
        if table not in self.keys:
            answer = yield Call("DescribeTable", {"TableName": self.physical(table)})
            schema = sorted(answer["Table"]["KeySchema"], key=lambda part: part["KeyType"])
            self.keys[table] = tuple(part["AttributeName"] for part in schema)
        return {name: item[name] for name in self.keys[table]}

    def meaning(self, table: str, item: Item | None) -> dict[str, list[Output]]:
        """What an item of the new side maps to on the old one."""
        found: dict[str, list[Output]] = {}
        if item is None:
            return found
        for route in self.back:
            if route.source == table and route.selects(item):
                found.setdefault(route.name, []).extend(route.outputs(item))
        return found

    def stands_for(self, old: Output, there: Item | None, item: Item) -> bool:
        """Whether the old side has what the new one shows."""
        if there is None:
            return False
        for route in self.forward:
            if route.source == old.table and route.selects(there):
                return any(equal(one.settle_on(item), item) for one in route.outputs(there))
        return False

    def touch(self, towards: Side, table: str, key: Item) -> Flow[Item]:
        """The update of a marker, refused if the item was written or copied meanwhile."""
        name = f"{self.prefix}{SUPPORT.name}"
        place = marker_key(self.migration.name, towards, table, key)
        found = (yield from item_at(name, place)) or {}
        seen = int(found["touches"]["N"]) if "touches" in found else 0
        conditions = ["attribute_not_exists(touches)" if not seen else "touches = :seen"]
        values: Item = {":one": {"N": "1"}, ":zero": {"N": str(seen)}}
        if seen:
            values[":seen"] = {"N": str(seen)}
        if "sequence" in found:
            conditions.append("#s = :s")
            values[":s"] = found["sequence"]
        else:
            conditions.append("attribute_not_exists(#s)")
        return {
            "Update": {
                "TableName": name,
                "Key": place,
                "UpdateExpression": "SET touches = :zero + :one",
                "ConditionExpression": " AND ".join(conditions),
                "ExpressionAttributeNames": {"#s": "sequence"},
                "ExpressionAttributeValues": values,
            }
        }


def item_at(name: str, key: Item) -> Flow[Item | None]:
    """The current item of a table."""
    answer = yield Call("GetItem", {"TableName": name, "Key": key, "ConsistentRead": True})
    found: Item | None = answer.get("Item")
    return found
