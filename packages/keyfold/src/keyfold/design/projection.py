"""Projections: a query that reads some of an entity's fields into a smaller model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from keyfold.design.codec import WireItem, compile_decoder
from keyfold.design.declaration import refuse
from keyfold.design.entity_spec import EntitySpec

if TYPE_CHECKING:
    from keyfold.design.keys import Key

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True)
class View(Generic[V]):
    """A model whose fields are some of an entity's fields."""

    model: type[V]
    spec: EntitySpec

    def __post_init__(self) -> None:
        unknown = [name for name in self.fields if name not in self.spec.fields]
        if unknown:
            refuse(
                "K1",
                f"{self.model.__name__} has the fields {', '.join(unknown)}, which "
                f"{self.spec.name} does not declare.",
                f"Declared: {', '.join(self.spec.fields)}.",
            )

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.model.model_fields)

    @cached_property
    def decode(self) -> Callable[[WireItem], V]:
        specs = [self.spec.fields[name] for name in self.fields]
        return self.spec.reader(self.model, compile_decoder(specs))


def check_projected(spec: EntitySpec, declared: Key, fields: tuple[str, ...]) -> None:
    """Refuse to read fields from an index that does not project them."""
    table = spec.table.schema
    index = table.index(declared.index or "")
    if index is None or index.projection == "ALL":
        return
    held = {*table.key_attributes, *index.key_attributes, *index.included}
    missing = [name for name in fields if spec.fields[name].attribute not in held]
    if missing:
        refuse(
            "X10",
            f"{index.name} ({index.projection}) does not hold {', '.join(missing)} of {spec.name}, "
            "so they would be empty.",
            "Project them into the index, or read less with only(Model).",
        )
