"""Key parts that are not fields: values inside models, and computed fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel

from keyfold.design.declaration import refuse
from keyfold.design.field_kind import read_kind, unwrap
from keyfold.design.fields import FieldSpec
from keyfold.design.template import Slot

if TYPE_CHECKING:
    from keyfold.design.entity import Entity


@dataclass(frozen=True)
class Derivation:
    """A value derived from fields: its name, its sources and its function."""

    field: FieldSpec
    annotation: Any
    sources: frozenset[str]
    function: Callable[[Mapping[str, Any]], Any]
    """Computes the value from the values of its sources."""
    computed: bool = False

    @property
    def name(self) -> str:
        return self.field.name

    def extend(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values plus this one, if its sources are present."""
        if self.name in values or not self.sources <= values.keys():
            return values
        return {**values, self.name: self.function(values)}


def derivation(entity: type[Entity], slot: Slot) -> Derivation | None:
    """The derivation behind a key slot that is not a field of the entity, or None."""
    if slot.path:
        return _nested_derivation(entity, slot)
    found = _Computed.of(entity, slot.field)
    return None if found is None else found.derivation()


def _nested_derivation(entity: type[Entity], slot: Slot) -> Derivation | None:
    root, *path = slot.path.split(".")
    if root not in entity.__spec__.fields:
        return None
    if slot.field in entity.model_fields:
        refuse(
            "K1",
            f"the key holds {slot.path}, which is given as {slot.field}, and {entity.__name__} has "
            "a field of that name.",
            "Give one of them another name.",
        )
    annotation, _, optional = unwrap(entity.model_fields[root].annotation)
    walked = root
    for name in path:
        is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        if not is_model or name not in annotation.model_fields:
            refuse(
                "K1",
                f"the key holds {slot.path}, and {walked} has no field {name!r}.",
                "Name a field of a Pydantic model, as {address.city}.",
            )
        annotation, _, missing = unwrap(annotation.model_fields[name].annotation)
        walked = f"{walked}.{name}"
        if missing:
            refuse(
                "K3",
                f"the key holds {slot.path}, and {walked} may be missing.",
                "Make it required in its model; the model itself may be optional.",
            )
    kind, values, enum = read_kind(annotation)
    field = FieldSpec(slot.field, slot.path, kind, optional, values=values, enum=enum)

    def value(values: Mapping[str, Any]) -> Any:
        found = values[root]
        for name in path:
            found = None if found is None else getattr(found, name)
        return found

    return Derivation(field, annotation, frozenset({root}), value)


@dataclass(frozen=True)
class _Computed:
    """A property of an entity, plain or Pydantic's."""

    entity: type[Entity]
    name: str
    getter: Callable[[Any], Any]
    returns: Any

    @staticmethod
    def of(entity: type[Entity], name: str) -> _Computed | None:
        computed = entity.model_computed_fields.get(name)
        found = computed.wrapped_property if computed else _static(entity, name)
        if isinstance(found, cached_property):
            return _Computed(entity, name, found.func, computed.return_type if computed else None)
        getter = found.fget if isinstance(found, property) else None
        if getter is None:
            return None
        if computed is not None:
            return _Computed(entity, name, getter, computed.return_type)
        return _Computed(entity, name, getter, get_type_hints(getter).get("return"))

    def derivation(self) -> Derivation:
        annotation, _, optional = unwrap(self.returns)
        if optional or annotation is None:
            refuse(
                "K3",
                f"the key holds {self.name}, which is computed and may be missing.",
                "Annotate its type, as def domain(self) -> str.",
            )
        kind, values, enum = read_kind(annotation)
        field = FieldSpec(self.name, self.name, kind, False, values=values, enum=enum)
        used = set(_names(self.entity, self.getter, {self.name}))
        fields = set(self.entity.__spec__.fields)
        sources = fields if not used <= self.entity.model_fields.keys() else used & fields
        entity, getter = self.entity, self.getter

        def value(values: Mapping[str, Any]) -> Any:
            return getter(entity.model_construct(**values))

        return Derivation(field, annotation, frozenset(sources), value, computed=True)


def _static(entity: type[Entity], name: str) -> object:
    return next((vars(owner)[name] for owner in entity.__mro__ if name in vars(owner)), None)


def _names(entity: type[Entity], function: Callable[..., Any], seen: set[str]) -> Iterator[str]:
    """The fields that a function of the entity uses; "" if that is unknown."""
    waiting: list[types.CodeType] = []
    code = getattr(function, "__code__", None)
    if code is None:
        yield ""
        return
    waiting.append(code)
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        for name in code.co_names:
            if name in entity.model_fields:
                yield name
            elif name in ("getattr", "vars") or name.startswith(("model_", "__")):
                yield ""
            elif name not in seen:
                seen.add(name)
                found = _static(entity, name)
                inner = getattr(found, "fget", None) or getattr(found, "func", found)
                if callable(inner):
                    yield from _names(entity, inner, seen)


__all__ = ["Derivation", "derivation"]
