"""Merges: several partitions read in parallel as one list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from keyfold.design.declaration import refuse
from keyfold.design.item_collection import Collection
from keyfold.design.query import Query
from keyfold.design.read import Page, Read

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

E = TypeVar("E", bound="Entity")
A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")


@dataclass(frozen=True)
class Merge(Read[Page[E]], Generic[E]):
    """Several partitions read in parallel and merged in key order, without duplicates."""

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
    """Merge queries in sort-key order; `unique` names the field that identifies duplicates."""
    wrong = [one for one in queries if not isinstance(one, Query | Collection)]
    if wrong or not queries:
        refuse(
            "Q5",
            f"{wrong[0]!r} is not a query." if wrong else "a merge has no query.",
            "Give queries of keys, as merge(Order.by_day.query(day=each(days))).",
        )
    directions = {query.backwards for query in queries}
    if len(directions) != 1:
        refuse(
            "Q5",
            "the queries of a merge have different directions.",
            "Make all of them ascending or all descending.",
        )
    for key in (key for query in queries for key in query.keys):
        sort = key.declared.sort_attributes
        if len(sort) != 1 or sort[0].type == "B":
            refuse(
                "Q5",
                f"{key.entity.__name__}.{key.declared.name} has no sort key of one text or "
                "number, by which a merge could order.",
                "Merge queries on keys that have one.",
            )
        if unique and unique not in key.entity.__spec__.fields:
            refuse(
                "K1",
                f"a merge is unique by {unique!r}, which {key.entity.__name__} does not declare.",
                "Name a field that all merged entities have.",
            )
    return Merge(queries, unique)
