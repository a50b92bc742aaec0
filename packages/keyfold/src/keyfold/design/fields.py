"""A model's fields as stored: attribute name, kind, format, markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from enum import Enum
from functools import cached_property
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from keyfold.design import codes, markers
from keyfold.design.declaration import Declared, part, refuse
from keyfold.design.field_codec import CODED, READABLE, SAME_TYPE, Codec
from keyfold.design.field_kind import read_kind, unwrap
from keyfold.design.schema import AttributeSchema, StepSchema
from keyfold.design.states import States
from keyfold.design.vector import Vector

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
    reader: Callable[[dict[str, Any]], Any] | None = dataclass_field(default=None, compare=False)
    """Reads it from an item's key, if it is stored only there."""
    label: str = ""
    """The name in documents for a field without its own attribute."""
    codec: Codec[Any, Any] | None = None
    """Stores its values, if its kind is coded."""

    @cached_property
    def others(self) -> list[FieldSpec]:
        """The field as items of others may store it."""
        marks = (mark.stored for mark in self.marks if isinstance(mark, markers.ReadsAlso))
        given = replace(self, codec=None)
        return [
            replace(given, stored=one)
            if isinstance(one, str)
            else replace(given, kind=kind, stored="")
            for one in marks
            for kind in ((one,) if isinstance(one, str) else READABLE[one])
        ]

    @property
    def compared_kind(self) -> str:
        """The kind of what keys and conditions compare."""
        return self.codec.kind if self.codec is not None and self.codec.comparable else self.kind

    def placed(self, attribute: str, reader: Callable[[dict[str, Any]], Any]) -> FieldSpec:
        """The same field, stored only in a key attribute."""
        return replace(self, attribute=attribute, reader=reader, label=self.attribute)

    def mark(self, kind: type[Any]) -> Any:
        """The marker of this type on the field, or None."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @cached_property
    def _markers(self) -> list[markers.FieldMarker]:
        return [mark for mark in self.marks if isinstance(mark, markers.FieldMarker)]

    @cached_property
    def is_kept(self) -> bool:
        """Whether only a maintainer writes it."""
        return any(mark.kept for mark in self._markers)

    @cached_property
    def is_counted(self) -> bool:
        """Whether it moves by amounts while others edit the item."""
        return self.mark(markers.CountMarker) is not None

    @cached_property
    def constraints(self) -> tuple[object, ...]:
        """The constraints that Pydantic checks: bounds, lengths, validators."""
        ours = (mark for mark in self.marks if not isinstance(mark, str))
        return tuple(m for m in ours if not type(m).__module__.startswith("keyfold."))

    @property
    def sorts_as_number(self) -> bool:
        numbers = ("integer", "float", "decimal", "duration")
        return self.compared_kind in numbers or self.stored.startswith("epoch")

    @property
    def is_id(self) -> bool:
        return self.kind == "uuid" or (self.kind == "string" and "id" in self.marks)

    def describe(self) -> AttributeSchema:
        limit, vector = self.mark(markers.AtMost), self.mark(Vector)
        normalised = self.mark(markers.Normalised)
        spread = (mark for mark in self._markers if mark.spreads)
        held = self.kind if self.codec is None else self.codec.kind
        return AttributeSchema(
            name=self.label or self.attribute,
            field=self.name,
            type="id" if self.is_id else _documented(held),
            reads=tuple(mark.form for mark in self._markers if isinstance(mark, markers.ReadsAlso)),
            optional=self.optional,
            mutable=self.mark(markers.Created) is None and self.mark(markers.Fixed) is None,
            values=self.values,
            shards=next((getattr(mark, "shards", None) for mark in spread), None),
            stored=self.stored,
            max_items=limit.items if limit else vector.dimensions if vector else None,
            normalise=getattr(normalised.function, "__name__", "") if normalised else "",
            states=_states(self.mark(States)),
            start=tuple(map(str, getattr(self.mark(States), "start", ()))),
            final=tuple(map(str, getattr(self.mark(States), "final", ()))),
            refers=getattr(self.mark(markers.RefersTo), "entity", ""),
            copies=getattr(self.mark(markers.From), "field", ""),
            in_key=self.reader is not None,
            description=self.description,
        )


def _documented(kind: str) -> str:
    return _DOCUMENTED.get(kind, kind)


def check_shown(copy: FieldSpec, origin: FieldSpec) -> None:
    """A shown value is what its origin has: a form of its own would be drift at once."""
    check_copy(copy, origin)
    own = copy.mark(markers.Normalised)
    if own is not None and own != origin.mark(markers.Normalised):
        refuse(
            codes.MARKER_MISUSED,
            f"{copy.name} normalises what it shows of {origin.name}, which is not normalised so.",
            "Normalise the field that is shown instead.",
        )


def check_copy(copy: FieldSpec, origin: FieldSpec) -> None:
    """A copy is compared as it is stored, so both need one codec that stores equal values equal."""
    codec = copy.codec or origin.codec
    if codec is None or (copy.codec == origin.codec and codec.comparable):
        return
    refuse(
        codes.MARKER_MISUSED,
        f"{copy.name} cannot be a copy of {origin.name}: "
        + (
            f"the codec {codec.name} may store equal values differently."
            if copy.codec == origin.codec
            else f"only one of them is stored by the codec {codec.name}."
        ),
        "Give both the same codec with comparable=True, or do not copy the field.",
    )


def _states(mark: States[Any] | None) -> tuple[StepSchema, ...]:
    if mark is None:
        return ()
    return tuple(
        StepSchema(str(before), str(after), mark.made_by.get((before, after), ""))
        for before, several in mark.steps.items()
        for after in several
    )


def read_fields(model: type[BaseModel], *, camel: bool, ttl: str | None) -> dict[str, FieldSpec]:
    """All stored fields of a model, in order; `ttl` is the table's TTL attribute."""
    found: dict[str, FieldSpec] = {}
    for name, info in model.model_fields.items():
        if any(isinstance(mark, markers.Transient) for mark in info.metadata):
            continue
        with part(name):
            found[name] = _read(name, info, camel=camel, ttl=ttl)
    attributes: dict[str, str] = {}
    for spec in found.values():
        with part(spec.name):
            _check_expiry(spec, found)
        if spec.attribute in attributes:
            refuse(
                codes.NAME_TAKEN,
                f"{spec.name} and {attributes[spec.attribute]} are both stored as "
                f"{spec.attribute!r}.",
                "Give one of them another name with Annotated[..., Name(...)].",
            )
        attributes[spec.attribute] = spec.name
    return found


def reads_none_otherwise(info: FieldInfo) -> bool:
    """Whether a missing value decodes to something other than None, or not at all."""
    return info.is_required() or info.default is not None or info.default_factory is not None


def _read(name: str, info: FieldInfo, *, camel: bool, ttl: str | None) -> FieldSpec:
    annotation, marks, optional = unwrap(info.annotation)
    marks = (*info.metadata, *marks)
    stored = next((m.format for m in marks if isinstance(m, markers.Stored)), "")
    codec = stored if isinstance(stored, Codec) else None
    kind, values, enum = (CODED, (), None) if codec else read_kind(annotation)
    _check_marks(marks, kind, stored)
    _check_default(info.default, name)
    if optional and reads_none_otherwise(info) and not info.is_required():
        refuse(
            codes.TYPE_UNSUPPORTED,
            f"None is stored as a missing attribute, which is read as the default of {name}.",
            "Make None the default, or do not allow None.",
        )
    named = next((m for m in marks if isinstance(m, markers.Name)), None)
    if any(isinstance(m, markers.Ttl) for m in marks):
        if kind != "timestamp":
            refuse(
                codes.MARKER_MISUSED,
                f"Ttl is on a field of kind {kind}.",
                "Declare the field as datetime | None; it is stored in epoch seconds.",
            )
        if ttl is None or (named is not None and named.attribute != ttl):
            refuse(
                codes.MARKER_MISUSED,
                f"the TTL attribute of the table is {ttl}, so nothing would expire by this field."
                if ttl
                else "the table has no TTL attribute, so nothing would expire.",
                'Set it, as design.table(..., ttl="ttl").',
            )
        if stored not in ("", "epoch"):
            refuse(
                codes.MARKER_MISUSED,
                f"a field with Ttl is stored in epoch seconds, not as {stored}.",
                "Remove Stored.",
                fix=(f'Stored("{stored}")', 'Stored("epoch")'),
            )
        stored, named = "epoch", markers.Name(ttl)
    attribute = named.attribute if named else (to_camel(name) if camel else name)
    return FieldSpec(
        name=name,
        attribute=attribute,
        kind=kind,
        optional=optional,
        marks=marks,
        stored=stored.name if isinstance(stored, Codec) else stored,
        codec=codec,
        values=values,
        enum=enum,
        required=info.is_required(),
        description=info.description or "",
    )


_COLLECTIONS = ("list", "map", "string_set", "number_set", "binary_set")
_ALSO: dict[str, tuple[type, ...]] = {
    "string": (int, bytes),
    "integer": (str,),
    "float": (str,),
    "decimal": (str,),
    "duration": (str,),
    "boolean": (str, int),
    "binary": (str,),
    "string_set": (list,),
    "number_set": (list,),
    "binary_set": (list,),
    "list": (set,),
}
"""What a field of a kind can read besides its own type."""
_EPOCHS = ("epoch", "epoch_ms")
_IDS = ("string", "uuid", "integer", "list", "string_set", "number_set")
_KINDS_OF_MARKERS: dict[type, tuple[tuple[str, ...], str]] = {
    markers.Version: (("integer",), "Declare it as Annotated[int, Version()] = 0."),
    markers.Stored: (
        ("timestamp", CODED),
        "A format is for datetime fields; give other types a codec, as "
        'Stored(Codec("time", str, time.isoformat)).',
    ),
    markers.Created: (("timestamp",), "Created is for datetime fields."),
    markers.Updated: (("timestamp",), "Updated is for datetime fields."),
    markers.AtMost: (_COLLECTIONS, "AtMost is for sets, lists and dicts."),
    markers.Normalised: (("string",), "Normalised is for text."),
    markers.RefersTo: (_IDS, "RefersTo is for ids, and for lists and sets of them."),
    Vector: (("list",), 'Declare it as Annotated[list[float], Vector(384, "cosine")].'),
    States: (("string", "integer"), "States is for an Enum, a Literal or text."),
}


def _check_marks(marks: tuple[object, ...], kind: str, stored: str | Codec[Any, Any]) -> None:
    for mark in marks:
        if isinstance(mark, type) and mark.__module__.startswith("keyfold."):
            refuse(
                codes.MARKER_MISUSED,
                f"the marker {mark.__name__} has no parentheses, so it has no effect.",
                f"Write {mark.__name__}().",
            )
        if type(mark).__module__.startswith("keyfold.") and not isinstance(
            mark, markers.FieldMarker
        ):
            what = type(mark).__name__
            refuse(
                codes.MARKER_MISUSED,
                f"{what} is not a marker, so it has no effect in Annotated.",
                f"Declare it next to the fields, as name = {what}(...)."
                if isinstance(mark, Declared)
                else "",
            )
        if isinstance(mark, markers.ReadsAlso):
            _check_other_form(mark.stored, kind, stored)
        kinds, suggestion = _KINDS_OF_MARKERS.get(type(mark), ((kind,), ""))
        if kind not in kinds:
            refuse(
                codes.MARKER_MISUSED,
                f"{type(mark).__name__} is on a field of kind {kind}.",
                suggestion,
            )


def _check_other_form(other: type | str, kind: str, stored: str | Codec[Any, Any]) -> None:
    """The other form must be one that the field can read, and have another type."""
    if isinstance(stored, Codec):
        readable = [one for one in READABLE if not {*READABLE[one]} & {*SAME_TYPE[stored.kind]}]
    else:
        readable = list(_ALSO.get(kind, ()))
    names = [one.__name__ for one in readable]
    if kind == "timestamp":
        number = stored in _EPOCHS
        names = [one for one in get_args(markers.TimeFormat) if (one in _EPOCHS) != number]
    if (other if isinstance(other, str) else other.__name__) not in names:
        refuse(
            codes.MARKER_MISUSED,
            f"a field of kind {kind} cannot read {getattr(other, '__name__', other)} as well.",
            f"It can read: {', '.join(names)}." if names else "Remove ReadsAlso.",
        )


def _check_default(default: object, name: str) -> None:
    kind = type(default)
    if not kind.__module__.startswith("keyfold.") or isinstance(default, BaseModel | Enum):
        return
    refuse(
        codes.MARKER_MISUSED,
        f"the default of {name} is a declaration ({kind.__name__}), which has no effect there.",
        f"Write {name}: Annotated[..., {kind.__name__}(...)]."
        if isinstance(default, markers.FieldMarker)
        else f"Declare it next to the field, as of_{name} = ...",
    )


def _check_expiry(spec: FieldSpec, fields: Mapping[str, FieldSpec]) -> None:
    mark = spec.mark(markers.Ttl)
    after = fields.get(mark.after) if mark is not None else None
    if mark is None or not mark.after or (after is not None and after.kind == "timestamp"):
        return
    times = ", ".join(name for name, field in fields.items() if field.kind == "timestamp")
    refuse(
        codes.MARKER_MISUSED,
        f"Ttl counts from {mark.after!r}, which is not a time field of this entity.",
        f"Its times are: {times}.",
    )
