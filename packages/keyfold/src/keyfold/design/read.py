"""Reads as data: what an access pattern asks for, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from keyfold.design.address import Ref
from keyfold.design.parameter import Param
from keyfold.errors import PlanError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E", bound="Entity")
A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")


@dataclass(frozen=True, slots=True)
class Each:
    """One query per element of a parameter."""

    values: Any


def each(values: Iterable[T]) -> T:
    """In a merge: one partition per value."""
    if isinstance(values, str | bytes):
        raise PlanError(f"each({values!r}) would use each character as a value; pass a list")
    return cast("T", Each(values))


def resolve(value: Any, arguments: Mapping[str, Any]) -> Any:
    """The value of a parameter."""
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


class Read(Generic[T_co]):
    """Anything that can be read; T is the result type."""


@dataclass(frozen=True)
class Get(Read["E | None"], Generic[E]):
    """One item by its whole key."""

    ref: Ref[E]
    consistent_read: bool = True

    def eventual(self) -> Get[E]:
        """An eventually consistent read: half the price, possibly stale."""
        return replace(self, consistent_read=False)


def get(ref: Ref[E]) -> Get[E]:
    """One item by its key, as an access pattern."""
    ref.refuse_several()
    return Get(ref)


@dataclass(frozen=True)
class GetMany(Read["list[E | None]"], Generic[E]):
    """Items by their keys, in batches, in order; None for missing ones."""

    refs: tuple[Ref[E], ...]


def get_many(*refs: Ref[E]) -> GetMany[E]:
    """Items by their keys, as an access pattern; `each` in a key stands for several."""
    return GetMany(_addresses(refs))


@dataclass(frozen=True)
class GetTogether(Read[T_co], Generic[T_co]):
    """Items read in one transaction."""

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
    """Up to 100 items read in one transaction, as an access pattern; costs twice as much."""
    return GetTogether(_addresses(refs))


def _addresses(refs: tuple[Ref[E], ...]) -> tuple[Ref[E], ...]:
    for ref in refs:
        if len([value for value in ref.values.values() if isinstance(value, Each)]) > 1:
            raise PlanError(f"{ref} has more than one each(...); a key of many takes one")
    if not refs:
        raise PlanError("no addresses were given; give Order.key(order_id=...)")
    return refs


def resolve_refs(refs: Iterable[Ref[E]], arguments: Mapping[str, Any]) -> list[Ref[E]]:
    """The addresses of a call, one per element of an `each`."""
    found: list[Ref[E]] = []
    for ref in refs:
        values = {name: resolve(value, arguments) for name, value in ref.values.items()}
        spread = values.get(ref.spread)
        several = [spread] if not isinstance(spread, Each) else resolve(spread.values, arguments)
        for one in several:
            given = {**values, ref.spread: one} if ref.spread else values
            found.append(Ref(ref.entity, given))
    return found
