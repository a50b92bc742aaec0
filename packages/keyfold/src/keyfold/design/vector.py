"""`Vector`: a field that is searched by nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.markers import StructureMarker
from keyfold.design.vector_index import Distance, VectorSchema
from keyfold_engine.limits import SEARCH_FILTERS, VECTOR_DIMENSIONS, VECTOR_INDEXES

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.entity_spec import EntitySpec
    from keyfold.design.fields import FieldSpec

_TEXT = ("string", "uuid", "date", "timestamp")
_NUMBERS = ("integer", "float", "decimal", "duration")
_LARGEST = 3.4028235e38
"""The largest 32-bit float: the index stores no more."""


@dataclass(frozen=True, slots=True)
class Vector(StructureMarker):
    """A vector of this many numbers for nearest-neighbour search: `Annotated[list[float],
    Vector(384)]`.

    `within` names a field whose values are searched separately, such as each owner's notes.
    `filters` names fields that a search can filter by. `index` names the index; the default is
    by_<attribute>.
    """

    dimensions: int
    distance: Distance = "cosine"
    within: str = ""
    filters: tuple[str, ...] = ()
    index: str = ""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def checked(self, numbers: Sequence[float] | None) -> Sequence[float] | None:
        """The numbers, checked for count and type."""
        if numbers is None:
            return None
        if len(numbers) != self.dimensions:
            raise ValueError(f"a vector has {self.dimensions} numbers, not {len(numbers)}")
        if not all(math.isfinite(number) and abs(number) <= _LARGEST for number in numbers):
            raise ValueError("a vector holds finite numbers that fit 32 bits")
        return numbers

    def attach_field(self, entity: type[Entity], name: str) -> None:
        """Add the index to the entity's table."""
        spec = entity.__spec__
        for message, suggestion in self._problems(spec, name):
            refuse(codes.MARKER_MISUSED, message, suggestion)
        table = entity.__table__
        made = self._schema(spec, name)
        others = [one for one in table.schema.vectors if one.name != made.name]
        if made not in table.schema.vectors and len(others) < len(table.schema.vectors):
            refuse(
                codes.NAME_TAKEN,
                f"the table {table.name} has another vector index {made.name}.",
                'Give this one a name of its own, as Vector(..., index="by_meaning").',
            )
        if len(others) == VECTOR_INDEXES:
            refuse(
                codes.TABLE_REFUSED,
                f"the table {table.name} would have {len(others) + 1} vector indexes; DynamoDB "
                f"takes {VECTOR_INDEXES}.",
                "Let entities share an index, under one attribute name.",
            )
        table.schema = replace(table.schema, vectors=(*others, made))
        table.design.when_complete(lambda: _refuse_conflict(entity, made))

    def _schema(self, spec: EntitySpec, name: str) -> VectorSchema:
        attribute = spec.fields[name].attribute
        asked = [spec.fields[one] for one in (self.within, *self.filters) if one]
        kinds = spec.table.schema.type_attribute
        return VectorSchema(
            self.index or f"by_{attribute}",
            attribute,
            self.dimensions,
            self.distance,
            within=spec.fields[self.within].attribute if self.within else "",
            # Entities that share the attribute share the index; searches tell them apart.
            filters=(
                *(spec.fields[one].attribute for one in self.filters),
                *((kinds,) if kinds else ()),
            ),
            numbers=tuple(field.attribute for field in asked if _type(field) == "N"),
            place=spec.place,
        )

    def _problems(self, spec: EntitySpec, name: str) -> Iterator[tuple[str, str]]:
        if not 1 <= self.dimensions <= VECTOR_DIMENSIONS:
            yield (
                f"a vector of {self.dimensions} dimensions cannot be indexed.",
                f"DynamoDB takes 1 to {VECTOR_DIMENSIONS:,}.",
            )
        if self.distance not in get_args(Distance):
            yield (
                f"{self.distance!r} is not a distance.",
                f"Distances are: {', '.join(get_args(Distance))}.",
            )
        own = SEARCH_FILTERS - (spec.table.schema.type_attribute is not None)
        if len(self.filters) > own:
            yield (
                f"the vector has {len(self.filters)} filters.",
                f"DynamoDB takes {SEARCH_FILTERS}, the entity's type included: {own} are left.",
            )
        for one in (*((self.within,) if self.within else ()), *self.filters):
            field = spec.fields.get(one)
            if field is None or field.reader is not None or not _type(field):
                yield (
                    f"{one!r} is not a stored text or number field of {spec.name}, so a search "
                    "cannot filter by it.",
                    f"It can use: {', '.join(f for f, s in spec.fields.items() if _type(s))}.",
                )
            elif one == self.within and field.optional:
                yield (
                    f"{one} may be missing: such items would silently not be found.",
                    "Make it required, or make it a filter.",
                )
        if spec.table.schema.billing != "PAY_PER_REQUEST":
            yield (
                f"the table {spec.table.name} is provisioned, and {name} has a vector index.",
                "Tables with vector indexes must be on demand.",
            )


def _type(field: FieldSpec) -> str:
    """The type of an attribute that a search can compare; empty if it cannot."""
    if field.stored.startswith("epoch") or field.kind in _NUMBERS:
        return "N"
    return "S" if field.kind in _TEXT else ""


def _refuse_conflict(entity: type[Entity], index: VectorSchema) -> None:
    """Refuse a conflicting attribute: DynamoDB rejects items whose attribute has another type."""
    for other in entity.__table__.entities:
        for name, field in other.__spec__.fields.items():
            mark = field.mark(Vector)
            if field.attribute == index.attribute:
                wrong = mark is None or mark.dimensions != index.dimensions
            elif field.attribute in index.search_attributes:
                wrong = (_type(field) == "N") != (field.attribute in index.numbers)
            else:
                continue
            if wrong:
                refuse(
                    codes.NAME_TAKEN,
                    f"{other.__name__}.{name} is stored as {field.attribute!r}, which the vector "
                    f"index {index.name} uses for something else: DynamoDB would reject the item.",
                    "Store it under another name, with Annotated[..., Name(...)].",
                )
