"""Notes which items and index entries each request of a flow touches.

What is noted has no size: the workload says how large an item of each entity is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keyfold.design.follows import SUPPORT_TABLE
from keyfold.design.schema import TableSchema
from keyfold.design.template import DELIMITER
from keyfold.streams.support_table import TABLE as SUPPORT
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_workbench.cost.charge import IN_TRANSACTION

Item = Mapping[str, Any]
TYPE = "type_"
"""Names the entity of a sample item, where its table does not."""
SINGLE = ("PutItem", "UpdateItem", "DeleteItem")


def python_name(name: str) -> str:
    """The name of a table, index or field in a sample design."""
    return f"f_{re.sub(r'[^0-9A-Za-z_]', '_', name)}"


@dataclass(frozen=True)
class Touch:
    """One item, index entry or read of a request."""

    kind: Literal["write", "check", "entry", "read"]
    table: str
    index: str | None = None
    entities: tuple[str, ...] = ()
    """The entity, or those of all items that one request reads; "" is an item of keyfold's own."""
    action: Literal["put", "update", "delete"] = "update"
    factor: float = 1.0
    moved: bool = False
    changed: bool = True
    consistent: bool = True
    streamed: bool = False


class TouchLedger(EmbeddedClient):
    """An engine whose requests are noted while `notes` is a list."""

    def __init__(self, engine: Engine, tables: Mapping[str, TableSchema]) -> None:
        super().__init__(engine)
        self._tables = {**tables, SUPPORT_TABLE: SUPPORT}
        self.notes: list[Touch] | None = None
        self.streamed = self.joined = False

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.notes is None:
            return super().call(operation, request)
        touched = list(self._writes(operation, request))
        before = [self._peek(table, key) for table, key, _ in touched]
        answer = super().call(operation, request)
        doubled = operation == "TransactWriteItems" or (
            self.joined and not self.streamed and operation in SINGLE
        )
        for (table, key, checks), old in zip(touched, before, strict=True):
            factor = IN_TRANSACTION if doubled else 1
            self.notes += self._written(
                table, old, old if checks else self._peek(table, key), factor, checks=checks
            )
        self.notes += self._read(operation, request, answer)
        return answer

    def _peek(self, table: str, key: Item) -> Item | None:
        asked = {"TableName": table, "Key": key, "ConsistentRead": True}
        found: Item | None = super().call("GetItem", asked).get("Item")
        return found

    def _writes(self, operation: str, request: Item) -> Iterator[tuple[str, Item, bool]]:
        """The items that a request writes or checks: table, key, whether it only checks."""
        if operation in SINGLE:
            yield request["TableName"], self._key(request), False
        elif operation == "TransactWriteItems":
            for one in request["TransactItems"]:
                ((what, part),) = one.items()
                yield part["TableName"], self._key(part), what == "ConditionCheck"
        elif operation == "BatchWriteItem":
            for table, parts in request["RequestItems"].items():
                for one in parts:
                    ((_, part),) = one.items()
                    yield table, self._key({**part, "TableName": table}), False

    def _key(self, part: Item) -> Item:
        if "Key" in part:
            return part["Key"]  # type: ignore[no-any-return]
        table = self._tables[part["TableName"]]
        return {name: part["Item"][name] for name in table.key_attributes}

    def _written(
        self, name: str, old: Item | None, new: Item | None, factor: float, *, checks: bool
    ) -> Iterator[Touch]:
        table = self._tables[name]
        image = new or old
        entity = "" if image is None else self._entity(name, image)
        action: Any = "delete" if new is None else "update" if old is not None else "put"
        common: dict[str, Any] = {"action": action, "streamed": self.streamed}
        kind: Any = "check" if checks else "write"
        entities = () if image is None else (entity,)
        yield Touch(kind, table.name, None, entities, factor=factor, **common)
        for index in () if checks else table.indexes:
            was, now = (index.entry(table.key_attributes, one) for one in (old, new))
            if was is None and now is None:
                continue
            moved = (
                was is None or now is None or any(was[n] != now[n] for n in index.key_attributes)
            )
            if was is None:
                common["action"] = "put"
            elif now is None:
                common["action"] = "delete"
            yield Touch(
                "entry", table.name, index.name, entities, moved=moved, changed=was != now, **common
            )

    def _read(self, operation: str, request: Item, answer: Item) -> Iterator[Touch]:
        if operation == "GetItem":
            item = answer.get("Item")
            consistent = request.get("ConsistentRead", False)
            yield self._touch_of_read(
                request["TableName"], None, [item] if item else [], consistent
            )
        elif operation == "BatchGetItem":
            for table, asked in request["RequestItems"].items():
                found = answer.get("Responses", {}).get(table, [])
                lacking = len(asked["Keys"]) - len(found)
                for items in (*([one] for one in found), *([] for _ in range(lacking))):
                    yield self._touch_of_read(
                        table, None, items, asked.get("ConsistentRead", False)
                    )
        elif operation in ("Query", "Scan"):
            consistent = request.get("ConsistentRead", False)
            yield self._touch_of_read(
                request["TableName"], request.get("IndexName"), answer["Items"], consistent
            )

    def _touch_of_read(
        self, table: str, index: str | None, items: list[Item], consistent: bool
    ) -> Touch:
        entities = tuple(self._entity(table, item) for item in items)
        known = self._tables[table]
        index = next((one.name for one in known.indexes if python_name(one.name) == index), None)
        return Touch(
            "read", known.name, index, entities, consistent=consistent, streamed=self.streamed
        )

    def _entity(self, table: str, item: Item) -> str:
        """The entity of an item; "" is one of keyfold's own."""
        type_attribute = self._tables[table].type_attribute or TYPE
        if table == SUPPORT_TABLE:
            return str(item["PK"]["S"]).partition(DELIMITER)[0]
        return str(item.get(type_attribute, {}).get("S", ""))
