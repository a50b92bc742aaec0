"""A table: a dictionary of items. Its indexes are computed from it each time they are read."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.reference.grammar import Literal, Path, Update
from tests.reference.values import (
    Item,
    Refused,
    Value,
    Wire,
    as_wire,
    invalid,
    item_size,
    parameter,
    parsed,
    size,
    sortable,
    wire_item,
)

LARGEST_ITEM = 400 * 1024
LONGEST_HASH, LONGEST_RANGE = 2048, 1024
FIVE_YEARS = 5 * 365 * 24 * 3600
MISMATCH = "The provided key element does not match the schema"
UPDATED_KEY = "The update expression attempted to update the secondary index key"
WORDS = {"S": "string", "B": "binary"}
Key = tuple[Value, ...]


@dataclass
class Index:
    name: str
    schema: list[str]
    projection: Wire
    local: bool

    def projected(self, table: Table) -> set[str] | None:
        """None is all."""
        if self.projection["ProjectionType"] == "ALL":
            return None
        named = self.projection.get("NonKeyAttributes", [])
        return {*self.schema, *table.schema, *named}

    def entry(self, table: Table, item: Item | None) -> Item | None:
        if item is None:
            return None
        for name in self.schema:
            # Items from before the index may have what it cannot hold: they are passed over.
            if name not in item or item[name][0] != table.types[name]:
                return None
            longest = LONGEST_HASH if name == self.schema[0] else LONGEST_RANGE
            if _is_empty(item[name]) or size(item[name]) > longest:
                return None
        names = self.projected(table)
        return {name: item[name] for name in item if names is None or name in names}


@dataclass
class Table:
    name: str
    schema: list[str]
    types: dict[str, str]
    indexes: list[Index]
    view: str | None
    items: dict[Key, Item] = field(default_factory=dict)
    records: list[Wire] = field(default_factory=list)
    expires: str | None = None

    def index(self, name: str | None) -> Index | None:
        if name is None:
            return None
        for index in self.indexes:
            if index.name == name:
                return index
        raise invalid(f"The table does not have the specified index: {name}")

    def key_of(self, item: Item) -> Key:
        return tuple(item[name] for name in self.schema)

    def key_item(self, key: Key) -> Item:
        return dict(zip(self.schema, key, strict=True))

    def key(self, wire: Wire) -> Key:
        """The key of a request: exactly the schema's attributes, of its types."""
        given = {name: parsed(value) for name, value in wire.items()}
        if set(given) != set(self.schema):
            raise invalid(MISMATCH)
        for name in self.schema:
            if given[name][0] != self.types[name]:
                raise invalid(MISMATCH)
        self._check_lengths(given)
        return self.key_of(given)

    def check_key_of(self, item: Item) -> None:
        """What a batch checks of an item's key, in the words for a key alone."""
        if any(item.get(name, ("", None))[0] != self.types[name] for name in self.schema):
            raise invalid(MISMATCH)

    def check_item(self, item: Item) -> None:
        """What PutItem checks of an item."""
        for name in self.schema:
            if name not in item:
                raise parameter(f"Missing the key {name} in the item")
        for name in self.schema:
            if item[name][0] != self.types[name]:
                raise parameter(
                    f"Type mismatch for key {name} expected: {self.types[name]} "
                    f"actual: {item[name][0]}"
                )
        self._check_lengths(item)
        self.check_index_keys(item)

    def _check_lengths(self, item: Item) -> None:
        for name, longest in zip(self.schema, (LONGEST_HASH, LONGEST_RANGE), strict=False):
            if _is_empty(item[name]):
                raise invalid(
                    "One or more parameter values are not valid. The AttributeValue for a key "
                    f"attribute cannot contain an empty {WORDS[item[name][0]]} value. Key: {name}"
                )
            if size(item[name]) > longest:
                raise parameter(
                    "Size of hashkey has exceeded the maximum size limit of2048 bytes"
                    if longest == LONGEST_HASH
                    else "Aggregated size of all range keys has exceeded the size limit of "
                    "1024 bytes"
                )

    def check_index_keys(self, item: Item) -> None:
        for index, name in self._index_keys(item):
            kind = item[name][0]
            if kind != self.types[name]:
                raise self.wrong_index_key(index, name, kind)
            if _is_empty(item[name]):
                several = sum(name in each.schema for each in self.indexes) > 1
                raise invalid(
                    None
                    if several
                    else "One or more parameter values are not valid. A value specified for a "
                    "secondary index key is not supported. The AttributeValue for a key "
                    f"attribute cannot contain an empty {WORDS[kind]} value. "
                    f"IndexName: {index.name}, IndexKey: {name}"
                )
            if size(item[name]) > (LONGEST_HASH if name == index.schema[0] else LONGEST_RANGE):
                raise invalid()

    def wrong_index_key(self, index: Index, name: str, kind: str) -> Refused:
        """Which of several indexes is named is not documented."""
        if sum(name in each.schema for each in self.indexes) > 1:
            return invalid()
        return parameter(
            f"Type mismatch for Index Key {name} Expected: {self.types[name]} "
            f"Actual: {kind} IndexName: {index.name}"
        )

    def check_literals(self, update: Update) -> None:
        """What an update is sure to store in an index key, before its condition."""
        assigned = {
            path.steps: node.value for path, node in update.SET if isinstance(node, Literal)
        } | {path.steps: value for path, value in update.ADD}
        literals = {str(steps[0]): value for steps, value in assigned.items() if len(steps) == 1}
        for index, name in self._index_keys(literals):
            if literals[name][0] != self.types[name]:
                raise self.wrong_index_key(index, name, literals[name][0])
        self.check_updated_keys(literals, set(literals))

    def check_updated_keys(self, item: Item, written: set[str]) -> None:
        for index, name in self._index_keys(item):
            if name not in written:
                continue
            kind = item[name][0]
            if kind != self.types[name]:
                raise invalid(f"{UPDATED_KEY} to unsupported type")
            if _is_empty(item[name]):
                raise invalid(
                    "One or more parameter values are not valid. The update expression attempted "
                    "to update a secondary index key to a value that is not supported. The "
                    "AttributeValue for a key attribute cannot contain an empty "
                    f"{WORDS[kind]} value."
                )
            if size(item[name]) > (LONGEST_HASH if name == index.schema[0] else LONGEST_RANGE):
                raise invalid(f"{UPDATED_KEY} beyond allowed size limits")

    def _index_keys(self, item: Item) -> list[tuple[Index, str]]:
        return [
            (index, name)
            for index in self.indexes
            for name in index.schema
            if name in item and name not in self.schema
        ]

    def check_paths(self, paths: list[Path]) -> None:
        """Nothing lies inside a key."""
        for path in paths:
            if len(path.steps) == 1:
                continue
            name = str(path.steps[0])
            words = (
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are "
                "not allowed: "
            )
            if name in self.schema:
                raise invalid(f"{words}Key: {name}")
            if any(name in index.schema for index in self.indexes):
                raise invalid(f"{words}IndexKey: {name}")

    def write(self, key: Key, new: Item | None, by: Wire | None = None) -> Spent:
        """Stores or removes the item; what that cost, and a record if anything changed."""
        old = self.items.pop(key, None)
        if new is not None:
            self.items[key] = new
        spent = Spent(self)
        spent.add(None, write_units(old, new))
        for index in self.indexes:
            before, after = index.entry(self, old), index.entry(self, new)
            if before == after:
                continue
            moved = (
                before is None
                or after is None
                or any(before[name] != after[name] for name in index.schema)
            )
            each = [(before, None), (None, after)] if moved else [(before, after)]
            spent.add(index, sum(write_units(*pair) for pair in each if pair != (None, None)))
        if old != new and self.view:
            self.records.append(self._record(key, old, new, by))
        return spent

    def _record(self, key: Key, old: Item | None, new: Item | None, by: Wire | None) -> Wire:
        change: Wire = {"Keys": wire_item(self.key_item(key)), "StreamViewType": self.view}
        if new is not None and self.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            change["NewImage"] = wire_item(new)
        if old is not None and self.view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
            change["OldImage"] = wire_item(old)
        name = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        return {"eventName": name, "dynamodb": change} | ({"userIdentity": by} if by else {})

    def expire(self, now: int) -> None:
        """Deletes what its time attribute says, unless that is over five years ago."""
        for key, item in list(self.items.items()):
            kind, held = item.get(self.expires or "", ("", 0))
            if kind == "N" and now - FIVE_YEARS < held < now:
                service = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
                self.write(key, None, by=service)

    def collection(self, key: Key) -> Wire:
        return {
            "ItemCollectionKey": {self.schema[0]: as_wire(key[0])},
            "SizeEstimateRangeGB": [0.0, 1.0],
        }

    def entries(self, index: Index | None, hash_value: Value | None = None) -> list[Item]:
        """What a table or an index holds, of one partition or of all, in the order of sort keys."""
        schema = index.schema if index else self.schema
        held = [index.entry(self, item) if index else item for item in self.items.values()]
        found = [
            entry for entry in held if entry is not None and hash_value in (None, entry[schema[0]])
        ]
        if len(schema) == 1:
            return found
        found.sort(key=lambda entry: sortable(entry[schema[1]]))
        return sorted(found, key=lambda entry: repr(entry[schema[0]]))


def _is_empty(value: Value) -> bool:
    return value[0] in WORDS and not value[1]


def write_units(old: Item | None, new: Item | None) -> int:
    largest = max(item_size(item) if item else 0 for item in (old, new))
    return max(1, math.ceil(largest / 1024))


def read_units(bytes_read: int, consistent: bool) -> float:
    units = max(1, math.ceil(bytes_read / 4096))
    return float(units) if consistent else units / 2


def check_size(item: Item, message: str) -> None:
    if item_size(item) > LARGEST_ITEM:
        raise invalid(message)


@dataclass
class Spent:
    """Units spent on a table and on its indexes."""

    table: Table
    units: Counter[Any] = field(default_factory=Counter)
    indexes: dict[str, Index] = field(default_factory=dict)

    def add(self, index: Index | None, units: float) -> None:
        if index is not None:
            self.indexes[index.name] = index
        self.units[index.name if index else None] += units  # type: ignore[assignment]

    def join(self, other: Spent) -> None:
        self.indexes |= other.indexes
        for name, units in other.units.items():
            self.units[name] += units

    def shown(self, wanted: str | None, word: str | None = None) -> Wire:
        def each(units: float) -> Wire:
            members = ["CapacityUnits", *([word] if word else [])]
            return {member: float(units) for member in members}

        total = {"TableName": self.table.name, **each(sum(self.units.values()))}
        if wanted == "TOTAL":
            return total
        total["Table"] = each(self.units[None])
        for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            listed = {
                name: each(self.units[name])
                for name, index in self.indexes.items()
                if index.local == local
            }
            if listed:
                total[member] = listed
        return total


def missing() -> Refused:
    return Refused("ResourceNotFoundException")
