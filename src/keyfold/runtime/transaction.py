"""Intents as people write them, for `db.transact`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.keys import Ref, address
from keyfold.design.predicate import Predicate
from keyfold.design.recorder import record
from keyfold.errors import PlanError
from keyfold.runtime.changes import read_changes
from keyfold.runtime.intent import Check, Delete, Put, Update

E = TypeVar("E", bound=Entity)
Where = Callable[[E], object]


def create(new: Entity) -> Put:
    """A new item; one with the same key is an error."""
    return Put(checked_item(new))


def put(new: Entity, *, where: Where[Any] | None = None) -> Put:
    """An item, new or replaced."""
    return Put(checked_item(new), absent=False, condition=_condition(type(new), where))


def update(target: E | Ref[E], /, *, where: Where[E] | None = None, **changes: Any) -> Update:
    """Changes to an item; given a versioned item itself, nobody may have changed it since."""
    ref, known = _target(target)
    return Update(
        ref,
        read_changes(ref.entity.__spec__, changes),
        condition=_condition(ref.entity, where),
        known=known,
    )


def delete(
    target: E | Ref[E], /, *, where: Where[E] | None = None, must_exist: bool = False
) -> Delete:
    ref, known = _target(target)
    return Delete(ref, _condition(ref.entity, where), known, must_exist or where is not None)


def check(target: Ref[E], /, *, where: Where[E] | None = None) -> Check:
    """The item exists, or meets a condition; it is not written."""
    return Check(address(target), _condition(target.entity, where))


def checked_item(given: Entity) -> Entity:
    """What somebody gave as an item; anything else is refused in words."""
    if isinstance(given, Entity) and hasattr(given, "__spec__"):
        return given
    if isinstance(given, Entity):
        raise PlanError(f"{type(given).__name__} is declared without table=, and stored nowhere")
    raise PlanError(f"{given!r} is no item; give one of the design's entities")


def _target(target: E | Ref[E]) -> tuple[Ref[E], E | None]:
    """The address, and the item as the caller knows it where a version can guard it."""
    if isinstance(target, Ref):
        return target, None
    if not isinstance(target, Entity):
        raise PlanError(
            f"{target!r} is neither an item nor its address; give an item that was read, or an "
            "address, as Order.key(order_id='1')"
        )
    checked_item(target)
    return target.ref(), target if target.__spec__.version is not None else None


def _condition(entity: type[Entity], where: Callable[[Any], object] | None) -> Predicate | None:
    return None if where is None else record(where, entity)
