"""What the engine knows about a table: its schema, its indexes, and the places of keys.

An item's place is a hash of its partition key, then the partition key, then the sort key, each in
order-preserving bytes with a terminator. So the items of a partition lie together in sort-key
order, partitions come in no useful order, as in DynamoDB, and a segment of a parallel scan is a
range of hashes. The place of an index entry is the place of its index keys followed by the place of
its item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from keyfold_engine.engine import extensions
from keyfold_engine.engine.places import (
    END_OF_COMPONENT,
    HASH_BYTES,
    partition_hash,
    place_function,
)
from keyfold_engine.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from keyfold_engine.values import AttributeValue, Item
from keyfold_engine.values.key_order import key_bytes
from keyfold_engine.values.size import attribute_size

if TYPE_CHECKING:
    from keyfold_engine.engine.direct.table import DirectTable

START = b""
# Longer than the longest run of 0xff that a hash and a partition key can produce.
END = b"\xff" * (HASH_BYTES + PARTITION_KEY_BYTES + 1)


def component(value: AttributeValue) -> bytes:
    """One key attribute in a place."""
    return key_bytes(value).replace(b"\0", b"\0\xff") + END_OF_COMPONENT


def component_prefix(value: AttributeValue) -> bytes:
    """The common prefix of the components of all values that begin with this one."""
    return key_bytes(value).replace(b"\0", b"\0\xff")


def after(place: bytes) -> bytes:
    """The first place that does not begin with `place`."""
    trimmed = place.rstrip(b"\xff")
    return trimmed[:-1] + bytes([trimmed[-1] + 1]) if trimmed else END


def partition_of(place: bytes) -> bytes:
    """The start of an item's place, if the partition key is a single attribute."""
    return place[: place.index(END_OF_COMPONENT, HASH_BYTES) + len(END_OF_COMPONENT)]


def segment(number: int, total: int) -> tuple[bytes, bytes]:
    """The range of places of one segment of a parallel scan."""
    space = 1 << (8 * HASH_BYTES)
    first, end = number * space // total, (number + 1) * space // total
    return (
        first.to_bytes(HASH_BYTES, "big") if number else START,
        end.to_bytes(HASH_BYTES, "big") if number + 1 < total else END,
    )


class KeySchema:
    """The key attributes of a table or index, with their types."""

    __slots__ = ("attributes", "partition", "plain_place", "roles", "sort", "types")

    def __init__(self, key_schema: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> None:
        names = [(element["AttributeName"], element["KeyType"]) for element in key_schema]
        self.partition = tuple(name for name, kind in names if kind == "HASH")
        self.sort = tuple(name for name, kind in names if kind == "RANGE")
        self.attributes = self.partition + self.sort
        self.types = {name: types[name] for name in self.attributes}
        # Name, type and maximum size of each attribute, partition attributes first.
        self.roles = tuple(
            (name, types[name], PARTITION_KEY_BYTES if name in self.partition else SORT_KEY_BYTES)
            for name in self.attributes
        )
        self.plain_place = place_function(self.roles, len(self.partition))
        """The place of an item in normal form with plainly valid keys; None for others."""

    def has(self, item: Mapping[str, AttributeValue]) -> bool:
        """Whether the item has every key attribute with the right type."""
        for name, kind, _limit in self.roles:
            value = item.get(name)
            if value is None or kind not in value:
                return False
        return True

    def holds(self, item: Mapping[str, AttributeValue]) -> bool:
        """Whether an index with these keys holds the item: all present, none empty or too long.

        Items written before their index was created can have keys that it cannot hold.
        """
        for name, kind, limit in self.roles:
            value = item.get(name)
            if value is None or not (content := value.get(kind)):
                return False
            # A character is at most four bytes, so most values need no counting.
            if len(content) * 4 > limit and attribute_size(value) > limit:
                return False
        return True

    def place(self, item: Mapping[str, AttributeValue]) -> bytes:
        """The place of an item with these keys."""
        rest = b"".join([component(item[name]) for name in self.sort])
        return self.partition_place(item) + rest

    def partition_place(self, item: Mapping[str, AttributeValue]) -> bytes:
        """The common prefix of all places of one partition."""
        keys = b"".join([component(item[name]) for name in self.partition])
        return partition_hash(keys) + keys

    def key_of(self, item: Mapping[str, AttributeValue]) -> Item:
        return {name: item[name] for name in self.attributes}


class IndexDefinition:
    """A local or global secondary index."""

    __slots__ = (
        "attributes", "definition", "is_local", "is_whole", "name", "number", "projection",
        "schema", "status",
    )  # fmt: skip

    def __init__(
        self,
        definition: Mapping[str, Any],
        types: Mapping[str, str],
        table: KeySchema,
        *,
        is_local: bool,
    ) -> None:
        self.definition = definition
        self.name: str = definition["IndexName"]
        self.number: int = definition["Number"]
        self.is_local = is_local
        self.schema = KeySchema(definition["KeySchema"], types)
        self.status: str = definition.get("IndexStatus", "ACTIVE")
        self.projection: str = definition["Projection"]["ProjectionType"]
        # None stands for the whole item.
        self.attributes: frozenset[str] | None = None
        if self.projection != "ALL":
            extra = definition["Projection"].get("NonKeyAttributes", ())
            self.attributes = frozenset((*table.attributes, *self.schema.attributes, *extra))
        # A local index counts for the size of collections.
        self.is_whole = self.attributes is None and not is_local

    def project(self, item: Item) -> Item:
        """The part of an item that the index holds."""
        if self.attributes is None:
            return item
        return {name: value for name, value in item.items() if name in self.attributes}


class TableDefinition:
    """One table by its definition. A change creates a new object."""

    def __init__(self, id: int, definition: dict[str, Any]) -> None:
        self.id = id
        self.definition = definition
        self.name: str = definition["TableName"]
        self.arn: str = definition["TableArn"]
        types = {a["AttributeName"]: a["AttributeType"] for a in definition["AttributeDefinitions"]}
        self.schema = KeySchema(definition["KeySchema"], types)
        self.local_indexes = tuple(
            IndexDefinition(index, types, self.schema, is_local=True)
            for index in definition.get("LocalSecondaryIndexes", ())
        )
        self.global_indexes = tuple(
            IndexDefinition(index, types, self.schema, is_local=False)
            for index in definition.get("GlobalSecondaryIndexes", ())
        )
        self.indexes = self.local_indexes + self.global_indexes
        # Alphabetical: if a value is invalid for several indexes, the first is reported.
        self.indexes_by_name = {
            index.name: index for index in sorted(self.indexes, key=lambda index: index.name)
        }
        self.ttl: str | None = definition.get("TimeToLive")
        # The source of a restore in progress.
        self.restored_from: dict[str, Any] | None = definition.get("RestoredFrom")
        # The last row whose expiry was recorded after TTL was enabled.
        self.expiry_noted_to: int | None = definition.get("ExpiryNotedTo")
        stream = definition.get("Stream")
        self.stream: int | None = stream["Number"] if stream else None
        self.view: str | None = stream["View"] if stream else None
        self.is_filling = any(index.status == "CREATING" for index in self.global_indexes)
        # What features add; see `extensions`.
        self.before: list[extensions.Precede] = []
        self.after: list[extensions.Follow] = []
        self.describers: list[extensions.Describe] = []
        self.further_indexes: list[extensions.FurtherIndex] = []
        self.extensions = extensions.for_members(definition)
        for extension in self.extensions:
            extension.attach(self)
        # Whether a write must read what it replaces.
        self.tracks_changes = bool(
            self.stream is not None
            or self.indexes
            or self.before
            or self.after
            or self.further_indexes
        )

    @cached_property
    def direct(self) -> DirectTable:
        """The table for the short way of common requests."""
        from keyfold_engine.engine.direct.table import DirectTable

        return DirectTable(self)

    @classmethod
    def load(cls, id: int, definition: bytes) -> TableDefinition:
        return cls(id, orjson.loads(definition))

    def with_changes(self, **changes: Any) -> TableDefinition:
        """The table with changed entries in its definition; None removes one."""
        definition = {**self.definition, **changes}
        return TableDefinition(self.id, {k: v for k, v in definition.items() if v is not None})

    def saving(self, item: Item | None) -> int:
        """How many bytes less than its size a write of an item is billed."""
        return sum({each.attribute: each.saving(item) for each in self.further_indexes}.values())

    def stored(self) -> bytes:
        return orjson.dumps(self.definition)

    def expiry(self, item: Item) -> int | None:
        """When the item expires, according to its TTL attribute."""
        if self.ttl is None:
            return None
        value = item.get(self.ttl)
        if value is None or "N" not in value:
            return None
        number = value["N"].partition(".")[0]
        # SQLite integers have 64 bits; times beyond that do not matter.
        return int(number) if number and len(number) < 18 and number != "-" else None
