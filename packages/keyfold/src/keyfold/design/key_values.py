"""Fields stored only in a key, and how their values are read back from it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from keyfold.design import codes
from keyfold.design.codec import from_milliseconds, from_seconds
from keyfold.design.condition import fields_of
from keyfold.design.declaration import refuse
from keyfold.design.fields import FieldSpec
from keyfold.design.key_attribute import KeyAttribute
from keyfold.design.keys import Key
from keyfold.design.markers import InKey
from keyfold.design.placement import On
from keyfold.design.template import Slot

if TYPE_CHECKING:
    from keyfold.design.entity_spec import EntitySpec

_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "decimal": Decimal,
    "timestamp": datetime.fromisoformat,
    "duration": lambda text: timedelta(microseconds=int(Decimal(text) * 10**6)),
}


def place_in_key(spec: EntitySpec, field: FieldSpec) -> FieldSpec:
    """The field with the key attribute that stores it and its reader."""
    if field.codec is not None:
        refuse(
            codes.MARKER_MISUSED,
            f"{field.name} is stored by the codec {field.codec.name}, and is marked InKey.",
            "Remove InKey, so that it has its own attribute.",
        )
    found = _holder(spec, field.name)
    if found is None:
        refuse(
            codes.MARKER_MISUSED,
            f"{field.name} is marked InKey, but no key of {spec.name} holds it unchanged.",
            f"Add it to a key, as Key('...#{{{field.name}}}'), or remove the marker.",
        )
    key, attribute, slot = found
    if isinstance(key, On) and key.when is not None:
        kept = {f.name for f in spec.fields.values() if f.mark(InKey) is not None}
        if not fields_of(key.when) <= {*key.templates.fields} & kept:
            refuse(
                codes.MARKER_MISUSED,
                f"{field.name} is stored only in {key.name}, which not every item has: its value "
                "would be lost.",
                "Remove the marker, so that it has its own attribute.",
            )
    return field.placed(attribute.attribute, _reader(attribute, slot, field))


def _holder(spec: EntitySpec, name: str) -> tuple[Key[Any], KeyAttribute, Slot] | None:
    for key in (spec.key, *spec.placements.values()):
        for attribute in key.attributes:
            for slot in attribute.template.slots:
                if slot.field == name and slot.format.exact:
                    return key, attribute, slot
    return None


def _reader(
    attribute: KeyAttribute, slot: Slot, field: FieldSpec
) -> Callable[[dict[str, Any]], Any]:
    """Reads the field's value from an item; None if the item has no such key."""
    name, template = attribute.attribute, attribute.template
    read = _READERS.get(field.kind, str)
    if field.kind == "timestamp" and (slot.format.numeric or attribute.type == "N"):
        read = from_seconds if "epoch" in (slot.format.name, field.stored) else from_milliseconds

    def value(item: dict[str, Any]) -> Any:
        wire = item.get(name)
        if wire is None:
            return None
        if attribute.type == "B":
            return b64decode(wire["B"])
        if attribute.type == "N":
            return read(wire["N"])
        found = template.parse(wire["S"])
        if found is None:
            raise ValueError(f"the key {wire['S']!r} is not of the form {template.text!r}")
        return read(found[field.name])

    return value
