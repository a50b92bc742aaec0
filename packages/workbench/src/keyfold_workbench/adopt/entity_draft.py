"""Drafts an entity from its items: keys, index placements, attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from keyfold.design.condition import there
from keyfold.design.formats import parse_format
from keyfold.design.schema import (
    AttributeSchema,
    Condition,
    EntitySchema,
    KeyTemplates,
    Placement,
    TableSchema,
    TtlSchema,
)
from keyfold.design.template import Literal, Slot, Template
from keyfold_engine.values.size import item_size
from keyfold_workbench.adopt import item_names, relations, value_format
from keyfold_workbench.adopt.item_groups import Grouping, ItemGroup
from keyfold_workbench.adopt.key_draft import Keys
from keyfold_workbench.adopt.key_parts import Part, SlotValue

MARKS_OF_TOOLS = {"__edb_v__": "electro_version", "__edb_e__": "electro_entity"}
"""Attributes that other libraries require in their items, and the field name for each."""


@dataclass
class EntityDraft:
    """One entity, as seen in its items."""

    group: ItemGroup
    keys: Keys
    entity: EntitySchema
    asked: list[str]


def draft_entity(
    table: TableSchema,
    title: str,
    each: ItemGroup,
    keys: Keys,
    found: Grouping,
    share: str,
) -> EntityDraft:
    present = dict.fromkeys(name for item in each.items for name in item)
    slots = item_names.SlotNames(present)
    fields = {name: _field(name) for name in present}
    templates = {name: _template(name, parts, slots, fields, each) for name, parts in keys.items()}
    sort = templates.get(table.sort) if table.sort else None
    key = KeyTemplates(templates[table.partition], sort)
    placements = tuple(_placements(table, templates, fields, each))
    used = {f for k in (key, *(p.key for p in placements)) for f in k.fields}
    attributes = tuple(_attributes(table, each, keys, fields, found))
    known = {a.field for a in attributes}
    attributes = (*_only_in_keys(keys, slots, used - known), *attributes)
    expires = table.ttl and any(table.ttl in item for item in each.items)
    sizes = [item_size(cast("Any", item)) for item in each.items[:500]]
    entity = EntitySchema(
        name=title,
        table=table.name,
        key=key,
        attributes=attributes,
        placements=placements,
        type_name=each.named if each.named and each.named != title else "",
        bytes=round(sum(sizes) / len(sizes)),
        ttl=TtlSchema(table.ttl) if expires and table.ttl else None,
        description=share,
    )
    return EntityDraft(each, keys, entity, slots.asked)


def _field(name: str) -> str:
    """The attribute's name as a field of a design file; templates allow identifiers only."""
    return (
        name
        if name.isidentifier()
        else re.sub(r"\W+", "_", f"n_{name}" if name[:1].isdigit() else name)
    )


def _template(
    key: str,
    parts: tuple[Part, ...],
    slots: item_names.SlotNames,
    fields: Mapping[str, str],
    each: ItemGroup,
) -> Template:
    made: list[Literal | Slot] = []
    before = ""
    for part in parts:
        if isinstance(part, str):
            made.append(Literal(part))
            before = part
            continue
        if part.attribute is None:
            name, format_ = slots.name(part, before, key), _format_in_key(part)
        else:
            root, _, inner = part.attribute.partition(".")
            name, format_ = fields.get(root, _field(root)), _format_of(part, each)
            if inner:
                path = f"{name}.{inner}"
                made.append(Slot(path.replace(".", "_"), parse_format(format_), path))
                before = ""
                continue
        made.append(Slot(name, parse_format(format_)))
        before = ""
    return Template(tuple(made) or (Literal(""),))


def _format_in_key(value: SlotValue) -> str:
    spelled = value_format.moment_type(value.texts)
    return spelled[1] if spelled else ""


def _format_of(value: SlotValue, each: ItemGroup) -> str:
    """The format of an attribute's value in a key, including the notation of times."""
    if value.format:
        return value.format
    name = value.attribute or ""
    held = [item[name] for item in each.items if name in item]
    kind, stored = value_format.attribute_type(name, held) if held else ("", "")
    return stored if kind == "timestamp" and stored.startswith("iso") else ""


def _placements(
    table: TableSchema,
    templates: Mapping[str, Template],
    fields: Mapping[str, str],
    each: ItemGroup,
) -> Iterator[Placement]:
    for index in table.indexes:
        if not all(name in templates for name in index.key_attributes):
            continue
        inside = [all(name in item for name in index.key_attributes) for item in each.items]
        if not any(inside):
            continue
        key = index.key_of(templates)
        when, note = _when(each, inside, key, fields)
        yield Placement(index.name, index.name, key, when=when, note=note)


def _when(
    each: ItemGroup, inside: Sequence[bool], key: KeyTemplates, fields: Mapping[str, str]
) -> tuple[Condition | None, str]:
    """Which items are in an index: all, those with a field, or those with a certain value."""
    if all(inside):
        return None, ""
    optional = [
        name
        for name in fields
        if fields[name] in key.fields and any(name not in item for item in each.items)
    ]
    if optional and all(
        all(name in item for name in optional) is there_
        for item, there_ in zip(each.items, inside, strict=True)
    ):
        return there(*(fields[name] for name in optional)), ""
    telling = {n: f for n, f in fields.items() if not item_names.is_synthetic(n)}
    found = relations.explaining_condition(each.items, inside, telling)
    if found is not None:
        return found, ""
    share = 100 * sum(inside) / len(inside)
    return (
        there(*(fields[n] for n in optional)) if optional else None
    ), f"present on {share:.0f}% of them"


def _attributes(
    table: TableSchema,
    each: ItemGroup,
    keys: Mapping[str, tuple[Part, ...]],
    fields: Mapping[str, str],
    found: Grouping,
) -> Iterator[AttributeSchema]:
    hidden = {table.type_attribute, found.discriminator}
    own = {name for name, parts in keys.items() if not _is_plain(name, parts)}
    seen: dict[str, list[Mapping[str, object]]] = {}
    for item in each.items:
        for name, value in item.items():
            seen.setdefault(name, []).append(value)
    for name, values in seen.items():
        if name in hidden or name in own:
            continue
        if name in MARKS_OF_TOOLS:
            yield AttributeSchema(name, MARKS_OF_TOOLS[name], "string", values=_only(values))
            continue
        kind, stored = value_format.attribute_type(name, values)
        nothing = any("NULL" in value for value in values)
        yield AttributeSchema(
            name,
            fields[name],
            kind,
            optional=len(values) < len(each.items) or nothing,
            stored=stored,
        )


def _is_plain(name: str, parts: tuple[Part, ...]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], SlotValue) and parts[0].attribute == name


def _only_in_keys(
    keys: Mapping[str, tuple[Part, ...]], slots: item_names.SlotNames, missing: set[str]
) -> Iterator[AttributeSchema]:
    """Values that are stored only in keys."""
    done: set[str] = set()
    for key, parts in keys.items():
        before = ""
        for part in parts:
            if isinstance(part, str):
                before = part
                continue
            if part.attribute is None:
                name = slots.name(part, before, key)
                if name in missing and name not in done:
                    done.add(name)
                    spelled = value_format.moment_type(part.texts)
                    kind, stored = spelled or ("id", "")
                    yield AttributeSchema(
                        name, name, kind, mutable=False, stored=stored, in_key=True
                    )
            before = ""


def _only(values: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The constant that a library stores in all items of an entity."""
    found = {str(next(iter(value.values()))) for value in values}
    return tuple(found) if len(found) == 1 else ()
