"""A model's fields as a store sees them: name on disk, kind, format, markers."""

from __future__ import annotations

import types
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from keyfold.design import codes, markers
from keyfold.design.schema import Attribute
from keyfold.errors import DeclarationError

_SCALARS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    bytes: "binary",
    datetime: "timestamp",
    date: "date",
    uuid.UUID: "uuid",
}
_SETS = {"string": "string_set", "integer": "number_set", "decimal": "number_set"}
_DOCUMENTED = {"integer": "number", "float": "number", "decimal": "number", "uuid": "string"}


@dataclass(frozen=True)
class FieldSpec:
    """One stored field of an entity."""

    name: str
    attribute: str
    kind: str
    optional: bool
    marks: tuple[object, ...] = ()
    stored: str = ""
    values: tuple[str, ...] = ()
    enum: type[Enum] | None = None
    required: bool = True
    description: str = ""

    def mark(self, kind: type[Any]) -> Any:
        """The marker of this type on the field, or None."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @property
    def sorts_as_number(self) -> bool:
        return self.kind in ("integer", "float", "decimal") or self.stored.startswith("epoch")

    @property
    def is_id(self) -> bool:
        return self.kind == "uuid" or (self.kind == "string" and "id" in self.marks)

    def describe(self) -> Attribute:
        limit = self.mark(markers.AtMost)
        normalised = self.mark(markers.Normalised)
        spread = (mark for mark in self.marks if getattr(mark, "kind", "") == "shard")
        return Attribute(
            name=self.attribute,
            field=self.name,
            type="id" if self.is_id else _DOCUMENTED.get(self.kind, self.kind),
            optional=self.optional,
            mutable=self.mark(markers.Created) is None,
            values=self.values,
            shards=next((getattr(mark, "shards", None) for mark in spread), None),
            stored=self.stored,
            max_items=limit.items if limit else None,
            normalise=getattr(normalised.function, "__name__", "") if normalised else "",
            description=self.description,
        )


def read_fields(
    model: type[BaseModel], *, camel: bool, ttl: str | None, place: str
) -> dict[str, FieldSpec]:
    """All stored fields of a model, in order; `ttl` is the table's expiry attribute."""
    found: dict[str, FieldSpec] = {}
    for name, info in model.model_fields.items():
        if any(isinstance(mark, markers.Transient) for mark in info.metadata):
            continue
        found[name] = _read(name, info, camel=camel, ttl=ttl, place=f"{place}.{name}")
    attributes: dict[str, str] = {}
    for spec in found.values():
        if spec.attribute in attributes:
            raise DeclarationError(
                codes.NAME_TAKEN,
                f"{spec.name} and {attributes[spec.attribute]} are both stored as "
                f"{spec.attribute!r}.",
                place=place,
                suggestion="Give one of them another name with Annotated[..., Name(...)].",
            )
        attributes[spec.attribute] = spec.name
    return found


def _read(name: str, info: FieldInfo, *, camel: bool, ttl: str | None, place: str) -> FieldSpec:
    annotation, marks, optional = _unwrap(info.annotation)
    marks = (*info.metadata, *marks)
    kind, values, enum = _kind(annotation, place)
    named = next((m for m in marks if isinstance(m, markers.Name)), None)
    stored = next((m.format for m in marks if isinstance(m, markers.Stored)), "")
    if any(isinstance(m, markers.Ttl) for m in marks):
        if kind != "timestamp":
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"Ttl stands on a field of kind {kind}.",
                place=place,
                suggestion="Declare the field as datetime | None; it is stored in epoch seconds.",
            )
        if ttl is None or (named is not None and named.attribute != ttl):
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"the table expires items by {ttl or 'no attribute'}, so that this field would "
                "not expire anything.",
                place=place,
                suggestion='Give the table one, as design.table(..., ttl="ttl").',
            )
        stored, named = "epoch", markers.Name(ttl)
    if stored and kind != "timestamp":
        raise DeclarationError(
            codes.MARKER_MISUSED,
            f"Stored({stored!r}) stands on a field of kind {kind}.",
            place=place,
            suggestion="Stored is for datetime fields.",
        )
    if any(isinstance(m, markers.Version) for m in marks) and kind != "integer":
        raise DeclarationError(
            codes.MARKER_MISUSED,
            f"Version stands on a field of kind {kind}.",
            place=place,
            suggestion="Declare it as Annotated[int, Version()] = 0.",
        )
    attribute = named.attribute if named else (to_camel(name) if camel else name)
    return FieldSpec(
        name=name,
        attribute=attribute,
        kind=kind,
        optional=optional,
        marks=marks,
        stored=stored,
        values=values,
        enum=enum,
        required=info.is_required(),
        description=info.description or "",
    )


def _unwrap(annotation: Any) -> tuple[Any, tuple[object, ...], bool]:
    """Take `Annotated` and `| None` off a type."""
    marks: tuple[object, ...] = ()
    optional = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *more = get_args(annotation)
            marks += tuple(more)
        elif origin in (Union, types.UnionType):
            members = [a for a in get_args(annotation) if a is not type(None)]
            if len(members) != 1:
                return annotation, marks, optional or len(members) < len(get_args(annotation))
            optional = True
            annotation = members[0]
        else:
            return annotation, marks, optional


def _kind(annotation: Any, place: str) -> tuple[str, tuple[str, ...], type[Enum] | None]:
    origin = get_origin(annotation)
    if origin is Literal:
        choices = get_args(annotation)
        if all(isinstance(choice, str) for choice in choices):
            return "string", tuple(choices), None
        return "integer", tuple(str(choice) for choice in choices), None
    if origin in (set, frozenset):
        return _set_kind(annotation, place), (), None
    if origin in (list, tuple):
        return "list", (), None
    if origin in (dict, Mapping):
        return "map", (), None
    if annotation in (Any, object) or origin in (Union, types.UnionType):
        return "any", (), None
    if isinstance(annotation, type):
        if issubclass(annotation, Enum):
            members = [member.value for member in annotation]
            inner = "string" if all(isinstance(v, str) for v in members) else "integer"
            return inner, tuple(str(v) for v in members), annotation
        for scalar, kind in _SCALARS.items():
            if annotation is scalar or (scalar is not int and issubclass(annotation, scalar)):
                return kind, (), None
        if issubclass(annotation, BaseModel):
            return "model", (), None
        if annotation in (list, tuple):
            return "list", (), None
        if annotation is dict:
            return "map", (), None
        if hasattr(annotation, "__required_keys__"):
            return "map", (), None
    raise DeclarationError(
        codes.TYPE_UNSUPPORTED,
        f"the type {annotation!r} cannot be stored.",
        place=place,
        suggestion="Use str, int, Decimal, bool, bytes, datetime, date, an Enum, a set, a list, "
        "a dict or a Pydantic model.",
    )


def _set_kind(annotation: Any, place: str) -> str:
    arguments = get_args(annotation)
    inner, _, _ = _kind(_unwrap(arguments[0])[0], place) if arguments else ("string", (), None)
    kind = "binary_set" if inner == "binary" else _SETS.get(inner)
    if kind is None:
        raise DeclarationError(
            codes.TYPE_UNSUPPORTED,
            f"a set of {inner} values cannot be stored.",
            place=place,
            suggestion="DynamoDB has sets of strings, numbers and binary values; use a list.",
        )
    return kind
