"""Pages of items: of a partition, through an index, or of one entity, and their cost."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from keyfold.design.schema import EntitySchema, Index, TableSchema
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import Walk
from keyfold_workbench.studio.items import KnownItem, partition_values
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageMissing

ROWS = 100
"""Items of a page."""
LOOKS = (ROWS, 5 * ROWS, 5 * ROWS, 5 * ROWS)
"""The most items examined, in successive requests, for one page of an entity's items."""


@dataclass
class ItemPage:
    """Some items in order, and what reading them cost."""

    items: list[KnownItem] = field(default_factory=list)
    units: float = 0.0
    requests: int = 0
    read: int = 0
    """Items read, including filtered ones."""
    after: str = ""
    """Where the next page begins; empty at the end."""


@dataclass(frozen=True)
class FieldFilter:
    """Items whose attribute contains a text or equals a number."""

    attribute: str
    value: str

    def add_to(self, request: dict[str, Any]) -> None:
        asked = "contains(#f, :f) OR #f = :n" if _is_number(self.value) else "contains(#f, :f)"
        values = {":f": {"S": self.value}}
        if _is_number(self.value):
            values[":n"] = {"N": self.value}
        _add_filter(request, f"({asked})", {"#f": self.attribute}, values)


def partition_page(
    system: StudioSystem,
    table: TableSchema,
    index: Index | None,
    key: str,
    *,
    after: str = "",
    only: FieldFilter | None = None,
) -> ItemPage:
    """A page of one partition, in sort order."""
    owner = index or table
    try:
        values = partition_values(owner, key)
    except ValueError:
        raise PageMissing(
            f"Not found: partition {key} of {owner.name}. Its key is {owner.partition_text}, "
            'given as a list of texts, such as ["a", "b"].'
        ) from None
    request: dict[str, Any] = {
        "TableName": system.physical(table),
        "KeyConditionExpression": " AND ".join(f"#p{n} = :p{n}" for n in range(len(values))),
        "ExpressionAttributeNames": {f"#p{n}": name for n, name in enumerate(values)},
        "ExpressionAttributeValues": {f":p{n}": one for n, one in enumerate(values.values())},
        "Limit": ROWS,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if index is not None:
        request["IndexName"] = index.name
    if only is not None:
        only.add_to(request)
    page = ItemPage()
    _read(system, table, "Query", request, page, after)
    return page


def entity_page(
    system: StudioSystem,
    table: TableSchema,
    entity: EntitySchema | None,
    *,
    after: str = "",
    only: FieldFilter | None = None,
) -> ItemPage:
    """A page of one entity's items, or of undeclared ones, in the table's order."""
    request: dict[str, Any] = {
        "TableName": system.physical(table),
        "ReturnConsumedCapacity": "TOTAL",
    }
    if entity is not None and table.type_attribute is not None and system.design is not None:
        # An item that does not say its type is known by its key.
        asked = "(#t = :t OR attribute_not_exists(#t))"
        name = entity.type_name or entity.name
        _add_filter(request, asked, {"#t": table.type_attribute}, {":t": {"S": name}})
    if only is not None:
        only.add_to(request)
    page = ItemPage()
    wanted = entity.name if entity is not None else "undeclared"
    for limit in LOOKS:
        _read(system, table, "Scan", {**request, "Limit": limit}, page, after)
        page.items = [item for item in page.items if item.kind == wanted]
        after = page.after
        if not after or len(page.items) >= ROWS:
            break
    if len(page.items) > ROWS:
        del page.items[ROWS:]
        page.after = seal(page.items[-1].key)
    return page


def _add_filter(
    request: dict[str, Any], asked: str, names: dict[str, str], values: dict[str, Any]
) -> None:
    before = request.get("FilterExpression")
    request["FilterExpression"] = f"{before} AND {asked}" if before else asked
    request["ExpressionAttributeNames"] = {**request.get("ExpressionAttributeNames", {}), **names}
    held = request.get("ExpressionAttributeValues", {})
    request["ExpressionAttributeValues"] = {**held, **values}


def _read(
    system: StudioSystem,
    table: TableSchema,
    operation: Literal["Query", "Scan"],
    request: dict[str, Any],
    page: ItemPage,
    after: str,
) -> None:
    walk = Walk(operation, request, unseal(after) if after else None)
    answer = run_by(system.call, walk.next())
    page.items += [system.reader.read(table, wire) for wire in answer["Items"]]
    page.units += float(answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0))
    page.requests += 1
    page.read += int(answer.get("ScannedCount", len(answer["Items"])))
    page.after = seal(walk.position) if walk.position else ""


def seal(key: dict[str, Any]) -> str:
    """A position in a table, as used in addresses."""
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def unseal(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise PageMissing("Not found: this place in the table. Begin at its first page.")
    return found


def find_item(
    system: StudioSystem, table: TableSchema, partition: str, sort: str | None
) -> KnownItem | None:
    """One item by its key."""
    key: dict[str, Any] = {table.partition: {table.partition_type: partition}}
    if table.sort is not None:
        key[table.sort] = {table.sort_type: sort or ""}
    answer = system.call(
        "GetItem", {"TableName": system.physical(table), "Key": key, "ConsistentRead": True}
    )
    wire = answer.get("Item")
    return None if wire is None else system.reader.read(table, wire)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False
