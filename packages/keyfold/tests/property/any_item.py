"""Random items of any design: for each field a few values that its type accepts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Annotated, Any, get_args

from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from keyfold.design.entity import Entity
from keyfold.errors import KeyfoldError
from keyfold.runtime.changes import validate

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
POOL: list[Any] = [
    "a", "b", "A", "a@example.org", "B@example.org", "abcdef", "abcdefghijkl", "https://e.org/x",
    "POST#a#b", "POST#b#c",
    0, 1, 2, 7, Decimal("1.5"), Decimal(3), 0.5, True, False,
    _DAY, _DAY + timedelta(hours=1), date(2026, 1, 1),
    set(), {"a"}, {"a", "b"}, {"b", "c"}, {1, 2}, [], ["a"], ["a", "b"], {}, {"k": "v"}, b"x", None,
]  # fmt: skip


def _members(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return list(annotation)
    return [one for inner in get_args(annotation) for one in _members(inner)] or [
        one for one in get_args(annotation) if isinstance(one, str)
    ]


def _models(annotation: Any) -> list[Any]:
    """One value of each model in a type, and a list of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        values: dict[str, Any] = {}
        for name, info in annotation.model_fields.items():
            marks = tuple(info.metadata)
            kind: Any = Annotated[(info.annotation, *marks)] if marks else info.annotation
            for value in POOL:
                try:
                    values[info.alias or name] = TypeAdapter(kind).validate_python(value)
                    break
                except ValidationError:
                    continue
        return [values, [values]]
    return [one for inner in get_args(annotation) for one in _models(inner)]


@cache
def candidates(entity: type[Entity], field: str) -> tuple[Any, ...]:
    info = entity.model_fields[field]
    found: list[Any] = []
    members = _members(info.annotation)
    for value in [*members, *([one] for one in members), *_models(info.annotation), *POOL]:
        try:
            checked = validate(entity, field, value)
        except (KeyfoldError, ValidationError, TypeError):
            continue
        if not any(type(checked) is type(one) and checked == one for one in found):
            found.append(checked)
    if not info.is_required():
        found.append(info.get_default(call_default_factory=True))
    assert found, f"no value fits {entity.__name__}.{field}"
    return tuple(found)


@st.composite
def items(draw: st.DrawFn, entity: type[Entity]) -> Entity:
    values = {
        name: draw(st.sampled_from(candidates(entity, name))) for name in entity.__spec__.fields
    }
    return entity.model_validate(values, by_name=True, by_alias=False)


@st.composite
def changes(draw: st.DrawFn, entity: type[Entity]) -> tuple[Entity | None, Entity | None]:
    """An item before and after: created, deleted, changed, or the same."""
    old = draw(items(entity))
    kind = draw(st.sampled_from(["created", "deleted", "changed", "changed", "changed", "same"]))
    if kind == "created":
        return None, old
    if kind == "deleted":
        return old, None
    free = [n for n in entity.__spec__.fields if n not in entity.__spec__.key.templates.fields]
    if kind == "same" or not free:
        return old, old
    chosen = draw(st.sets(st.sampled_from(free), min_size=1, max_size=4))
    update = {name: draw(st.sampled_from(candidates(entity, name))) for name in sorted(chosen)}
    return old, old.model_copy(update=update)
