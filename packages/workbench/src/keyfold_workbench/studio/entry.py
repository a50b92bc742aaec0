"""Item fields as form fields, and the submitted values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.vector import Vector
from keyfold.maintain import Copied
from keyfold_workbench.studio.notation import type_words
from keyfold_workbench.studio.shape import (
    Given,
    ValueShape,
    boxes,
    is_given,
    json_text,
    shape_of,
    value_in,
)

LONG = 300
"""A longer text gets several lines."""


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    kind: str
    shape: ValueShape
    given: Given
    """The contents of its inputs."""
    text: str
    """Its value in words."""
    kept: str = ""
    """Why it is read-only: counted, a version, a part of the key."""
    problem: str = ""
    was: str | None = None
    """Its old value, if changed."""
    is_long: bool = False
    limits: str = ""
    """The constraints of its type, in words."""
    offered: Sequence[tuple[str, str]] = ()
    """Values from the data, with their titles."""

    @property
    def asks(self) -> str:
        """The requested input."""
        words = type_words(self.kind)
        return f"{words}, {self.limits}" if self.limits else words


def field_shape(entity: type[Entity], spec: FieldSpec) -> ValueShape:
    """How a field is entered; a vector's numbers are not typed one by one."""
    if spec.mark(Vector) is not None:
        return ValueShape("json", optional=spec.optional)
    return shape_of(entity.model_fields[spec.name].annotation)


def form_fields(
    entity: type[Entity],
    item: Entity | None,
    given: Given,
    problems: Mapping[str, str],
) -> list[FormField]:
    """The fields of an item, or of a new one, with the input."""
    spec = entity.__spec__
    made = []
    for name, one in spec.fields.items():
        kept = _why_read_only(spec, one, is_new=item is None)
        shape = field_shape(entity, one)
        stored = getattr(item, name) if item is not None else _default(entity, name)
        before = boxes(shape, name, stored)
        typed = not kept and is_given(name, given)
        shown = {path: list(texts) for path, texts in given.items()} if typed else before
        was = value_words(stored) or "nothing"
        longest = _limit(entity, name, "max_length")
        text = value_words(stored)
        long = one.kind == "string" and ((longest or 0) > LONG or len(text) > 80)
        made.append(
            FormField(
                name,
                one.kind,
                shape,
                shown,
                text,
                kept,
                problems.get(name, ""),
                was
                if item is not None and typed and _differs(shape, name, shown, before)
                else None,
                long,
                _limits(entity, name),
            )
        )
    return made


def _differs(shape: ValueShape, name: str, given: Given, before: Given) -> bool:
    try:
        return bool(value_in(shape, name, given) != value_in(shape, name, before))
    except (ValueError, RecursionError):
        return True


def _limit(entity: type[Entity], name: str, of: str) -> int | None:
    """A bound from the annotation."""
    found = (getattr(one, of, None) for one in entity.model_fields[name].metadata)
    return next((one for one in found if one is not None), None)


def _limits(entity: type[Entity], name: str) -> str:
    least = next(
        (n for of in ("min_length", "ge") if (n := _limit(entity, name, of)) is not None), None
    )
    most = next(
        (n for of in ("max_length", "le") if (n := _limit(entity, name, of)) is not None), None
    )
    if least is None and most is None:
        return ""
    if most is None:
        return f"from {least:,}"
    return f"{least:,} to {most:,}" if least is not None else f"to {most:,}"


def _why_read_only(spec: EntitySpec, field: FieldSpec, *, is_new: bool) -> str:
    if field.is_kept:
        return "counted, not edited"
    if (copied := field.mark(Copied)) is not None and not is_new:
        return f"copied from {copied.of}.{copied.field}"
    if field in (spec.version, spec.created, spec.updated):
        return "kept by keyfold"
    if field.name in spec.key.address and not is_new:
        return "part of the key"
    return ""


def _default(entity: type[Entity], name: str) -> Any:
    found = entity.model_fields[name].get_default(call_default_factory=True)
    return None if found is PydanticUndefined else found


def value_words(value: Any) -> str:
    """A value in words, the same for the same value."""
    if value is None:
        return ""
    plain = to_jsonable_python(value, bytes_mode="base64", fallback=str)
    if isinstance(value, set | frozenset):
        return ", ".join(sorted(map(str, plain)))
    if isinstance(plain, list) and all(isinstance(one, str) for one in plain):
        return ", ".join(plain)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict | list):
        return json_text(value)
    return str(plain)


def read_fields(
    entity: type[Entity], given: Given, *, is_new: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """The submitted values, and the errors of the others."""
    spec = entity.__spec__
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, field in spec.fields.items():
        if not is_given(name, given) or _why_read_only(spec, field, is_new=is_new):
            continue
        shape = field_shape(entity, field)
        try:
            found = value_in(shape, name, given)
            if found in (None, "") and _is_needed(entity, field, shape):
                problems[name] = f"Give {name}."
            else:
                values[name] = _typed(entity, field, shape, found)
        except ValidationError as wrong:
            problems[name] = _complaint(wrong)
        except (ValueError, RecursionError):
            problems[name] = 'This is not JSON, as ["a", "b"] or {"a": 1}.'
    return values, problems


def _complaint(wrong: ValidationError) -> str:
    """The first error, with the part it concerns."""
    first = wrong.errors()[0]
    place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _is_needed(entity: type[Entity], field: FieldSpec, shape: ValueShape) -> bool:
    """Whether a value is required; an empty text is a value."""
    if shape.optional or field.optional:
        return False
    return field.kind != "string" or field.name in entity.__spec__.key.address


def _typed(entity: type[Entity], field: FieldSpec, shape: ValueShape, found: Any) -> Any:
    info = entity.model_fields[field.name]
    hint: Any = info.annotation
    if info.metadata:
        hint = Annotated[(hint, *info.metadata)]
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    if shape.kind in ("text", "date", "flag") and isinstance(found, str):
        return adapter.validate_strings(found)
    return adapter.validate_python(found)
