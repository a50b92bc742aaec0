"""Stored items, decoded by the declaration: entity, values, size."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from keyfold.design.schema import AttributeSchema, EntitySchema, Index, Schema, TableSchema
from keyfold.design.template import Template
from keyfold.maintain.fact import MARKERS
from keyfold.runtime.idempotency import PREFIX as ONCE
from keyfold_engine.values.size import item_size
from keyfold_engine.values.units import read_units, write_units

WireItem = dict[str, Any]
Change = tuple[str, str | None, str | None]
"""An attribute, what it was and what it is."""
TITLE_LETTERS = 200
VALUE_LETTERS = 2_000
TITLES = ("name", "title", "text", "subject", "label", "body", "description")


@dataclass(frozen=True)
class KnownItem:
    """A stored item with the entity that declares it, if one does."""

    table: TableSchema
    wire: WireItem
    entity: EntitySchema | None
    support: bool
    """One of keyfold's own items: a stored request, a unique marker."""

    @cached_property
    def size(self) -> int:
        return item_size(self.wire)

    @property
    def kind(self) -> str:
        if self.entity is not None:
            return self.entity.name
        return "support" if self.support else "undeclared"

    @property
    def key(self) -> WireItem:
        return {name: self.wire[name] for name in self.table.key_attributes}

    @property
    def partition(self) -> str:
        return scalar(self.wire[self.table.partition])

    @property
    def sort(self) -> str | None:
        return None if self.table.sort is None else scalar(self.wire[self.table.sort])

    @cached_property
    def values(self) -> dict[str, Any]:
        """The values of its fields, including those stored only in keys."""
        if self.entity is None:
            return {name: plain(value) for name, value in self.wire.items()}
        found = self._from_keys()
        for attribute in self.entity.attributes:
            if attribute.is_stored and attribute.name in self.wire:
                found[attribute.field] = plain(self.wire[attribute.name])
        return found

    def _from_keys(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        assert self.entity is not None, "its keys are an entity's"
        for name, template in key_templates(self.table, self.entity):
            if name in self.wire:
                found |= template.parse(scalar(self.wire[name])) or {}
        return found

    @cached_property
    def title(self) -> str:
        """Its title."""
        key = self.entity.key if self.entity is not None else None
        return self.name_beside(key.partition.fields if key is not None else ())

    def name_beside(self, above: Collection[str]) -> str:
        """What distinguishes it among items with the same parent: a member's name in its group."""
        ending = [f for f in self.values if f.endswith(("_name", "_title", "Name", "Title"))]
        ending.sort(key=lambda f: names_of(f, above))
        found = (self.values.get(field) for field in (*TITLES, *ending, "email"))
        return next((one for one in found if isinstance(one, str) and one), "")[:TITLE_LETTERS]

    @property
    def read_units(self) -> float:
        return read_units(self.size, consistent=False)

    @property
    def write_units(self) -> float:
        return write_units(self.size) * (1 + len(self.indexes))

    @cached_property
    def indexes(self) -> list[Index]:
        """The indexes that it is in."""
        return [
            index
            for index in self.table.indexes
            if all(name in self.wire for name in index.key_attributes)
        ]


def names_of(field: str, above: Collection[str]) -> bool:
    """Whether a field names one of those ids: `group_name` beside `group_id`."""
    return f"{field.removesuffix('_name').removesuffix('_title')}_id" in above


class ItemReader:
    """Recognises the items of a design."""

    def __init__(self, schema: Schema) -> None:
        self._by_type = {
            (entity.table, entity.type_name or entity.name): entity for entity in schema.entities
        }
        self._shapes: dict[str, list[EntitySchema]] = {}
        for entity in schema.entities:
            if entity.key is not None:
                self._shapes.setdefault(entity.table, []).append(entity)

    def read(self, table: TableSchema, wire: WireItem) -> KnownItem:
        entity = self._recognise(table, wire)
        begins = scalar(wire[table.partition])
        return KnownItem(table, wire, entity, entity is None and begins.startswith((ONCE, MARKERS)))

    def _recognise(self, table: TableSchema, wire: WireItem) -> EntitySchema | None:
        attribute = table.type_attribute
        if attribute is not None and attribute in wire:
            named = self._by_type.get((table.name, wire[attribute].get("S", "")))
            if named is not None:
                return named
        return next((e for e in self._shapes.get(table.name, ()) if _fits(table, e, wire)), None)


def _fits(table: TableSchema, entity: EntitySchema, wire: WireItem) -> bool:
    assert entity.key is not None, "only entities with a key are compared"
    for name, kind, template in (
        (table.partition, table.partition_type, entity.key.partition),
        (table.sort, table.sort_type, entity.key.sort),
    ):
        if name is None or template is None or kind != "S":
            continue
        if not template.matches(wire[name].get("S", "")):
            return False
    return True


def key_templates(table: TableSchema, entity: EntitySchema) -> list[tuple[str, Template]]:
    """The attributes that hold an entity's keys, with their templates."""
    found = [(table.index(placement.index), placement.key) for placement in entity.placements]
    return [
        (name, template)
        for owner, key in [(table, entity.key), *found]
        if owner is not None and key is not None
        for name, _, template in owner.templates(key)
    ]


def partition_of(wire: WireItem, index: Index) -> str:
    """The partition of an index that an item is in, as one text."""
    values = [scalar(wire[name]) for name in index.partition_types]
    return values[0] if len(values) == 1 else json.dumps(values, ensure_ascii=False)


def partition_values(owner: TableSchema | Index, text: str) -> dict[str, dict[str, str]]:
    """The key attributes of a partition that is given as one text."""
    types = owner.partition_types
    values = [text] if len(types) == 1 else json.loads(text)
    if not isinstance(values, list):
        raise ValueError("several attributes are a list")
    pairs = zip(types.items(), values, strict=True)
    return {name: {kind: str(value)} for (name, kind), value in pairs}


def scalar(value: Mapping[str, Any]) -> str:
    """The text of a key attribute."""
    return str(next(iter(value.values())))


def plain(value: Mapping[str, Any]) -> Any:
    """A wire value as plain data; numbers stay text, so that none is rounded."""
    ((kind, content),) = value.items()
    if kind == "NULL":
        return None
    if kind == "L":
        return [plain(one) for one in content]
    if kind == "M":
        return {name: plain(one) for name, one in content.items()}
    if kind in ("SS", "NS", "BS"):
        return sorted(content)
    return content


def key_texts(table: TableSchema, key: Mapping[str, Any]) -> tuple[str, str | None]:
    """Partition and sort key, as addresses have them."""
    return scalar(key[table.partition]), scalar(key[table.sort]) if table.sort else None


def differences(
    old: WireItem | None, new: WireItem | None, without: Collection[str] = ()
) -> list[Change]:
    """The attributes that differ between two states of an item."""
    before, after = old or {}, new or {}

    def stored_text(side: WireItem, name: str) -> str | None:
        return value_text(plain(side[name])) if name in side else None

    return [
        (name, stored_text(before, name), stored_text(after, name))
        for name in {**before, **after}
        if name not in without and before.get(name) != after.get(name)
    ]


def binary(content: str | bytes) -> bytes:
    """The bytes of a binary, which clients give as they are or as base64."""
    return b64decode(content) if isinstance(content, str) else bytes(content)


def value_text(value: Any, attribute: AttributeSchema | None = None) -> str:
    """A value as pages show it; a long one is cut, and says how long it is."""
    shown = _value_text(value, attribute)
    if len(shown) <= VALUE_LETTERS:
        return shown
    return f"{shown[:VALUE_LETTERS]}… ({len(shown):,} characters)"


def _value_text(value: Any, attribute: AttributeSchema | None) -> str:
    if value is None:
        return "nothing"
    if attribute is not None and attribute.type == "timestamp":
        return _time(value, attribute.stored)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "none"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _time(value: Any, stored: str) -> str:
    try:
        if str(value).lstrip("-").isdigit():
            scale = 1000 if stored.endswith("ms") or len(str(value)) > 11 else 1
            at = datetime.fromtimestamp(int(value) / scale, UTC)
        else:
            at = datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return str(value)
    return f"{at:%Y-%m-%d %H:%M} UTC"
