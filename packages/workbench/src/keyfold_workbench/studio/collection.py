"""Pages of items: of a partition, through an index, or of one entity, and their cost."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import orjson

from keyfold.design.schema import Index, TableSchema
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import Walk
from keyfold_workbench.studio.items import KnownItem, partition_values
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageMissing

ROWS = 100
"""Items of a page."""
LOOKS = (ROWS, 10 * ROWS, 40 * ROWS, 40 * ROWS)
"""The most items examined, in successive requests, for one page; each ends at a megabyte."""
ANY = "*"
"""Items of every kind."""


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
    """Items of which an attribute, or any, contains a text or is a number.

    It looks at what was read: a filter of the backend's costs the same and sees one attribute.
    """

    attribute: str
    """Empty for any."""
    value: str

    def matches(self, item: KnownItem) -> bool:
        names = [self.attribute] if self.attribute else list(item.wire)
        return any(self._holds(item.wire[name]) for name in names if name in item.wire)

    def _holds(self, value: dict[str, Any]) -> bool:
        ((kind, content),) = value.items()
        if kind in ("M", "L"):
            return any(map(self._holds, content.values() if kind == "M" else content))
        if kind == "N":
            return _is_number(self.value) and Decimal(content) == Decimal(self.value)
        if kind in ("SS", "NS"):
            return any(self._holds({kind[0]: one}) for one in content)
        return kind == "S" and self.value.casefold() in content.casefold()


def partition_page(
    system: StudioSystem,
    table: TableSchema,
    index: Index | None,
    key: str,
    *,
    after: str = "",
    only: FieldFilter | None = None,
    rows: int = ROWS,
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
        "ReturnConsumedCapacity": "TOTAL",
    }
    if index is not None:
        request["IndexName"] = index.name
    page, keys = (
        ItemPage(after=after),
        {*table.key_attributes, *(index.key_attributes if index else ())},
    )
    _fill(system, table, "Query", request, page, only.matches if only else None, keys, rows)
    return page


def entity_page(
    system: StudioSystem,
    table: TableSchema,
    kind: str,
    *,
    after: str = "",
    only: FieldFilter | None = None,
) -> ItemPage:
    """A page of one kind of items, an entity's or undeclared ones, in the table's order."""
    request: dict[str, Any] = {
        "TableName": system.physical(table),
        "ReturnConsumedCapacity": "TOTAL",
    }
    entity = system.entity(kind)
    if entity is not None and table.type_attribute is not None and system.design is not None:
        # An item that does not say its type is known by its key.
        request["FilterExpression"] = "#t = :t OR attribute_not_exists(#t)"
        request["ExpressionAttributeNames"] = {"#t": table.type_attribute}
        request["ExpressionAttributeValues"] = {":t": {"S": entity.type_name or entity.name}}
    page = ItemPage(after=after)

    def fits(item: KnownItem) -> bool:
        return kind in (ANY, item.kind) and (only is None or only.matches(item))

    _fill(system, table, "Scan", request, page, fits, set(table.key_attributes), ROWS)
    return page


def _fill(
    system: StudioSystem,
    table: TableSchema,
    operation: Literal["Query", "Scan"],
    request: dict[str, Any],
    page: ItemPage,
    fits: Callable[[KnownItem], bool] | None,
    keys: Collection[str],
    rows: int,
) -> None:
    """Read until a page is full, as often as one page may."""
    for limit in LOOKS:
        before = page.read
        asked = {**request, "Limit": min(limit, rows) if fits is None else limit}
        found = _read(system, table, operation, asked, page)
        for at, item in enumerate(found, 1):
            if fits is not None and not fits(item):
                continue
            if len(page.items) == rows:
                # The next page begins behind the last row, and looks at the others again.
                last = page.items[-1].wire
                page.after = seal({name: last[name] for name in keys})
                page.read = before + (page.read - before) * (at - 1) // len(found)
                break
            page.items.append(item)
        if not page.after or len(page.items) == rows:
            break


def _read(
    system: StudioSystem,
    table: TableSchema,
    operation: Literal["Query", "Scan"],
    request: dict[str, Any],
    page: ItemPage,
) -> list[KnownItem]:
    walk = Walk(operation, request, unseal(page.after) if page.after else None)
    answer = run_by(system.call, walk.next())
    page.units += float(answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0))
    page.requests += 1
    page.read += int(answer.get("ScannedCount", len(answer["Items"])))
    page.after = seal(walk.position) if walk.position else ""
    return [system.reader.read(table, wire) for wire in answer["Items"]]


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
