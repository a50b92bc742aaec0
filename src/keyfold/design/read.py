"""Reads as data: what an access pattern asks for, before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from pydantic import BaseModel
from typing_extensions import TypeVar as TypeVarWithDefault

from keyfold.design.keys import Key, KeyOf, OpenKey, Ref
from keyfold.design.parameter import Param as Param
from keyfold.design.predicate import Predicate
from keyfold.design.projection import View
from keyfold.design.recorder import record
from keyfold.design.template import Slot, Template
from keyfold.errors import DeclarationError, MissingKeyField, NotFound, PlanError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E", bound="Entity")
A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")
V = TypeVar("V", bound=BaseModel)
C = TypeVarWithDefault("C", default=Any)


@dataclass(frozen=True, slots=True)
class Each:
    """One query for each element of a parameter."""

    values: Any


def each(values: Iterable[T]) -> T:
    """In a merge: one partition for each of these values."""
    return cast("T", Each(values))


def resolve(value: Any, arguments: Mapping[str, Any]) -> Any:
    """The value that a parameter stands for."""
    return value.value_in(arguments) if isinstance(value, Param) else value


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of results; `cursor` continues after it, and is None at the end."""

    items: list[T]
    cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> T:
        return self.items[position]


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
            raise NotFound(f"the collection holds no {entity.__name__}")
        return found[0]

    def maybe(self, entity: type[E]) -> E | None:
        found = self.of(entity)
        return found[0] if found else None


class Read(Generic[T_co]):
    """Anything that can be read; T is what reading it gives."""


@dataclass(frozen=True)
class Get(Read["E | None"], Generic[E]):
    """One item by its whole key."""

    ref: Ref[E]
    consistent_read: bool = True

    def eventual(self) -> Get[E]:
        """Half the price; the answer may be a moment old."""
        return replace(self, consistent_read=False)


def get(ref: Ref[E]) -> Get[E]:
    """One item by its key, as an access pattern."""
    ref.refuse_several()
    return Get(ref)


@dataclass(frozen=True)
class GetMany(Read["list[E | None]"], Generic[E]):
    """Items by their keys, in batches, each with its place: None where there is none."""

    refs: tuple[Ref[E], ...]


def get_many(*refs: Ref[E]) -> GetMany[E]:
    """Items by their keys, as an access pattern; `each` in a key stands for several."""
    return GetMany(_addresses(refs))


@dataclass(frozen=True)
class GetTogether(Read[T_co], Generic[T_co]):
    """Items as they were at one moment."""

    refs: tuple[Ref[Any], ...]


@overload
def get_together(a: Ref[A], /) -> GetTogether[tuple[A | None]]: ...
@overload
def get_together(a: Ref[A], b: Ref[B], /) -> GetTogether[tuple[A | None, B | None]]: ...
@overload
def get_together(
    a: Ref[A], b: Ref[B], c: Ref[E], /
) -> GetTogether[tuple[A | None, B | None, E | None]]: ...
@overload
def get_together(*refs: Ref[E]) -> GetTogether[tuple[E | None, ...]]: ...
def get_together(*refs: Ref[Any]) -> GetTogether[Any]:
    """Up to 100 items as they were at one moment, as an access pattern; twice the price."""
    return GetTogether(_addresses(refs))


def _addresses(refs: tuple[Ref[E], ...]) -> tuple[Ref[E], ...]:
    for ref in refs:
        if len([value for value in ref.values.values() if isinstance(value, Each)]) > 1:
            raise PlanError(f"{ref} has more than one each(...); a key of many takes one")
    if not refs:
        raise PlanError("no addresses were given; give Order.key(order_id=...)")
    return refs


def addressed(refs: Iterable[Ref[E]], arguments: Mapping[str, Any]) -> list[Ref[E]]:
    """The addresses of a call, one for each element of an `each`."""
    found: list[Ref[E]] = []
    for ref in refs:
        values = {name: resolve(value, arguments) for name, value in ref.values.items()}
        spread = values.get(ref.spread)
        several = [spread] if not isinstance(spread, Each) else resolve(spread.values, arguments)
        for one in several:
            given = {**values, ref.spread: one} if ref.spread else values
            found.append(Ref(ref.entity, given))
    return found


@dataclass(frozen=True)
class Query(Read[Page[E]], Generic[E]):
    """Items of one entity in one partition, in key order."""

    source: KeyOf[E]
    values: Mapping[str, Any]
    ranged: str | None = None
    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None
    beginning: Any = None
    backwards: bool = False
    size: Any = None
    condition: Predicate | None = None
    consistent_read: bool = False

    @property
    def entity(self) -> type[E]:
        return self.source.entity

    @property
    def keys(self) -> tuple[KeyOf[E], ...]:
        return (self.source,)

    def descending(self) -> Self:
        """Last keys first."""
        return replace(self, backwards=True)

    def limit(self, items: int | None) -> Self:
        """At most so many items a page; None leaves it to DynamoDB."""
        return replace(self, size=items)

    def where(self, condition: Callable[[E], object]) -> Self:
        """A filter: applied after the read and paid for like it."""
        recorded = record(condition, self.entity)
        joined = recorded if self.condition is None else self.condition & recorded
        return replace(self, condition=joined)

    def consistent(self) -> Self:
        if not _reads_consistently(self.entity, self.source.declared.index):
            raise DeclarationError(
                "X6",
                f"{self.entity.__name__}.{self.source.declared.name} is on an index, which has no "
                "consistent reads.",
                suggestion="Read by the primary key, or accept an eventual read.",
            )
        return replace(self, consistent_read=True)

    def only(self, model: type[V]) -> Projected[V]:
        """Read just the fields that this model has; the same units, fewer bytes."""
        return Projected(self, View(model, self.entity.__spec__))

    def first(self) -> First[E]:
        """The first item in order, or None."""
        return First(replace(self, size=1))

    def count(self) -> Count[E]:
        """How many there are; reads all of them."""
        return Count(self)

    def exists(self) -> Exists[E]:
        """Whether there is one."""
        return Exists(replace(self, size=1))


@dataclass(frozen=True)
class OpenQuery(Query[E]):
    """A query whose ranges have no written types."""

    def after(self, **bound: Any) -> Self:
        """Only items whose next sort field is greater."""
        return self._bounded(bound, low=False)

    def since(self, **bound: Any) -> Self:
        """Only items whose next sort field is greater or equal."""
        return self._bounded(bound, low=True)

    def before(self, **bound: Any) -> Self:
        """Only items whose next sort field is smaller."""
        return self._bounded(bound, high=False)

    def until(self, **bound: Any) -> Self:
        """Only items whose next sort field is smaller or equal."""
        return self._bounded(bound, high=True)

    def begins_with(self, **bound: Any) -> Self:
        """Only items whose next sort field is text that begins so."""
        slot = self._next_slot(bound)
        declared = self.source.declared
        field = declared.held[slot]
        if field.kind != "string" or any(
            one.format.name for one in declared.templates.slots if one.field == slot
        ):
            raise DeclarationError(
                "Q5",
                f"{self.entity.__name__}.{slot} is of kind {field.kind}, which does not begin with "
                "anything.",
                suggestion="Ask for the beginning of a field of text, or for a range.",
            )
        return replace(self, ranged=slot, beginning=bound[slot])

    def _bounded(
        self, bound: Mapping[str, Any], *, low: bool | None = None, high: bool | None = None
    ) -> Self:
        slot = self._next_slot(bound)
        value = bound[slot]
        if low is not None:
            return replace(self, ranged=slot, low=(value, low))
        return replace(self, ranged=slot, high=(value, bool(high)))

    def _next_slot(self, bound: Mapping[str, Any]) -> str:
        """The sort field that follows the given ones, which must be the one that is bounded."""
        sort = self.source.declared.templates.sort
        shown = self.source.declared.templates.sorting(self.values)
        free = [f for f in sort.fields if f not in shown] if sort else []
        if len(bound) == 1 and free and free[0] in bound:
            return free[0]
        expected = f"the next sort field is {free[0]}" if free else "all sort fields are given"
        raise DeclarationError(
            "Q5",
            f"a range over {', '.join(bound) or 'nothing'} cannot be served by "
            f"{self.entity.__name__}.{self.source.declared.name}: {expected}.",
            suggestion="Bound the sort field that follows the given ones.",
        )


@dataclass(frozen=True)
class Projected(Read[Page[V]], Generic[V]):
    """A query whose items come as a smaller model."""

    query: Query[Any]
    view: View[V]

    @property
    def size(self) -> Any:
        return self.query.size


@dataclass(frozen=True)
class First(Read["E | None"], Generic[E]):
    """The first item of a query: the latest one, when descending."""

    query: Query[E]


@dataclass(frozen=True)
class Count(Read[int], Generic[E]):
    query: Query[E]


@dataclass(frozen=True)
class Exists(Read[bool], Generic[E]):
    query: Query[E]


@dataclass(frozen=True)
class Merge(Read[Page[E]], Generic[E]):
    """Several partitions read in parallel and merged in key order, each thing once."""

    queries: tuple[Query[Any] | Collection[Any], ...]
    unique: str = ""
    size: Any = None

    def limit(self, items: int) -> Merge[E]:
        return replace(self, size=items)


@overload
def merge(first: Query[A] | Collection[A], /, *, unique: str = "") -> Merge[A]: ...
@overload
def merge(
    first: Query[A] | Collection[A], second: Query[B] | Collection[B], /, *, unique: str = ""
) -> Merge[A | B]: ...
@overload
def merge(
    first: Query[A], second: Query[B], third: Query[E], /, *, unique: str = ""
) -> Merge[A | B | E]: ...
@overload
def merge(*queries: Query[Any] | Collection[Any], unique: str = "") -> Merge[Any]: ...
def merge(*queries: Query[Any] | Collection[Any], unique: str = "") -> Merge[Any]:
    """Merge queries in the order of their sort keys; `unique` names the field that is one thing."""
    directions = {query.backwards for query in queries}
    if len(directions) != 1:
        raise DeclarationError(
            "Q5",
            "the queries of a merge go in different directions.",
            suggestion="Make all of them ascending or all descending.",
        )
    for key in (key for query in queries for key in query.keys):
        attributes = key.declared.attributes
        if len(attributes) < 2 or attributes[1].type == "B":
            raise DeclarationError(
                "Q5",
                f"{key.entity.__name__}.{key.declared.name} has no sort key of text or "
                "numbers, by which a merge could order.",
                suggestion="Merge queries on keys that have one.",
            )
        if unique and unique not in key.entity.__spec__.fields:
            raise DeclarationError(
                "K1",
                f"a merge is unique by {unique!r}, which {key.entity.__name__} does not declare.",
                suggestion="Name a field that all merged entities have.",
            )
    return Merge(queries, unique)


@dataclass(frozen=True)
class Collection(Read[Collected[C]], Generic[C]):
    """Items of several entities in one partition of their table or of an index, in one query."""

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
        """The sort templates that all wanted items lie between, both included."""
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
        """Last keys first."""
        return replace(self, backwards=True)

    def consistent(self) -> Self:
        if not _reads_consistently(self.keys[0].entity, self.index):
            raise DeclarationError(
                "X6",
                f"{self.index} is an index, which has no consistent reads.",
                suggestion="Collect by the primary key, or accept an eventual read.",
            )
        return replace(self, consistent_read=True)

    def after(self, **bound: Any) -> Self:
        """Only items whose first sort field, which all have, is greater."""
        return self._bounded(bound, low=False)

    def since(self, **bound: Any) -> Self:
        return self._bounded(bound, low=True)

    def before(self, **bound: Any) -> Self:
        return self._bounded(bound, high=False)

    def until(self, **bound: Any) -> Self:
        return self._bounded(bound, high=True)

    def _bounded(
        self, bound: Mapping[str, Any], *, low: bool | None = None, high: bool | None = None
    ) -> Self:
        shapes = {_leading(key) for key in self.keys}
        asked = ", ".join(bound) or "nothing"
        if len(shapes) != 1 or len(bound) != 1 or next(iter(shapes))[1] not in bound:
            raise DeclarationError(
                "Q5",
                f"a range over {asked} cannot be served by a collection of "
                f"{', '.join(entity.__name__ for entity in self.entities)}.",
                suggestion="A range is over the first field of the sort key, which all of them "
                "have in the same place.",
            )
        [(slot, value)] = bound.items()
        if low is not None:
            return replace(self, ranged=slot, low=(value, low))
        return replace(self, ranged=slot, high=(value, bool(high)))


def _reads_consistently(entity: type[Any], index: str | None) -> bool:
    """Whether reads can be consistent: by the table's own key, and on a local index."""
    found = None if index is None else entity.__table__.schema.index(index)
    return index is None or (found is not None and found.local)


def _leading(key: KeyOf[Any]) -> tuple[str, str]:
    """The sort key of a collection's member up to its first field, and that field."""
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
    """Everything of these in one partition: entities in their table, or keys on one index."""
    keys = tuple(_member(member) for member in members)
    shapes = {key.declared.templates.partition.text for key in keys}
    places = {(key.entity.__table__.name, key.declared.index) for key in keys}
    if len(shapes) != 1 or len(places) != 1:
        raise DeclarationError(
            "Q10",
            f"{', '.join(key.entity.__name__ for key in keys)} do not share a partition: "
            f"{', '.join(sorted(shapes))}.",
            suggestion="A collection takes entities of one table, or keys on one index, with one "
            "partition template.",
        )
    needed = set(keys[0].declared.templates.partition.fields)
    if set(values) != needed:
        raise MissingKeyField(f"the collection needs {', '.join(sorted(needed))}")
    return Collection(keys, values)


def _member(member: Any) -> KeyOf[Any]:
    """A key, or an entity for its primary key."""
    return member if isinstance(member, KeyOf) else OpenKey(member, member.__spec__.key)


def start_query(source: KeyOf[E], values: Mapping[str, Any]) -> OpenQuery[E]:
    """Check that the given fields are the partition key and the first sort fields."""
    templates = source.declared.templates
    where = f"{source.entity.__name__}.{source.declared.name}"
    sort = list(templates.sort_fields)
    derived = source.declared.derived.values()
    known = {*values, *(one.name for one in derived if one.sources <= values.keys())}
    missing = [f for f in dict.fromkeys(templates.partition.fields) if f not in known]
    if missing:
        unknown = [f for f in values if f not in templates.fields]
        raise MissingKeyField(
            f"a query on {where} needs the whole partition key: {', '.join(missing)} missing"
            + (f"; {', '.join(unknown)} is not part of it" if unknown else "")
        )
    given = [f for f in values if f not in templates.partition.fields]
    given = [f for f in given if f in sort or not _is_source(source.declared, f)]
    leading = [f for f in sort if f not in templates.partition.buckets][: len(given)]
    if set(given) != set(leading) or sort[: len(given)] != leading:
        raise MissingKeyField(
            f"a query on {where} takes leading sort fields only: "
            f"{', '.join(sort) or 'it has none'}; got {', '.join(given)}"
        )
    return OpenQuery(source, values)


def _is_source(declared: Key[Any], field: str) -> bool:
    """Whether a part of the key is made of this field."""
    return any(field in one.sources for one in declared.derived.values())
