"""A design drafted from a table's items, with what supports each of its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from keyfold.adopt import item_names, relations, value_format
from keyfold.adopt.growth import growth
from keyfold.adopt.item_groups import Grouping, ItemGroup, group, labelled
from keyfold.adopt.key_parts import Part, SlotValue, read_key
from keyfold.adopt.plain_patterns import by_index, by_key
from keyfold.adopt.value_format import Item, text
from keyfold.design.condition import there
from keyfold.design.formats import parse_format
from keyfold.design.schema import (
    AttributeSchema,
    Condition,
    EntitySchema,
    KeyTemplates,
    PatternSchema,
    Placement,
    Schema,
    TableSchema,
    TtlSchema,
)
from keyfold.design.template import Literal, Slot, Template
from keyfold.values.size import item_size

MARKS_OF_TOOLS = {"__edb_v__": "electro_version", "__edb_e__": "electro_entity"}
"""Attributes that other libraries ask for in their items, and what a field of them is called."""
Keys = dict[str, tuple[Part, ...]]
"""Each key attribute that an entity's items have, with its parts."""


@dataclass
class DesignDraft:
    """A design, what supports it, and what only its owner knows."""

    schema: Schema
    notes: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The design file, with notes and questions as comments at its top."""
        from keyfold.design.file import dumps

        lines = [f"# {note}" for note in self.notes]
        lines += [f"# ? {question}" for question in self.questions]
        return "\n".join([*lines, dumps(self.schema)])


@dataclass
class Seen:
    """One entity as its items show it."""

    group: ItemGroup
    keys: Keys
    entity: EntitySchema
    asked: list[str]


def draft(
    table: TableSchema,
    items: Sequence[Item],
    *,
    complete: bool = False,
    labels: Sequence[str] = (),
) -> DesignDraft:
    """The design of one table by a sample of its items.

    `complete` says that these are all; `labels` name the entity of each, where that is known.
    """
    found = labelled(items, labels) if any(labels) else group(table, items)
    table = _with_discriminator(table, found)
    hidden = {name for name in (found.discriminator, *MARKS_OF_TOOLS) if name}
    keys = [_in_one_case(_keys(table, each, hidden)) for each in found.groups]
    titles = item_names.titles(table, found.groups, keys)
    seen = [
        _seen(table, title, each, parts, found)
        for title, each, parts in zip(titles, found.groups, keys, strict=True)
    ]
    entities = relations.referring(seen, complete=complete)
    schema = Schema(
        name=table.name,
        description=f"Drafted from {len(items):,} items of {table.name}",
        tables=(table,),
        entities=entities,
        patterns=tuple(pattern for each in entities for pattern in _patterns(table, each)),
    )
    notes = [
        *_notes(table, found, len(items)),
        *_choices(seen),
        *_growths(seen, complete=complete),
        *relations.notes(seen, entities, complete=complete),
    ]
    return DesignDraft(schema, notes, list(_questions(seen)))


def _with_discriminator(table: TableSchema, found: Grouping) -> TableSchema:
    keyed = {name for each in table.indexes for name in each.key_attributes}
    kept = found.discriminator if found.discriminator not in keyed else None
    return replace(table, type_attribute=kept)


def _only(values: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The one value that a library gives to all items of an entity."""
    found = {str(next(iter(value.values()))) for value in values}
    return tuple(found) if len(found) == 1 else ()


def _keys(table: TableSchema, each: ItemGroup, hidden: set[str]) -> Keys:
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
        elif _says_nothing(parts, name):
            found[name] = (
                SlotValue(name, "", parts[0].texts if isinstance(parts[0], SlotValue) else ()),
            )
        else:
            found[name] = parts
    return found


def _in_one_case(keys: Keys) -> Keys:
    """Where some values are in lower case and nothing else is not, all of them are meant to be."""
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


def _says_nothing(parts: tuple[Part, ...], name: str) -> bool:
    """A value of several kinds in one attribute, such as `Data`: it is the attribute's own."""
    bare = len(parts) == 1 and isinstance(parts[0], SlotValue) and parts[0].attribute is None
    return bare and name.lower() == "data"


def _seen(
    table: TableSchema,
    title: str,
    each: ItemGroup,
    keys: Keys,
    found: Grouping,
) -> Seen:
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
    total = sum(len(other.items) for other in found.groups)
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
        description=f"{len(each.items) / total:.0%} of the sample, {len(each.items):,} items",
    )
    return Seen(each, keys, entity, slots.asked)


def _field(name: str) -> str:
    """The attribute's name as a field of a design file; only identifiers stand in templates."""
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
    """The format of an attribute's value in a key: a time says how it is spelled."""
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
    """Which items are in an index: all, those with a field, those where a field has a value."""
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
    found = relations.explained(each.items, inside, telling)
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
    """Values that no attribute holds."""
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


def _patterns(table: TableSchema, entity: EntitySchema) -> Iterator[PatternSchema]:
    if entity.key is None:
        return
    yield by_key(f"{entity.name} by key", entity.name, table.name, entity.key)
    for placed in entity.placements:
        name = f"{entity.name} by {re.sub(r'^[Bb]y[-_]?(?=[A-Za-z])', '', placed.index)}"
        yield by_index(name, entity.name, table.name, placed.index, placed.key)


def _notes(table: TableSchema, found: Grouping, total: int) -> Iterator[str]:
    yield f"{total:,} items of {table.name}: {len(found.groups)} entities."
    if found.discriminator:
        yield (
            f"{found.discriminator} names them: it explains {100 * found.explains:.0f}% of the "
            "differences between items."
        )
    if found.own:
        yield f"{found.own:,} items are keyfold's own markers and left out."


def _skeleton(entity: EntitySchema) -> tuple[str, ...]:
    """The fixed texts of the key, with a gap for each value."""
    key = entity.key
    templates = (key.partition, *((key.sort,) if key.sort else ())) if key else ()
    return tuple(
        "".join("{}" if isinstance(part, Slot) else part.text for part in template.parts)
        for template in templates
    )


def _choices(seen: Sequence[Seen]) -> Iterator[str]:
    for each in seen:
        for attribute in each.entity.attributes:
            values = [i[attribute.name] for i in each.group.items if attribute.name in i]
            few = value_format.choices(values) if attribute.type == "string" else ()
            if few:
                yield (
                    f"{each.entity.name}.{attribute.field} has {len(few)} values in "
                    f"{len(values):,} items: {', '.join(few)}."
                )


def _growths(seen: Sequence[Seen], *, complete: bool) -> Iterator[str]:
    for each in seen:
        entity, items = each.entity, each.group.items
        told = growth(entity.name, entity.attributes, items, complete=complete)
        if told:
            yield told


def _questions(seen: Sequence[Seen]) -> Iterator[str]:
    shapes: dict[tuple[str, ...], list[str]] = {}
    for each in seen:
        shapes.setdefault(_skeleton(each.entity), []).append(each.entity.name)
    for names in shapes.values():
        if len(names) > 1:
            yield (
                f"{' and '.join(names)} have keys of one shape, so one item can overwrite "
                "another. Are they one entity?"
            )
    for each in seen:
        for name in each.asked:
            yield f"{each.entity.name}.{name} stands only in the key. What is it called?"
        for placement in each.entity.placements:
            if placement.note:
                yield (
                    f"{each.entity.name} is in {placement.index} only partly ({placement.note}). "
                    "When is it there?"
                )
