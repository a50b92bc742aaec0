"""Sample items for evidence: possible field values, and the keys they render."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from keyfold.design.formats import NAMED, PLAIN, ShardNumber
from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates
from keyfold.design.template import Slot, Template
from keyfold.review.draft.names import words

_FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
_TIMED = ("timestamp", "date")
_NUMBERS = ("number", "decimal", "duration")


def text_of(template: Template, entity: EntitySchema | None, n: int = 1) -> str:
    """The key of the n-th item."""
    parts = [value_of(entity, p, n) if isinstance(p, Slot) else p.text for p in template.parts]
    return "".join(parts)


def key_of(key: KeyTemplates, entity: EntitySchema) -> str:
    """The key of an item, as it is shown."""
    partition = f"`{text_of(key.partition, entity)}`"
    return partition if key.sort is None else f"{partition} / `{text_of(key.sort, entity)}`"


def item_name(entity: EntitySchema) -> str:
    """An item of an entity, by its key if that is known."""
    return f"{entity.name} {key_of(entity.key, entity)}" if entity.key else f"{entity.name} 1"


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
