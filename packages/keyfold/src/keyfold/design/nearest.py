"""Reads that find nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.parameter import Param
from keyfold.design.projection import View
from keyfold.design.read import Read
from keyfold.design.vector import Vector
from keyfold.design.vector_index import SearchSchema, VectorSchema
from keyfold.errors import MissingKeyField
from keyfold_engine.limits import SEARCH_NEIGHBOURS

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.pattern import Pattern

T = TypeVar("T")
E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound=BaseModel)

NEIGHBOURS = 10


@dataclass(frozen=True)
class Neighbour(Generic[T]):
    """An item that a search found, and its score.

    For cosine and euclidean a smaller score is nearer, for dot_product a larger one.
    """

    item: T
    score: float


@dataclass(frozen=True)
class Nearest(Read["list[Neighbour[T]]"], Generic[T]):
    """The nearest neighbours of a vector among the items of an entity, nearest first."""

    entity: type[Entity]
    index: VectorSchema
    vector: Any
    given: Mapping[str, Any]
    """Values of the fields that the search filters by."""
    size: Any = NEIGHBOURS
    view: View[Any] | None = None

    def limit(self, items: int) -> Self:
        """The number of neighbours, at most 100; 10 by default."""
        if isinstance(items, int) and not 1 <= items <= SEARCH_NEIGHBOURS:
            refuse(
                codes.TABLE_REFUSED,
                f"a search cannot return {items} neighbours.",
                f"DynamoDB returns 1 to {SEARCH_NEIGHBOURS}.",
            )
        return replace(self, size=items)

    def only(self, model: type[V]) -> Nearest[V]:
        """Read only the fields of this model: the vector itself is rarely wanted."""
        view = View(model, self.entity.__spec__)
        return Nearest(self.entity, self.index, self.vector, self.given, self.size, view)


def nearest(
    entity: type[E], vector: Sequence[float], *, field: str = "", **given: Any
) -> Nearest[E]:
    """The items nearest to a vector, as an access pattern.

    `field` names the vector if the entity has several; the other arguments are fields that the
    search stays within or filters by.
    """
    spec = entity.__spec__
    marked = {name: mark for name, one in spec.fields.items() if (mark := one.mark(Vector))}
    if field not in marked and (field or len(marked) != 1):
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"{spec.name} has no vector {field!r}."
            if field
            else f"{spec.name} has {len(marked) or 'no'} vectors.",
            f"Give one of them as field=: {', '.join(marked)}."
            if marked
            else "Declare one, as embedding: Annotated[list[float], Vector(384)].",
        )
    name = field or next(iter(marked))
    mark = marked[name]
    missing = [mark.within] if mark.within and mark.within not in given else []
    unknown = [one for one in given if one not in (mark.within, *mark.filters)]
    if missing or unknown:
        known = ", ".join(filter(None, (mark.within, *mark.filters))) or "nothing"
        raise MissingKeyField(
            f"a search of {spec.name}.{name} "
            + (f"needs {missing[0]}" if missing else f"cannot filter by {', '.join(unknown)}")
            + f". It takes: {known}"
        )
    attribute = spec.fields[name].attribute
    index = next(
        one
        for one in spec.table.schema.vectors
        if one.attribute == attribute and mark.index in ("", one.name)
    )
    return Nearest(entity, index, vector, given)


def describe_search(pattern: Pattern[Any, Any], read: Nearest[Any]) -> SearchSchema:
    """A search as data, for checks, documents and cost."""
    default: object = read.size
    if isinstance(read.size, Param):
        default = pattern.signature.parameters[read.size.name].default
    return SearchSchema(
        name=pattern.name,
        entity=read.entity.__name__,
        table=read.entity.__table__.name,
        index=read.index.name,
        given=tuple(read.given),
        parameters=tuple(pattern.signature.parameters),
        limit=default if isinstance(default, int) else None,
        limit_parameter=read.size.name if isinstance(read.size, Param) else "",
        projection=read.view.fields if read.view else (),
        description=pattern.description,
        place=pattern.place,
        silences=pattern.silences,
    )
