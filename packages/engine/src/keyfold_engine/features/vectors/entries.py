"""How a write changes a vector index, and which values the index refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from keyfold_engine.engine.keys import empty_index_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.features.vectors import numbers, storage
from keyfold_engine.features.vectors.index import VectorIndex
from keyfold_engine.features.vectors.partition import size_of
from keyfold_engine.limits import PARTITION_KEY_BYTES, SEARCH_FILTER_BYTES, VECTOR_REQUEST_BYTES
from keyfold_engine.values import AttributeValue, Item
from keyfold_engine.values.key_order import key_bytes
from keyfold_engine.values.size import attribute_size, item_size

_INVALID = "One or more parameter values were invalid. "
_RANGE = "[-3.4028235E38, 3.4028235E38]"


class VectorEntry(NamedTuple):
    """An item's entry in an index."""

    part: bytes
    shown: Item
    vector: bytes
    size: int
    saving: int
    """How much smaller the vector is than the list of numbers in the item."""

    def filters(self, index: VectorIndex) -> dict[str, AttributeValue]:
        return {name: self.shown[name] for name in index.filters if name in self.shown}


def part_of(value: AttributeValue | None) -> bytes:
    """The partition of a HASH value; without one, all entries are in one."""
    return b"" if value is None else key_bytes(value)


def entry(index: VectorIndex, item: Item) -> VectorEntry | None:
    """The entry of an item; None if the index cannot hold it."""
    value = item.get(index.attribute)
    elements = None if value is None else value.get("L")
    if value is None or elements is None or len(elements) != index.dimensions:
        return None
    vector = numbers.packed(elements)
    if vector is None or not _fits_schema(index, item):
        return None
    shown = index.project(item)
    return VectorEntry(
        part_of(item[index.hash] if index.hash is not None else None),
        shown,
        vector,
        size_of(index.dimensions, index.attribute, item_size(shown)),
        index.saving(item),
    )


class VectorChange:
    """The entry of one item in one vector index, before and after a write."""

    __slots__ = ("after", "before", "index")

    def __init__(
        self, index: VectorIndex, before: VectorEntry | None, after: VectorEntry | None
    ) -> None:
        self.index, self.before, self.after = index, before, after

    def is_change(self) -> bool:
        return self.before != self.after

    def bytes(self) -> int:
        """The billed bytes; a move to another HASH value is two writes."""
        before, after = self.before, self.after
        if not self.is_change():
            return 0
        sizes = [max(each.size, VECTOR_REQUEST_BYTES) for each in (before, after) if each]
        moved = before is not None and after is not None and before.part != after.part
        return sum(sizes) if moved else max(sizes)

    def store(self, session: Session, table: int, row: int) -> None:
        if not self.is_change():
            return
        if self.after is None:
            storage.delete_vector(session, table, self.index.number, row)
        else:
            put(session, table, self.index, row, self.after)


def put(session: Session, table: int, index: VectorIndex, row: int, entry: VectorEntry) -> None:
    filters = orjson.dumps(entry.filters(index))
    storage.put_vector(
        session,
        table,
        index.number,
        row,
        entry.part,
        entry.size,
        entry.saving,
        filters,
        entry.vector,
    )


def change(index: VectorIndex, old: Item | None, new: Item | None) -> VectorChange | None:
    """The change of an index that holds the item before or after."""
    before = None if old is None else entry(index, old)
    after = None if new is None else entry(index, new)
    return None if before is None and after is None else VectorChange(index, before, after)


def check(
    index: VectorIndex,
    item: Mapping[str, AttributeValue],
    written: frozenset[str] | None = None,
) -> None:
    """Refuse values that an index cannot hold; for an update only those it wrote."""
    by_update = written is not None
    if (written is None or index.attribute in written) and index.attribute in item:
        _check_vector(index, item[index.attribute])
    for name, kind in index.types.items():
        if (written is None or name in written) and name in item:
            _check_element(index, name, kind, item[name], by_update=by_update)


def _check_vector(index: VectorIndex, value: AttributeValue) -> None:
    [(kind, elements)] = value.items()
    name, where = index.attribute, f"IndexName: {index.name}"
    if kind != "L":
        raise ValidationError(
            f"{_INVALID}Invalid type for parameter {name}, "
            f"Expected: 32-bit floating point number list {where}"
        )
    if len(elements) != index.dimensions:
        raise ValidationError(
            f"{_INVALID}Invalid size for parameter {name}, Expected: {index.dimensions}, "
            f"Actual: {len(elements)} {where}"
        )
    for at, element in enumerate(elements):
        [(kind, content)] = element.items()
        if kind != "N":
            raise ValidationError(
                f"{_INVALID}Invalid type for parameter {name}[{at}], Expected: 32-bit floating "
                f"point number, Actual: {kind}. {where}"
            )
        if not numbers.fits(content):
            raise ValidationError(
                f"{_INVALID}Invalid value for parameter {name}[{at}], "
                f"Value: {_java_number(content)} is outside valid range {_RANGE}. {where}"
            )


def _java_number(number: str) -> str:
    """A large number in Java's format: 1E+39."""
    digits = number.lstrip("-")
    significant = digits.partition(".")[0].rstrip("0") or "0"
    mantissa = significant[0] + (f".{significant[1:]}" if len(significant) > 1 else "")
    sign = "-" if number.startswith("-") else ""
    return f"{sign}{mantissa}E+{len(digits.partition('.')[0]) - 1}"


def _check_element(
    index: VectorIndex, name: str, kind: str, value: AttributeValue, *, by_update: bool
) -> None:
    [(actual, content)] = value.items()
    if actual != kind:
        raise ValidationError(
            f"{_INVALID}Attribute '{name}' type mismatch. Expected: {kind}, Actual: {actual}. "
            f"IndexName: {index.name}"
        )
    if name != index.hash:
        if attribute_size(value) > SEARCH_FILTER_BYTES:
            raise parameter_invalid(
                "Size limit exceeded for SearchSchema "
                f"attribute '{name}': maximum {SEARCH_FILTER_BYTES} bytes"
            )
        return
    if content == "":
        raise empty_index_key(index.name, name, kind, by_update=by_update)
    if attribute_size(value) > PARTITION_KEY_BYTES:
        raise parameter_invalid(
            "Aggregate size for HASH key attributes "
            f"exceeds the maximum of {PARTITION_KEY_BYTES} bytes"
        )


def _fits_schema(index: VectorIndex, item: Item) -> bool:
    """Whether the schema's attributes are valid for a write."""
    if index.hash is not None and index.hash not in item:
        return False
    try:
        for name, kind in index.types.items():
            if name in item:
                _check_element(index, name, kind, item[name], by_update=False)
    except ValidationError:
        return False
    return True
