"""Edit blocks: change a draft as if it were the item; the changes become one update.

The draft of an item that was read is compared with the item. The draft of an address records
operations, without a read.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeVar

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.recorder import record
from keyfold.errors import PlanError
from keyfold.runtime import changes as change
from keyfold.runtime.arguments import checked_item
from keyfold.runtime.changes import Change, read_changes
from keyfold.runtime.intent import Update

E = TypeVar("E", bound=Entity)


class Edit:
    """One block: its draft, and the update that it amounts to."""

    def __init__(self, target: Entity | Ref[Any], where: Callable[[Any], object] | None) -> None:
        self.item = None if isinstance(target, Ref) else checked_item(target)
        self.ref: Ref[Any] = target if isinstance(target, Ref) else target.ref()
        self.condition = None if where is None else record(where, self.ref.entity)
        self.draft: Any = _Recording(self.ref) if self.item is None else _draft_of(self.item)

    def update(self) -> Update[Any] | None:
        """The update to write; None if nothing changed."""
        if self.item is None:
            done = dict(self.draft._done)
            known = None
        else:
            done, replaced = _difference(self.item, self.draft)
            # Sums, set operations and appends commute with other writers; setting a value does not.
            known = self.item if replaced or self.item.__spec__.version is not None else None
        if not done:
            return None
        return Update(self.ref, done, self.condition, known, given=self.item)

    def finish(self, written: Any) -> None:
        """Show in the draft what was written."""
        if self.item is not None:
            self.draft.__dict__.update(written.__dict__)


# The draft of an item


def _draft_of(item: E) -> E:
    kind: Any = _draft_class(type(item))
    draft: E = kind.__new__(kind)
    values = {name: _track(name, deepcopy(value)) for name, value in item.__dict__.items()}
    object.__setattr__(draft, "__dict__", values)
    object.__setattr__(draft, "__pydantic_fields_set__", set(item.model_fields_set))
    object.__setattr__(draft, "__pydantic_extra__", None)
    object.__setattr__(draft, "__pydantic_private__", None)
    return draft


@lru_cache(maxsize=1024)
def _draft_class(entity: type[Entity]) -> type[Entity]:
    """The entity with assignable fields; builds no schema."""
    spec = entity.__spec__

    def assign(self: Entity, name: str, value: Any) -> None:
        if isinstance(value, change.Add) and isinstance(self.__dict__.get(name), _Tracked):
            value = self.__dict__[name] + value.amount
        if isinstance(value, _Tracked) and value.field == name:
            read_changes(spec, {name: change.Add(value.by)})
        else:
            value = _assign(spec, name, untrack(value), self.__dict__.get(name))
        self.__dict__[name] = value

    namespace = {"__setattr__": assign, "__slots__": (), "__module__": entity.__module__}
    return type.__new__(type(entity), f"{entity.__name__}Draft", (entity,), namespace)


def _assign(spec: EntitySpec, name: str, value: Any, before: Any) -> Any:
    """The validated value; refused here if the update would refuse it."""
    done = read_changes(spec, {name: value})
    if isinstance(done[name], change.Clear):
        return set() if spec.fields[name].kind.endswith("_set") else None
    return change.apply_changes(done, {name: before})[name]


def _difference(item: Entity, draft: Entity) -> tuple[dict[str, Change], bool]:
    """The changes that turn the item into the draft, and whether any of them replaces a value."""
    spec, done, replaced = item.__spec__, dict[str, Any](), False
    for name in spec.fields:
        old, new = getattr(item, name), draft.__dict__[name]
        if isinstance(new, _Tracked):
            if new.by:
                done[name] = change.Add(new.by)
            continue
        if old == new:
            continue
        done[name] = _operation(old, new)
        replaced |= not isinstance(done[name], change.Add | change.Remove | change.Append)
    return read_changes(spec, done), replaced


def _operation(old: Any, new: Any) -> Any:
    if isinstance(old, set | frozenset) and isinstance(new, set | frozenset):
        if not old - new:
            return change.Add(set(new - old))
        if not new - old:
            return change.Remove(frozenset(old - new))
    elif isinstance(old, list) and isinstance(new, list) and new[: len(old)] == old:
        return change.Append(tuple(new[len(old) :]))
    return new


# Numbers that remember what was added to them, so that `+=` becomes an addition


class _Tracked:
    field: str
    by: Any

    def _shift(self, by: Any) -> Any:
        plain = untrack(self)
        moved = plain + by
        return _track(self.field, moved, self.by + by) if type(moved) is type(plain) else moved

    def __add__(self, other: Any) -> Any:
        return self._shift(untrack(other))

    def __sub__(self, other: Any) -> Any:
        return self._shift(-untrack(other))


class _TrackedInt(_Tracked, int):
    pass


class _TrackedFloat(_Tracked, float):
    pass


class _TrackedDecimal(_Tracked, Decimal):
    pass


_KINDS: dict[type, type[Any]] = {int: _TrackedInt, float: _TrackedFloat, Decimal: _TrackedDecimal}


def _track(field: str, value: Any, by: Any = 0) -> Any:
    kind = _KINDS.get(type(value))
    if kind is None:
        return value
    made = kind(value)
    made.field, made.by = field, by
    return made


def untrack(value: Any) -> Any:
    for plain, tracked in _KINDS.items():
        if type(value) is tracked:
            return plain(value)
    return value


# The draft of an address


class _Recording:
    """Stands for an item that was not read."""

    def __init__(self, ref: Ref[Any]) -> None:
        self.__dict__.update(_ref=ref, _done={})

    def __getattr__(self, name: str) -> Any:
        if name not in self._ref.entity.__spec__.fields:
            raise AttributeError(f"{self._ref.entity.__name__} has no field {name!r}")
        return _RecordedField(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, _RecordedField) and value._is(self, name):
            return  # The end of `draft.tags |= ...`, which is already recorded.
        if isinstance(value, _RecordedField):
            raise _unread(self._ref, value._name)
        self._record(name, value)

    def _record(self, name: str, given: Any) -> None:
        (new,) = read_changes(self._ref.entity.__spec__, {name: given}).values()
        before = self._done.get(name)
        joined = new if before is None or isinstance(new, change.Set) else _join(before, new)
        if joined is None:
            raise PlanError(
                f"one block changes {name} of {self._ref} in two ways; read the item first and "
                "edit it"
            )
        self._done[name] = joined


def _join(first: Change, second: Change) -> Change | None:
    """Two operations on a field combined into one; None if DynamoDB has no such operation."""
    if isinstance(first, change.Append) and isinstance(second, change.Append):
        return change.Append((*first.elements, *second.elements))
    if isinstance(first, change.Remove) and isinstance(second, change.Remove):
        return change.Remove(first.elements | second.elements)
    if isinstance(first, change.Add) and isinstance(second, change.Add):
        if isinstance(first.amount, set | frozenset):
            return change.Add(first.amount | second.amount)
        return change.Add(change.total(first.amount, second.amount))
    return None


class _RecordedField:
    """Stands for a field of an item that was not read; refuses what needs its value."""

    _draft: _Recording
    _name: str

    def __init__(self, draft: _Recording, name: str) -> None:
        self.__dict__.update(_draft=draft, _name=name)

    def _is(self, draft: _Recording, name: str) -> bool:
        return self._draft is draft and self._name == name

    def add(self, element: Any) -> None:
        self._draft._record(self._name, change.Add({element}))

    def discard(self, element: Any) -> None:
        self._draft._record(self._name, change.Remove(frozenset({element})))

    remove = discard

    def append(self, element: Any) -> None:
        self._draft._record(self._name, change.Append((element,)))

    def extend(self, elements: Any) -> None:
        self._draft._record(self._name, change.Append(tuple(elements)))

    def update(self, elements: Any) -> None:
        self._draft._record(self._name, change.Add(set(elements)))

    def __ior__(self, elements: Any) -> Any:
        self.update(elements)
        return self

    def __iadd__(self, amount: Any) -> Any:
        is_list = isinstance(amount, list | tuple)
        self._draft._record(
            self._name, change.Append(tuple(amount)) if is_list else change.Add(amount)
        )
        return self

    def __isub__(self, amount: Any) -> Any:
        is_set = isinstance(amount, set | frozenset)
        self._draft._record(
            self._name, change.Remove(frozenset(amount)) if is_set else change.Add(-amount)
        )
        return self

    def _refuse(self, *_: Any) -> Any:
        raise _unread(self._draft._ref, self._name)

    def __add__(self, other: Any) -> Any:
        return self._refuse(other)

    def __sub__(self, other: Any) -> Any:
        return self._refuse(other)

    def __or__(self, other: Any) -> Any:
        return self._refuse(other)

    def __getattr__(self, name: str) -> Any:
        raise _unread(self._draft._ref, self._name)

    __bool__ = __len__ = __iter__ = __contains__ = __str__ = __int__ = __float__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __setitem__ = __delitem__ = _refuse
    __eq__ = __ne__ = __and__ = __setattr__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _unread(ref: Ref[Any], name: str) -> PlanError:
    return PlanError(
        f"{name} of {ref} was not read; pass the item to db.edit instead of its address"
    )
