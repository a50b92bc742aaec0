"""One write: what can be known of it without the table, and then its effect."""

from __future__ import annotations

from tests.reference.evaluate import at, holds, project, updated
from tests.reference.grammar import Expressions, Node, Update
from tests.reference.tables import Key, Table, check_size
from tests.reference.values import Item, Refused, Wire, item_of, parameter, wire_item

TOO_LARGE = "Item size has exceeded the maximum allowed size"
TOO_LARGE_UPDATE = "Item size to update has exceeded the maximum allowed size"
CONDITION_FAILED = "The conditional request failed"


class Write:
    def __init__(self, kind: str, request: Wire, returns: str = "NONE") -> None:
        self.kind, self.request, self.returns = kind, request, returns
        self.item: Item = {}
        if kind == "Put":
            self.item = item_of(request["Item"])
        else:
            item_of(request["Key"])
        expressions = Expressions(request)
        self.condition: Node | None = None
        self.update: Update | None = None
        if kind == "Update" and "UpdateExpression" in request:
            self.update = expressions.update(request["UpdateExpression"])
        if "ConditionExpression" in request:
            text = request["ConditionExpression"]
            self.condition = expressions.condition("ConditionExpression", text)
        expressions.finish()
        if kind == "Put":
            check_size(self.item, TOO_LARGE)

    def key(self, table: Table) -> Key:
        if self.kind != "Put":
            key = table.key(self.request["Key"])
            for path in self.update.paths() if self.update else []:
                if path.steps[0] in table.schema:
                    raise parameter(
                        f"Cannot update attribute {path.steps[0]}. "
                        "This attribute is part of the key"
                    )
            if self.update:
                table.check_paths(self.update.paths())
                table.check_literals(self.update)
            return key
        table.check_item(self.item)
        return table.key_of(self.item)

    def check(self, table: Table, key: Key) -> None:
        old = table.items.get(key)
        if self.condition is not None and not holds(old or {}, self.condition):
            members: Wire = {}
            if self.request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and old:
                members = {"Item": wire_item(old)}
            raise Refused("ConditionalCheckFailedException", CONDITION_FAILED, **members)

    def result(self, table: Table, key: Key) -> Item | None:
        """The item afterwards."""
        old = table.items.get(key)
        if self.kind == "Put":
            return self.item
        if self.kind == "Delete":
            return None
        if self.update is None:
            return old or table.key_item(key)
        if old is None and not self.update.SET and not self.update.ADD:
            return None
        new = updated(old or table.key_item(key), self.update)
        # The documentation checks what is written, also where it is what was there.
        table.check_updated_keys(new, {str(path.steps[0]) for path in self.update.paths()})
        check_size(new, TOO_LARGE_UPDATE)
        return new

    def attributes(self, old: Item | None, new: Item | None) -> Item | None:
        """What ReturnValues asks for."""
        if self.returns == "NONE":
            return None
        side = old if self.returns.endswith("OLD") else new
        if side is None or self.returns.startswith("ALL"):
            return side
        paths = self.update.paths() if self.update else []
        return project(side, [path for path in paths if at(side, path) is not None]) or None


def collects(table: Table) -> bool:
    return any(index.local for index in table.indexes)


def collections(request: Wire, writes: list[tuple[Table, Key, Item | None]]) -> Wire:
    """The item collections that the writes are about to change, by table."""
    if request.get("ReturnItemCollectionMetrics") != "SIZE":
        return {}
    metrics: dict[str, list[Wire]] = {}
    for table, key, new in writes:
        if collects(table) and (new is not None or key in table.items):
            listed = metrics.setdefault(table.name, [])
            if table.collection(key) not in listed:
                listed.append(table.collection(key))
    return {"ItemCollectionMetrics": metrics}
