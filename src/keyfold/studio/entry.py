"""Fields of an item as texts of a form, and back."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.runtime.guard import is_counted

SETS = {
    "string_set": "texts, with commas",
    "number_set": "numbers, with commas",
    "binary_set": "base64, with commas",
}
LONG = 300
"""A text that may be longer has several lines."""
LISTED = ("string_set", "number_set", "binary_set")
NESTED = ("list", "map", "model", "any")


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    kind: str
    text: str
    kept: str = ""
    """Why it is not for people to write: counted, a version, a part of the key."""
    choices: tuple[str, ...] = ()
    problem: str = ""
    was: str | None = None
    """What it was, where it has been changed."""
    rows: int = 1
    limits: str = ""
    """What its type allows, in words."""

    @property
    def asks(self) -> str:
        """What is to be typed."""
        words = SETS.get(self.kind, self.kind)
        return f"{words}, {self.limits}" if self.limits else words


def form_fields(
    entity: type[Entity],
    item: Entity | None,
    typed: Mapping[str, str],
    problems: Mapping[str, str],
) -> list[FormField]:
    """The fields of an item, or of a new one, with what was typed."""
    spec = entity.__spec__
    made = []
    for name, field in spec.fields.items():
        kept = _kept(spec, field, is_new=item is None)
        stored = getattr(item, name) if item is not None else _default(entity, name)
        before = written(stored)
        text = before if kept else typed.get(name, before)
        was = before if item is not None and text != before else None
        longest = _limit(entity, name, "max_length")
        long = field.kind == "string" and (longest or 0) > LONG
        made.append(
            FormField(
                name,
                field.kind,
                text,
                kept,
                ("true", "false") if field.kind == "boolean" else tuple(field.values),
                problems.get(name, ""),
                was,
                3 if field.kind in NESTED or long or len(text) > 80 else 1,
                _limits(entity, name),
            )
        )
    return made


def _limit(entity: type[Entity], name: str, of: str) -> int | None:
    """A bound that the annotation gives."""
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


def _kept(spec: EntitySpec, field: FieldSpec, *, is_new: bool) -> str:
    if is_counted(field):
        return "counted, not edited"
    if field in (spec.version, spec.created, spec.updated):
        return "kept by keyfold"
    if field.name in spec.key.address and not is_new:
        return "part of the key"
    return ""


def _default(entity: type[Entity], name: str) -> Any:
    found = entity.model_fields[name].get_default(call_default_factory=True)
    return None if found is PydanticUndefined else found


def written(value: Any) -> str:
    """A value as it is typed."""
    if value is None:
        return ""
    plain = to_jsonable_python(value, fallback=str)
    if isinstance(value, set | frozenset):
        return ", ".join(sorted(map(str, plain)))
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict | list):
        return orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()
    return str(plain)


def read_fields(
    entity: type[Entity], typed: Mapping[str, str], *, is_new: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that were typed, and what is wrong with the others."""
    spec = entity.__spec__
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, field in spec.fields.items():
        if name not in typed or _kept(spec, field, is_new=is_new):
            continue
        if not typed[name] and _is_missing(entity, field):
            problems[name] = f"Give {name}."
            continue
        try:
            values[name] = _read(entity, field, typed[name])
        except ValidationError as wrong:
            problems[name] = wrong.errors()[0]["msg"]
        except orjson.JSONDecodeError:
            problems[name] = 'This is not JSON, as ["a", "b"] or {"a": 1}.'
    return values, problems


def _is_missing(entity: type[Entity], field: FieldSpec) -> bool:
    """Whether nothing was typed where something has to stand; an empty text is something."""
    info = entity.model_fields[field.name]
    if _is_optional(info.annotation) or field.kind in LISTED:
        return False
    return field.kind != "string" or field.name in entity.__spec__.key.address


def _read(entity: type[Entity], field: FieldSpec, text: str) -> Any:
    info = entity.model_fields[field.name]
    hint: Any = info.annotation
    if info.metadata:
        hint = Annotated[(hint, *info.metadata)]
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    if not text and _is_optional(info.annotation):
        return None
    if field.kind in LISTED:
        return adapter.validate_python([one.strip() for one in text.split(",") if one.strip()])
    if field.kind in NESTED:
        return adapter.validate_python(orjson.loads(text or "null"))
    return adapter.validate_strings(text)


def _is_optional(annotation: Any) -> bool:
    origin = get_origin(annotation)
    return origin in (Union, types.UnionType) and type(None) in get_args(annotation)
