"""Queries: items of one entity in one partition, in key order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from pydantic import BaseModel

from keyfold.design.address import KeyOf
from keyfold.design.condition import Condition, all_of
from keyfold.design.declaration import refuse
from keyfold.design.keys import Key
from keyfold.design.projection import View
from keyfold.design.read import Page, Read
from keyfold.design.recorder import record
from keyfold.errors import MissingKeyField

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound=BaseModel)

_LETTER_BY_LETTER = ("", "lowercase", "uppercase")
"""Formats in which the beginning of a value is the beginning of its text."""


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
    condition: Condition | None = None
    consistent_read: bool = False

    @property
    def entity(self) -> type[E]:
        return self.source.entity

    @property
    def keys(self) -> tuple[KeyOf[E], ...]:
        return (self.source,)

    def descending(self) -> Self:
        """Reverse key order."""
        return replace(self, backwards=True)

    def limit(self, items: int | None) -> Self:
        """The page size; None leaves it to DynamoDB."""
        return replace(self, size=items)

    def where(self, condition: Callable[[E], object]) -> Self:
        """A filter: applied after the read, so filtered items cost read units too."""
        recorded = record(condition, self.entity)
        return replace(self, condition=all_of(self.condition, recorded))

    def consistent(self) -> Self:
        if not reads_consistently(self.entity, self.source.declared.index):
            refuse(
                "X6",
                f"{self.entity.__name__}.{self.source.declared.name} is on an index, which does "
                "not support consistent reads.",
                "Read by the primary key, or use an eventually consistent read.",
            )
        return replace(self, consistent_read=True)

    def only(self, model: type[V]) -> Projected[V]:
        """Read only the fields of this model: the same units, fewer bytes."""
        return Projected(self, View(model, self.entity.__spec__))

    def first(self) -> First[E]:
        """The first item in order, or None."""
        return First(replace(self, size=1))

    def count(self) -> Count[E]:
        """The number of items; reads all of them."""
        return Count(self)

    def exists(self) -> Exists[E]:
        """Whether there is at least one."""
        return Exists(replace(self, size=1))


class Ranges(ABC):
    """Ranges over the next sort field of what is read."""

    def after(self, **bound: Any) -> Self:
        """Only items whose next sort field is greater."""
        return self._bounded("low", bound, inclusive=False)

    def since(self, **bound: Any) -> Self:
        """Only items whose next sort field is greater or equal."""
        return self._bounded("low", bound, inclusive=True)

    def before(self, **bound: Any) -> Self:
        """Only items whose next sort field is smaller."""
        return self._bounded("high", bound, inclusive=False)

    def until(self, **bound: Any) -> Self:
        """Only items whose next sort field is smaller or equal."""
        return self._bounded("high", bound, inclusive=True)

    def _bounded(self, side: str, bound: Mapping[str, Any], *, inclusive: bool) -> Self:
        slot, read = self._next_slot(bound), cast("Any", self)
        return cast("Self", replace(read, ranged=slot, **{side: (bound[slot], inclusive)}))

    @abstractmethod
    def _next_slot(self, bound: Mapping[str, Any]) -> str:
        """The sort field after the given ones, which must be the bounded one."""


@dataclass(frozen=True)
class OpenQuery(Query[E], Ranges):
    """A query without generated types for its ranges."""

    def begins_with(self, **bound: Any) -> Self:
        """Only items whose next sort field begins with this text."""
        slot = self._next_slot(bound)
        declared = self.source.declared
        field = declared.held[slot]
        forms = [one.format.name for one in declared.templates.slots if one.field == slot]
        changed = [name for name in forms if name not in _LETTER_BY_LETTER]
        if field.kind != "string" or changed:
            what = f"in the format {changed[0]!r}" if changed else f"of kind {field.kind}"
            refuse(
                "Q5",
                f"{self.entity.__name__}.{slot} is {what}, which has no prefix.",
                "Give a prefix of a text field, plain or in the format lowercase or "
                "uppercase, or a range.",
            )
        return replace(self, ranged=slot, beginning=bound[slot])

    def _next_slot(self, bound: Mapping[str, Any]) -> str:
        sort = self.source.declared.templates.sort
        shown = self.source.declared.templates.sorting(self.values)
        free = [f for f in sort.fields if f not in shown] if sort else []
        if len(bound) == 1 and free and free[0] in bound:
            return free[0]
        expected = f"the next sort field is {free[0]}" if free else "all sort fields are given"
        refuse(
            "Q5",
            f"a range over {', '.join(bound) or 'nothing'} cannot be served by "
            f"{self.entity.__name__}.{self.source.declared.name}: {expected}.",
            "Bound the sort field that follows the given ones.",
        )


@dataclass(frozen=True)
class Projected(Read[Page[V]], Generic[V]):
    """A query that returns a smaller model."""

    query: Query[Any]
    view: View[V]

    @property
    def size(self) -> Any:
        return self.query.size


@dataclass(frozen=True)
class First(Read["E | None"], Generic[E]):
    """The first item of a query; with `descending`, the latest."""

    query: Query[E]


@dataclass(frozen=True)
class Count(Read[int], Generic[E]):
    """The number of items of a query; reads all of them."""

    query: Query[E]


@dataclass(frozen=True)
class Exists(Read[bool], Generic[E]):
    """Whether a query has at least one item."""

    query: Query[E]


def reads_consistently(entity: type[Any], index: str | None) -> bool:
    """Whether reads can be consistent: on the table's key or a local index."""
    found = None if index is None else entity.__table__.schema.index(index)
    return index is None or (found is not None and found.local)


def start_query(source: KeyOf[E], values: Mapping[str, Any]) -> OpenQuery[E]:
    """Check that the given fields are the partition key and the leading sort fields."""
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
    """Whether this field is a source of a part of the key."""
    return any(field in one.sources for one in declared.derived.values())
