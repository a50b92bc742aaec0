"""ExclusiveStartKey: validation with DynamoDB's messages, and its place."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.read import place_of
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.values import Item
from keyfold_engine.values.wire import check_item

_INVALID = "The provided starting key is invalid"
_MISMATCH = "The provided key element does not match the schema"
# Errors for which DynamoDB does not mention the starting key.
_UNPREFIXED = (
    "contains duplicates",
    "number set",
    "numeric value",
    "significant digits",
    "number with magnitude",
)


def read(request: dict[str, Any]) -> Item | None:
    """The request's starting key, validated."""
    start = request.get("ExclusiveStartKey")
    if start is None:
        return None
    try:
        return check_item(start)
    except ValidationError as error:
        if any(words in error.message for words in _UNPREFIXED):
            raise
        raise ValidationError(f"{_INVALID}: {error.message}") from None


def place(
    table: TableDefinition, index: IndexDefinition | None, key: Item, *, of_scan: bool
) -> bytes:
    """The key's place, if it matches the table or index."""
    attributes = set(table.schema.attributes)
    if index is not None:
        attributes.update(index.schema.attributes)
    if len(key) != len(attributes):
        detail = f": {_MISMATCH}" if of_scan and index is None else ""
        raise RequestInvalid(f"{_INVALID}{detail}")
    schema = table.schema if index is None else index.schema
    if index is not None or not of_scan:
        for name, kind in schema.types.items():
            if name not in key:
                raise ValidationError(_INVALID)
            if kind not in key[name]:
                raise ValidationError(_MISMATCH)
    try:
        place_of_key(table, {n: key[n] for n in table.schema.attributes if n in key})
    except ValidationError as error:
        raise RequestInvalid(f"{_INVALID}: {error.message}") from None
    return place_of(table, index, key)
