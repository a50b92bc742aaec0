"""One attribute of a key: its value and the fields it is made of."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from keyfold.design import schema
from keyfold.design.declaration import refuse
from keyfold.design.field_codec import CODED
from keyfold.design.formats import as_stored, of_kind
from keyfold.design.markers import Normalised
from keyfold.design.template import Part, Slot, Template
from keyfold.errors import KeyValueRefused, MissingKeyField
from keyfold_engine.values.number import normalise

if TYPE_CHECKING:
    from keyfold.design.fields import FieldSpec

_NOT_IN_KEYS = ("list", "map", "model", "any", "boolean", "binary", CODED)


@dataclass(frozen=True)
class KeyAttribute:
    """One attribute of a key: its name, type and template."""

    attribute: str
    type: schema.KeyType
    template: Template
    limit: int
    whole: bool = False
    """The attribute is an integer."""

    def render(self, values: Mapping[str, object], *, owner: str) -> dict[str, str]:
        """The wire value of this attribute."""
        if self.type == "B":
            return self._binary(values.get(self.template.fields[0]), owner=owner)
        if self._constant is not None:
            return {"S": self._constant}
        text = self.template.render(values, owner=owner)
        return self.value(text, owner=owner)

    @cached_property
    def _constant(self) -> str | None:
        """The text of a key without fields, checked for length."""
        text = self.template.render({}) if self.template.is_literal else None
        return None if text is None or len(text.encode()) > self.limit else text

    def value(self, text: str, *, owner: str) -> dict[str, str]:
        if self.type == "N":
            return {"N": normalise(text)}
        self._measure(len(text.encode()), owner)
        return {"S": text}

    def _binary(self, value: object, *, owner: str) -> dict[str, str]:
        field = self.template.fields[0]
        if value is None:
            raise MissingKeyField(f"{owner}: the key {self.template.text!r} needs {field}")
        if not isinstance(value, bytes) or not value:
            raise KeyValueRefused(f"{owner}: {field}={value!r} is not bytes, or is empty")
        self._measure(len(value), owner)
        return {"B": b64encode(value).decode()}

    def _measure(self, size: int, owner: str) -> None:
        if size > self.limit:
            raise KeyValueRefused(
                f"{owner}: the key attribute {self.attribute} would be {size} bytes long; "
                f"DynamoDB takes {self.limit}"
            )


def normalising(fields: Mapping[str, FieldSpec], template: Template) -> Template:
    """The template, with values in their fields' stored form."""
    parts: list[Part] = []
    for part in template.parts:
        field = fields[part.field] if isinstance(part, Slot) else None
        mark = None if field is None else field.mark(Normalised)
        if isinstance(part, Slot) and mark is not None:
            part = replace(part, format=part.format.after(mark.function))
        elif isinstance(part, Slot) and field is not None and field.codec is not None:
            part = replace(part, format=part.format.after(field.codec.write))
        elif isinstance(part, Slot) and field is not None and field.stored:
            stored = partial(as_stored, stored=field.stored)
            part = replace(part, format=part.format.after(stored))
        if isinstance(part, Slot) and field is not None and not field.stored:
            part = replace(part, format=of_kind(part.format, field.kind))
        parts.append(part)
    return Template(tuple(parts), template.escape)


def is_whole(fields: Mapping[str, FieldSpec], template: Template) -> bool:
    """Whether the key is a single integer."""
    part = template.parts[0] if template.is_bare_field else None
    return isinstance(part, Slot) and (
        part.format.numeric or fields[part.field].compared_kind in ("integer", "timestamp")
    )


def check_type(fields: Mapping[str, FieldSpec], attribute: KeyAttribute) -> None:
    template, slots = attribute.template, attribute.template.slots
    for slot in slots:
        kind, accepted = fields[slot.field].compared_kind, slot.format.kinds
        if accepted and kind not in accepted:
            refuse(
                "K8",
                f"{slot.field} is of kind {kind}, which the format {slot.format.name!r} in "
                f"{template.text!r} cannot write.",
                f"It is for fields of kind {' or '.join(accepted)}.",
            )
    if attribute.type == "N":
        numeric = template.is_bare_field and (
            slots[0].format.numeric or fields[slots[0].field].sorts_as_number
        )
        if not numeric:
            refuse(
                "K12",
                f"{attribute.attribute} is a number, but {template.text!r} gives text.",
                "Use one number field, or a time with :epoch_ms.",
            )
        return
    if attribute.type == "B":
        if not template.is_bare_field or fields[slots[0].field].kind != "binary":
            refuse(
                "K12",
                f"{attribute.attribute} is binary, but {template.text!r} gives text.",
                "Use one field of type bytes, as {digest}.",
            )
        return
    for slot in slots:
        kind = fields[slot.field].compared_kind
        in_order = slot.format.sortable or slot.format.coarse or slot.format.name == "d"
        if kind in ("integer", "decimal", "float", "duration") and not in_order:
            padded = f"{{{slot.field}:{'012d' if kind == 'integer' else '012.2f'}}}"
            refuse(
                "K8",
                f"{slot.field} is a number without padding in the text key {template.text!r}, "
                "so 10 sorts before 9.",
                f"Pad it, as {padded}.",
                fix=(slot.text, padded) if kind == "integer" else None,
            )
        if kind in _NOT_IN_KEYS or kind.endswith("_set"):
            refuse(
                "K12",
                f"{slot.field} is of kind {kind}, which cannot be part of a text key.",
                "Text keys hold text, numbers, times and what a comparable codec stores as such; "
                "bytes need a key attribute of type B of their own.",
            )
