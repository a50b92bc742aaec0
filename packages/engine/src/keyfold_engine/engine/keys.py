"""Keys in requests: validation with DynamoDB's messages, and their place."""

from __future__ import annotations

from keyfold_engine.engine.tables import IndexDefinition, KeySchema, TableDefinition
from keyfold_engine.errors import EmptyKey, ValidationError, empty_key, parameter_invalid
from keyfold_engine.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from keyfold_engine.values import AttributeValue, Item
from keyfold_engine.values.size import attribute_size

_NOT_VALID = "One or more parameter values are not valid. "
_EMPTY = {"S": "string", "B": "binary"}


def place_of_key(table: TableDefinition, key: Item) -> bytes:
    """The place of the item with this key, which must match the table's schema exactly."""
    schema = table.schema
    if len(key) == len(schema.types):
        place = schema.plain_place(key)
        if place is not None:
            return place
    if len(key) != len(schema.types) or not schema.has(key):
        raise ValidationError("The provided key element does not match the schema")
    _check_contents(schema, key)
    return schema.place(key)


def place_of_item(table: TableDefinition, item: Item, *, explains: bool = True) -> bytes:
    """The place of an item to put; it must have the table's key and valid index keys.

    A batch does not explain a missing key or one of another type.
    """
    place = table.schema.plain_place(item)
    if place is None:
        if not explains and not table.schema.has(item):
            raise ValidationError("The provided key element does not match the schema")
        _check_presence(table.schema, item)
        _check_contents(table.schema, item)
        place = table.schema.place(item)
    for index in table.indexes:
        if not are_plain(index.schema, item):
            for each in table.indexes_by_name.values():
                check_index_keys(each, item)
            break
    for further in table.further_indexes:
        further.check(item)
    return place


def _check_presence(schema: KeySchema, item: Item) -> None:
    for name, kind in schema.types.items():
        value = item.get(name)
        if value is None:
            raise parameter_invalid(f"Missing the key {name} in the item")
        if kind not in value:
            actual = next(iter(value))
            raise parameter_invalid(
                f"Type mismatch for key {name} expected: {kind} actual: {actual}"
            )


def check_index_keys(index: IndexDefinition, item: Item, *, by_update: bool = False) -> None:
    """Refuse index keys that the index cannot hold; missing ones are allowed."""
    if are_plain(index.schema, item):
        return
    for name, kind in index.schema.types.items():
        value = item.get(name)
        if value is None:
            continue
        if kind not in value:
            actual = next(iter(value))
            raise parameter_invalid(
                f"Type mismatch for Index Key {name} Expected: {kind} Actual: {actual} "
                f"IndexName: {index.name}"
            )
        if value[kind] == "":
            raise empty_index_key(index.name, name, kind, by_update=by_update)
    _check_sizes(index.schema, item)


def empty_index_key(index: str, name: str, kind: str, *, by_update: bool) -> EmptyKey:
    """The error about an empty key of an index."""
    beginning, end = (
        ("The update expression attempted to update a secondary index key to a value that", "")
        if by_update
        else (
            "A value specified for a secondary index key",
            f" IndexName: {index}, IndexKey: {name}",
        )
    )
    return EmptyKey(
        f"{_NOT_VALID}{beginning} is not supported. The AttributeValue for a key attribute cannot "
        f"contain an empty {_EMPTY[kind]} value.{end}"
    )


def are_plain(schema: KeySchema, item: Item) -> bool:
    """Whether all present keys have the right type and are neither empty nor too long."""
    for name, kind, limit in schema.roles:
        value = item.get(name)
        if value is None:
            continue
        content = value.get(kind)
        # A character is at most four bytes, so most values need no counting.
        if not content or len(content) * 4 > limit:
            return False
    return True


def _check_contents(schema: KeySchema, key: Item) -> None:
    for name, kind in schema.types.items():
        if key[name][kind] == "":
            raise empty_key(kind, name)
    _check_sizes(schema, key)


def _check_sizes(schema: KeySchema, item: Item) -> None:
    for name in schema.partition:
        if _exceeds(item.get(name), PARTITION_KEY_BYTES):
            raise parameter_invalid(
                f"Size of hashkey has exceeded the maximum size limit of{PARTITION_KEY_BYTES} bytes"
            )
    for name in schema.sort:
        if _exceeds(item.get(name), SORT_KEY_BYTES):
            raise parameter_invalid(
                f"Aggregated size of all range keys has exceeded the size limit of "
                f"{SORT_KEY_BYTES} bytes"
            )


def _exceeds(value: AttributeValue | None, limit: int) -> bool:
    return value is not None and attribute_size(value) > limit
