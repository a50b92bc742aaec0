"""Drafts an entity's keys from its items: each key attribute with its parts."""

from __future__ import annotations

from dataclasses import replace

from keyfold.design.schema import (
    TableSchema,
)
from keyfold_workbench.adopt import item_names, value_format
from keyfold_workbench.adopt.item_groups import ItemGroup
from keyfold_workbench.adopt.key_parts import Part, SlotValue, read_key
from keyfold_workbench.adopt.value_format import text

Keys = dict[str, tuple[Part, ...]]
"""Each key attribute of an entity's items, with its parts."""


def draft_keys(table: TableSchema, each: ItemGroup, hidden: set[str]) -> Keys:
    """Every key attribute of table and indexes that the items have."""
    attributes = dict.fromkeys(table.key_attributes)
    kinds = {**table.key_types}
    for index in table.indexes:
        attributes |= dict.fromkeys(index.key_attributes)
        kinds |= index.key_types
    others = hidden | {name for name in attributes if item_names.is_synthetic(name)}
    found: Keys = {}
    for name in attributes:
        present = [item for item in each.items if name in item]
        if not present:
            continue
        parts = read_key(present, name, others | {name}) if kinds[name] == "S" else ()
        plain = not item_names.is_synthetic(name) and not any(
            isinstance(p, SlotValue) and p.attribute and len(parts) > 1 for p in parts
        )
        if name in hidden:
            found[name] = (str(each.named),)
        elif kinds[name] != "S" or (plain and not _is_fixed(parts)):
            texts = tuple(text(item, name) or "" for item in present)
            found[name] = (SlotValue(name, "", texts),)
        elif _is_meaningless(parts, name):
            found[name] = (
                SlotValue(name, "", parts[0].texts if isinstance(parts[0], SlotValue) else ()),
            )
        else:
            found[name] = parts
    return found


def in_one_case(keys: Keys) -> Keys:
    """Treats all values as lower case if some are and no value contradicts it."""
    parts = [part for found in keys.values() for part in found]
    values = [part for part in parts if isinstance(part, SlotValue) and part.attribute]
    if not any(value.format == "lowercase" for value in values) or not all(
        each == each.lower()
        for part in parts
        for each in ([part] if isinstance(part, str) else part.texts)
    ):
        return keys
    texts = {
        value for value in values if not value.format and not value_format.moment_type(value.texts)
    }
    return {
        name: tuple(replace(p, format="lowercase") if p in texts else p for p in found)
        for name, found in keys.items()
    }


def _is_fixed(parts: tuple[Part, ...]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], str) and parts[0].isupper()


def _is_meaningless(parts: tuple[Part, ...], name: str) -> bool:
    """Whether an attribute such as `Data` holds several kinds of values, so that its parts
    mean nothing.
    """
    bare = len(parts) == 1 and isinstance(parts[0], SlotValue) and parts[0].attribute is None
    return bare and name.lower() == "data"
