"""Collections: items of several entities in one partition, read in one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from typing_extensions import TypeVar as TypeVarWithDefault

from keyfold.design.address import KeyOf, OpenKey
from keyfold.design.declaration import refuse
from keyfold.design.keys import Key
from keyfold.design.query import OpenQuery, Ranges, reads_consistently
from keyfold.design.read import Read
from keyfold.design.template import Slot, Template
from keyfold.errors import MissingKeyField, NotFound

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

E = TypeVar("E", bound="Entity")
A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")
C = TypeVarWithDefault("C", default=Any)


@dataclass(frozen=True)
class Collected(Generic[C]):
    """Items of several entities from one partition, by type."""

    items: list[C]
    cursor: str | None = None

    def of(self, entity: type[E]) -> list[E]:
        found: list[Any] = [item for item in self.items if type(item) is entity]
        return found

    def one(self, entity: type[E]) -> E:
        found = self.of(entity)
        if not found:
            raise NotFound(f"the collection does not contain {entity.__name__}")
        return found[0]

    def maybe(self, entity: type[E]) -> E | None:
        found = self.of(entity)
        return found[0] if found else None


@dataclass(frozen=True)
class Collection(Read[Collected[C]], Ranges, Generic[C]):
    """Items of several entities in one partition of their table or of an index, read in one
    query.
    """

    keys: tuple[KeyOf[Any], ...]
    values: Mapping[str, Any]
    size: Any = None
    backwards: bool = False
    consistent_read: bool = False
    ranged: str | None = None
    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None

    @property
    def entities(self) -> tuple[type[Any], ...]:
        return tuple(key.entity for key in self.keys)

    @property
    def index(self) -> str | None:
        return self.keys[0].declared.index

    def span(self) -> tuple[Template, Template] | None:
        """The sort templates that enclose all wanted items, inclusive."""
        sorts = [key.declared.templates.sort for key in self.keys]
        if any(sort is None or not sort.literal_prefix for sort in sorts):
            return None
        wanted = cast("list[Template]", sorts)
        ordered = sorted(wanted, key=lambda sort: sort.literal_prefix.encode())
        return ordered[0], ordered[-1]

    def as_query(self) -> OpenQuery[Any]:
        """The query over the first of its keys, with the same range."""
        return OpenQuery(self.keys[0], self.values, self.ranged, self.low, self.high)

    def limit(self, items: int | None) -> Self:
        return replace(self, size=items)

    def descending(self) -> Self:
        """Reverse key order."""
        return replace(self, backwards=True)

    def consistent(self) -> Self:
        if not reads_consistently(self.keys[0].entity, self.index):
            refuse(
                "X6",
                f"{self.index} is an index, which does not support consistent reads.",
                "Collect by the primary key, or use an eventually consistent read.",
            )
        return replace(self, consistent_read=True)

    def _next_slot(self, bound: Mapping[str, Any]) -> str:
        shapes = {_leading(key) for key in self.keys}
        asked = ", ".join(bound) or "nothing"
        if len(shapes) != 1 or len(bound) != 1 or next(iter(shapes))[1] not in bound:
            refuse(
                "Q5",
                f"a range over {asked} cannot be served by a collection of "
                f"{', '.join(entity.__name__ for entity in self.entities)}.",
                "A range is over the first field of the sort key, which all of them "
                "have in the same place.",
            )
        return next(iter(bound))


def _leading(key: KeyOf[Any]) -> tuple[str, str]:
    """The sort key of a member up to its first field, and that field."""
    sort = key.declared.templates.sort
    parts = sort.parts if sort is not None else ()
    texts = []
    for part in parts:
        texts.append(part.text)
        if isinstance(part, Slot):
            return "".join(texts), part.field
    return "".join(texts), ""


Member = type[A] | KeyOf[A] | Key[KeyOf[A]]


@overload
def collection(first: Member[A], /, **values: Any) -> Collection[A]: ...


@overload
def collection(first: Member[A], second: Member[B], /, **values: Any) -> Collection[A | B]: ...


@overload
def collection(
    first: Member[A], second: Member[B], third: Member[E], /, **values: Any
) -> Collection[A | B | E]: ...


@overload
def collection(*members: Member[Any], **values: Any) -> Collection[Any]: ...


def collection(*members: Member[Any], **values: Any) -> Collection[Any]:
    """All of these in one partition: entities in their table, or keys on one index."""
    keys = tuple(_member(member) for member in members)
    shapes = {key.declared.templates.partition.text for key in keys}
    places = {(key.entity.__table__.name, key.declared.index) for key in keys}
    if len(shapes) != 1 or len(places) != 1:
        refuse(
            "Q10",
            f"{', '.join(key.entity.__name__ for key in keys)} do not share a partition: "
            f"{', '.join(sorted(shapes))}.",
            "A collection takes entities of one table, or keys on one index, with one "
            "partition template.",
        )
    needed = set(keys[0].declared.templates.partition.fields)
    if set(values) != needed:
        raise MissingKeyField(f"the collection needs {', '.join(sorted(needed))}")
    return Collection(keys, values)


def _member(member: Any) -> KeyOf[Any]:
    """A key, or an entity for its primary key."""
    return member if isinstance(member, KeyOf) else OpenKey(member, member.__spec__.key)
