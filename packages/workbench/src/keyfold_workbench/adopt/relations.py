"""Relations between the items of a table: references, copies, counts, conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keyfold.design.condition import parse_condition, there
from keyfold.design.schema import AttributeSchema, Condition, EntitySchema
from keyfold.review.draft import names
from keyfold_workbench.adopt.key_parts import SlotValue
from keyfold_workbench.adopt.value_format import MOST_CHOICES, Item, text

if TYPE_CHECKING:
    from keyfold_workbench.adopt.entity_draft import EntityDraft

HELD = 0.9
"""The share of an attribute's values that must be ids of the other entity."""
FEWEST_VALUES = 3


def explaining_condition(
    items: Sequence[Item], inside: Sequence[bool], fields: Mapping[str, str]
) -> Condition | None:
    """The field whose presence or value explains which items are in an index."""
    for name, field in fields.items():
        present = [name in item for item in items]
        if present == list(inside):
            return there(field)
    if len(inside) - sum(inside) < FEWEST_VALUES:
        return None
    for name, field in fields.items():
        yes = {_scalar(item, name) for item, there_ in zip(items, inside, strict=True) if there_}
        no = {_scalar(item, name) for item, there_ in zip(items, inside, strict=True) if not there_}
        if None in yes or yes & no or len(yes) > MOST_CHOICES or len(yes) * 5 > sum(inside):
            continue
        options = sorted(str(value) for value in yes)
        wanted = (
            f"{field} = {options[0]}" if len(yes) == 1 else f"{field} IN ({', '.join(options)})"
        )
        return parse_condition(wanted)
    return None


def _scalar(item: Item, name: str) -> str | None:
    value = item.get(name)
    if value is None:
        return None
    kind, content = next(iter(value.items()))
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "S" and '"' not in str(content) and "\\" not in str(content):
        return f'"{content}"'
    return str(content) if kind == "N" else None


class _Identity:
    """An entity with a single id field, and its values that others may refer to."""

    def __init__(self, seen: EntityDraft) -> None:
        self.entity = seen.entity
        key = seen.entity.key
        own = list(dict.fromkeys(key.fields)) if key else []
        self.field = own[0] if len(own) == 1 else ""
        self.ids = set(values_of(seen, self.field)) if self.field else set()


def values_of(seen: EntityDraft, field: str) -> list[str]:
    """All values of a field, from its attribute or the key."""
    for attribute in seen.entity.attributes:
        if attribute.field == field and any(attribute.name in i for i in seen.group.items):
            return [v for i in seen.group.items if (v := text(i, attribute.name)) is not None]
    for name, parts in seen.keys.items():
        template = _templates(seen.entity, name, seen)
        for part, slot in zip(
            (p for p in parts if isinstance(p, SlotValue)), template, strict=False
        ):
            if slot == field:
                return list(part.texts)
    return []


def _templates(entity: EntitySchema, key: str, seen: EntityDraft) -> tuple[str, ...]:
    """The template fields of a key attribute."""
    place = list(seen.keys).index(key)
    every = [t for t in ((entity.key.partition, entity.key.sort) if entity.key else ()) if t]
    return every[place].fields if place < len(every) else ()


def with_references(seen: Sequence[EntityDraft], *, complete: bool) -> tuple[EntitySchema, ...]:
    """The entities, with references marked on attributes that hold another entity's id."""
    identities = [each for each in map(_Identity, seen) if each.field]
    return tuple(
        replace(
            each.entity,
            attributes=tuple(
                _referring(a, each, identities, complete=complete) for a in each.entity.attributes
            ),
        )
        for each in seen
    )


def _referring(
    attribute: AttributeSchema,
    seen: EntityDraft,
    identities: Sequence[_Identity],
    *,
    complete: bool,
) -> AttributeSchema:
    if attribute.type not in ("id", "string") or attribute.values:
        return attribute
    values = set(values_of(seen, attribute.field))
    if len(values) < FEWEST_VALUES:
        return attribute
    own = [i for i in identities if i.entity.name == seen.entity.name]
    if own and own[0].field == attribute.field:
        return attribute
    best: tuple[float, str] | None = None
    for other in identities:
        held = len(values & other.ids) / len(values)
        same = other.field == attribute.field or _words(other.field) == _words(attribute.field)
        named = _is_named_after(attribute.field, other)
        # A sample may lack the referenced items: then the name of the id is enough.
        alone = same and _tells(other.field) and not complete
        # Values of which none is an id are evidence of nothing, or against it.
        by_name = held > 0 and (alone or ((same or named) and held > 0.1))
        if held >= HELD or by_name:
            best = max(best or (0.0, ""), (held + 0.5 * same + 0.25 * named, other.entity.name))
    return replace(attribute, refers=best[1]) if best else attribute


def _words(field: str) -> list[str]:
    return names.words(field)


def _tells(field: str) -> bool:
    return len(names.words(field)) > 1 or field.lower() not in ("id", "name", "key", "code", "type")


def _is_named_after(field: str, other: _Identity) -> bool:
    title = "".join(names.words(other.entity.name))
    return "".join(names.words(field)).startswith(title)


def notes(
    seen: Sequence[EntityDraft], entities: Sequence[EntitySchema], *, complete: bool
) -> Iterator[str]:
    """Copies and counts, each with how often they match."""
    by_name = {each.entity.name: each for each in seen}
    for each, entity in zip(seen, entities, strict=True):
        for attribute in entity.attributes:
            if attribute.refers and attribute.refers in by_name:
                yield from _reference(each, attribute, by_name[attribute.refers])
                yield from _copies(each, attribute, by_name[attribute.refers])
    yield from _collections(entities)
    if complete:
        yield from _counts(seen)


def _reference(each: EntityDraft, attribute: AttributeSchema, other: EntityDraft) -> Iterator[str]:
    values = set(values_of(each, attribute.field))
    ids = _Identity(other).ids
    yield (
        f"{each.entity.name}.{attribute.field} refers to {other.entity.name}: "
        f"{len(values & ids):,} of {len(values):,} values are ids of one in the sample."
    )


def _copies(each: EntityDraft, link: AttributeSchema, other: EntityDraft) -> Iterator[str]:
    """Attributes that repeat a value of the referenced item: candidates for pointer fields."""
    field = _Identity(other).field
    stored = next((a for a in other.entity.attributes if a.field == field), None)
    if stored is None:
        return
    targets = {text(i, stored.name): i for i in other.group.items}
    pairs = [
        (item, targets[key])
        for item in each.group.items
        if (key := text(item, link.name)) is not None and key in targets
    ]
    if len(pairs) < FEWEST_VALUES:
        return
    theirs = [a for a in other.entity.attributes if a.name != stored.name]
    for mine in each.entity.attributes:
        for their in theirs:
            held = [
                (a[mine.name], b[their.name])
                for a, b in pairs
                if mine.name in a and their.name in b
            ]
            if len(held) < FEWEST_VALUES or mine.name in (link.name, stored.name):
                continue
            varied = len({str(a) for a, _ in held}) >= FEWEST_VALUES
            equal = sum(a == b for a, b in held)
            if varied and equal >= HELD * len(held):
                yield (
                    f"{each.entity.name}.{mine.field} equals {other.entity.name}.{their.field} in "
                    f"{equal:,} of {len(held):,} items: a copy, perhaps of a pointer."
                )


def _collections(entities: Sequence[EntitySchema]) -> Iterator[str]:
    together: dict[str, list[str]] = {}
    for entity in entities:
        if entity.key is not None and entity.key.partition.literal_prefix:
            together.setdefault(entity.key.partition.text, []).append(entity.name)
    for partition, found in together.items():
        if len(found) > 1:
            yield f"{', '.join(found)} share the partition {partition}: one query reads all."


def _counts(seen: Sequence[EntityDraft]) -> Iterator[str]:
    """Numbers equal to the count of another entity's items in the partition."""
    for holder in seen:
        key = holder.entity.key
        if key is None:
            continue
        partition = next(iter(holder.keys))
        numbers = [a for a in holder.entity.attributes if a.type == "number"]
        if not numbers or len({text(i, partition) for i in holder.group.items}) != len(
            holder.group.items
        ):
            continue
        for other in seen:
            if other is holder or other.entity.key is None:
                continue
            if other.entity.key.partition.text != key.partition.text:
                continue
            count = Counter(text(i, partition) for i in other.group.items)
            for number in numbers:
                held = [
                    (text(i, number.name), count.get(text(i, partition), 0))
                    for i in holder.group.items
                    if number.name in i
                ]
                equal = sum(stated == str(counted) for stated, counted in held)
                if len(held) >= FEWEST_VALUES and equal >= HELD * len(held) and count:
                    yield (
                        f"{holder.entity.name}.{number.field} equals the number of "
                        f"{other.entity.name} items in {equal:,} of {len(held):,} items: perhaps a "
                        "counter."
                    )
