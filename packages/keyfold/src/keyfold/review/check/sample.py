"""Sample items for evidence: possible field values, and the keys they render."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from keyfold.design.formats import NAMED, PLAIN, ShardNumber
from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates
from keyfold.design.template import Slot, Template
from keyfold.review.draft.names import words

_FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
_TIMED = ("timestamp", "date")
_NUMBERS = ("number", "decimal", "duration")
_NONE: Mapping[str, str] = {}


def text_of(
    template: Template, entity: EntitySchema | None, n: int = 1, given: Mapping[str, str] = _NONE
) -> str:
    """The key of the n-th item; `given` are known field texts."""
    return "".join(
        given.get(part.field) or value_of(entity, part, n) if isinstance(part, Slot) else part.text
        for part in template.parts
    )


def key_of(
    key: KeyTemplates, entity: EntitySchema, n: int = 1, given: Mapping[str, str] = _NONE
) -> str:
    """The key of the n-th item of one partition, as it is shown."""
    if key.sort is None:
        return f"`{text_of(key.partition, entity, n, given)}`"
    return f"`{text_of(key.partition, entity, 1, given)}` / `{sort_of(key, entity, n, given)}`"


def item_key(
    key: KeyTemplates, entity: EntitySchema, n: int = 1, given: Mapping[str, str] = _NONE
) -> str:
    """The key of the n-th item, each in its own partition."""
    partition = f"`{text_of(key.partition, entity, n, given)}`"
    return f"{partition} / `{text_of(key.sort, entity, n, given)}`" if key.sort else partition


def item_name(entity: EntitySchema, n: int = 1) -> str:
    """The n-th item of an entity, by its key if that is known."""
    return (
        f"{entity.name} {item_key(entity.key, entity, n)}" if entity.key else f"{entity.name} {n}"
    )


def sort_of(
    key: KeyTemplates, entity: EntitySchema, n: int = 1, given: Mapping[str, str] = _NONE
) -> str:
    """The sort key of the n-th item of one partition."""
    assert key.sort is not None, f"{key} has no sort key"
    exact = {*key.partition.fields} - key.partition.buckets
    known = {s.field: value_of(entity, s) for s in key.slots if s.field in exact}
    return text_of(key.sort, entity, n, known | dict(given))


def value_of(entity: EntitySchema | None, slot: Slot, n: int = 1) -> str:
    """The text of a field's n-th value in a key."""
    attribute = entity.by_field.get(slot.field) if entity else None
    if slot.format.shards:
        return slot.format.render(ShardNumber((n - 1) % slot.format.shards))
    if slot.format.coarse or slot.format.name.startswith(("iso", "epoch")):
        return slot.format.render(moment(n))
    if slot.format.numeric or slot.format.name.endswith(("d", "f")):
        return slot.format.render(n)
    return slot.format.render(field_value(attribute, slot.field, n))


def field_value(attribute: AttributeSchema | None, field: str, n: int = 1) -> str:
    """A field's n-th value, as a key or an item shows it."""
    if attribute is None:
        return _of_field(field, n)
    if attribute.values:
        return attribute.values[(n - 1) % len(attribute.values)]
    if attribute.looks_like:
        return re.sub(r"\{([^{}]*)\}", lambda found: _of_field(found[1], n), attribute.looks_like)
    if attribute.type == "boolean":
        return "true" if n % 2 else "false"
    if attribute.type == "date":
        return moment(n).date().isoformat()
    if attribute.type in _TIMED:
        return NAMED.get(attribute.stored, PLAIN).render(moment(n))
    if attribute.type in _NUMBERS:
        return str(n)
    return _of_field(field, n)


def moment(n: int) -> datetime:
    """Nine in the morning of the n-th day of March."""
    return _FIRST + timedelta(days=n - 1)


def _of_field(field: str, n: int) -> str:
    """`order1` for `orderId`: the entity and a number."""
    found = words(field)
    stem = "-".join(found[:-1] if found[-1] in ("id", "uuid") and len(found) > 1 else found)
    return str(n) if stem in ("number", "uuid") else f"{stem}{n}"
