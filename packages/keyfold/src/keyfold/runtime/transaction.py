"""The intents that callers pass to `db.transact`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar, overload

from keyfold.design.address import Ref, checked_ref
from keyfold.design.condition import Condition
from keyfold.design.entity import Entity
from keyfold.design.recorder import record
from keyfold.design.signatures import Writable
from keyfold.errors import PlanError, TransactionConflict
from keyfold.runtime import writes
from keyfold.runtime.arguments import checked_item, ref_of
from keyfold.runtime.changes import read_changes
from keyfold.runtime.context import Context
from keyfold.runtime.counted_fields import refuse_copy
from keyfold.runtime.expansion import first_item
from keyfold.runtime.flow import Flow
from keyfold.runtime.inside import changes_by_field
from keyfold.runtime.intent import Check, Delete, Intent, Put, Update
from keyfold.runtime.plain_update import plain_update

E = TypeVar("E", bound=Entity)
Where = Callable[[E], object]
P = ParamSpec("P")
T = TypeVar("T")


def create(new: E, *, refuse: Exception | None = None) -> Put[E]:
    """Create an item; fails if one with the same key exists, with `refuse` if it is given."""
    refuse_copy(type(checked_item(new)), "create")
    return Put(new, refuse=refuse)


def put(new: E, *, where: Where[E] | None = None, refuse: Exception | None = None) -> Put[E]:
    """Write an item, replacing the one that exists; `refuse` is raised if `where` fails."""
    refuse_copy(type(checked_item(new)), "put")
    return Put(new, absent=False, condition=_condition(type(new), where), refuse=refuse)


def update(target: Writable[P, T], /, *args: P.args, **changes: P.kwargs) -> Update[T]:
    """Change an item; a versioned item passed itself must be unchanged since it was read.

    With `expected_version` the item must have that version, however old the one passed is.
    `refuse` is raised if the item is missing or `where` fails.
    """
    given: dict[str, Any] = dict(changes)
    where, refuse = given.pop("where", None), given.pop("refuse", None)
    expected = given.pop("expected_version", None)
    ref = ref_of(target)
    if expected is not None and ref.entity.__spec__.version is None:
        raise PlanError(f"{ref.entity.__name__} has no version that could be expected")
    given |= _changes_at(ref, args, given)
    refuse_copy(ref.entity, "update")
    return Update(
        ref,
        read_changes(ref.entity.__spec__, given),
        condition=_condition(ref.entity, where),
        given=target if isinstance(target, Entity) and expected is None else None,
        expected_version=expected,
        refuse=refuse,
    )


def change(
    context: Context, target: Any, args: tuple[Any, ...], given: Mapping[str, Any]
) -> Flow[Any]:
    """An update that is a commit of its own."""
    plain = None if args else plain_update(context, target, given)
    if plain is not None:
        try:
            return (yield from plain)
        except TransactionConflict:
            pass  # The general way tries again.
    (written,) = yield from commit(context, [update(target, *args, **given)], None)
    return written


def upsert(target: Writable[P, T], /, *args: P.args, **changes: P.kwargs) -> Update[T]:
    """Change an item, or create it from these changes and its defaults.

    A condition applies only to an existing item.
    """
    intent: Update[T] = update(target, *args, **changes)
    return replace(intent, if_missing=partial(first_item, intent))


def _changes_at(ref: Ref[Any], args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    found = changes_by_field(ref.entity.__spec__, args) if args else {}
    twice = sorted(found.keys() & given.keys())
    if twice:
        raise PlanError(f"{twice[0]} is given by name and by at; use only one")
    return found


@overload
def delete(
    target: E | Ref[E],
    /,
    *,
    where: Where[E] | None = None,
    must_exist: bool = False,
    returning: Literal[False] = False,
    refuse: Exception | None = None,
) -> Delete[None]: ...
@overload
def delete(
    target: E | Ref[E],
    /,
    *,
    where: Where[E] | None = None,
    must_exist: bool = False,
    returning: Literal[True],
    refuse: Exception | None = None,
) -> Delete[E | None]: ...
def delete(
    target: E | Ref[E],
    /,
    *,
    where: Where[E] | None = None,
    must_exist: bool = False,
    returning: bool = False,
    refuse: Exception | None = None,
) -> Delete[Any]:
    """Delete an item; `returning=True` returns the old item, or None.

    `refuse` is raised if the item must exist and does not, or `where` fails.
    """
    ref = ref_of(target)
    refuse_copy(ref.entity, "delete")
    must_exist = must_exist or where is not None
    versioned = ref.entity.__spec__.version is not None
    known = target if versioned and isinstance(target, Entity) else None
    condition = _condition(ref.entity, where)
    return Delete(ref, condition, known, must_exist, returning, refuse=refuse)


def check(
    target: Ref[E], /, *, where: Where[E] | None = None, refuse: Exception | None = None
) -> Check:
    """Require that the item exists or meets a condition, without writing it; otherwise `refuse`
    is raised.
    """
    return Check(checked_ref(target), _condition(target.entity, where), refuse=refuse)


def commit(context: Context, intents: Sequence[Intent], token: str | None) -> Flow[tuple[Any, ...]]:
    """Write all intents or none; returns what each of them wrote, as far as known."""
    return tuple((yield from writes.commit(context, intents, token=token)))


def _condition(entity: type[Entity], where: Callable[[Any], object] | None) -> Condition | None:
    return None if where is None else record(where, entity)
