"""Validates what callers pass as items, addresses, entities and lists of them."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, TypeVar

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.query import Query
from keyfold.errors import PlanError

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


def checked_item(given: E) -> E:
    """The argument, checked to be an item."""
    if isinstance(given, Entity) and hasattr(given, "__spec__"):
        return given
    if isinstance(given, Entity):
        raise PlanError(f"{type(given).__name__} is declared without table=, so it is not stored")
    raise PlanError(f"{given!r} is not an item; pass one of the design's entities")


def checked_entity(given: type[E]) -> type[E]:
    """The argument, checked to be an entity class."""
    if not isinstance(given, type) or not issubclass(given, Entity):
        raise PlanError(f"{given!r} is not an entity; give the class of one, as Order")
    if not hasattr(given, "__spec__"):
        raise PlanError(f"{given.__name__} is declared without table=, so it is not stored")
    return given


def checked_query(given: Query[E]) -> Query[E]:
    """The argument, checked to be a query."""
    if isinstance(given, Query):
        return given
    raise PlanError(f"{given!r} is not a query; give one, as Order.key.query(user_id='1')")


def several(given: Iterable[T], verb: str, of: str) -> Iterable[T]:
    """The argument as a list, checked to be a collection."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Entity):
        return given
    raise PlanError(f"{verb} takes a list of {of}, not {given!r}")


def ref_of(target: Any) -> Ref[Any]:
    """The address of an argument that is an item or an address."""
    if isinstance(target, Ref):
        return target
    if not isinstance(target, Entity):
        raise PlanError(
            f"{target!r} is neither an item nor its address; give an item that was read, or an "
            "address, as Order.key(order_id='1')"
        )
    return checked_item(target).ref()


def awaited(work: Awaitable[T]) -> Awaitable[T]:
    """The argument, checked to be awaitable."""
    if isinstance(work, Awaitable):
        return work
    raise PlanError(
        f"the function returned {work!r}, which cannot be awaited: pass an async function"
    )
