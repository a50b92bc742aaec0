"""What an update does to a field: set a value or apply one of these operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeAlias, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as Invalid
from typing_extensions import TypeVar

from keyfold.design.codec import UNSTORABLE, document, read_document
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.field_kind import unwrap
from keyfold.design.fields import FieldSpec
from keyfold.design.formats import as_stored
from keyfold.design.markers import AtMost, Normalised
from keyfold.design.path_change import FieldPath
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import PlanError, ValueRefused
from keyfold_engine.values.number import exact_sum

T = TypeVar("T", covariant=True, default=Any)
D = TypeVar("D")


@dataclass(frozen=True)
class Set:
    """A new value."""

    value: Any


@dataclass(frozen=True)
class Clear:
    """Remove the value."""


@dataclass(frozen=True)
class Add(Generic[T]):
    """Add to a number, or add elements to a set."""

    amount: T


@dataclass(frozen=True)
class Remove(Generic[T]):
    """Remove elements from a set."""

    elements: frozenset[T]


@dataclass(frozen=True)
class Append(Generic[T]):
    """Append elements to a list."""

    elements: tuple[T, ...]


@dataclass(frozen=True)
class SetIfAbsent(Generic[T]):
    """Set a value unless there is one already."""

    value: T


@dataclass(frozen=True)
class FromField:
    """The value of another path of the item at the time of the write, plus an amount."""

    path: FieldPath
    plus: Any = None


@dataclass(frozen=True)
class PlacedChange:
    """A change to one path inside a field."""

    path: FieldPath
    verb: str
    value: Any = None
    checked: bool = False
    """A model along the path has validators, which see more than this path."""

    @property
    def parent(self) -> FieldPath:
        """The enclosing path, which must exist."""
        return FieldPath(self.path.names[:-1], self.path.stored[:-1])


@dataclass(frozen=True)
class Inside:
    """Changes to paths inside a field."""

    changes: tuple[PlacedChange, ...]


OPERATIONS = Clear, Add, Remove, Append, SetIfAbsent, FromField, Inside
Change = Set | Clear | Add | Remove | Append | SetIfAbsent | FromField | Inside
clear = Clear()
"""Removes the value of an optional field."""
Given: TypeAlias = D | SetIfAbsent[D]
GivenNumber: TypeAlias = D | Add[D] | SetIfAbsent[D]
GivenSet: TypeAlias = set[D] | Add[set[D]] | Remove[D] | SetIfAbsent[set[D]] | Clear
GivenList: TypeAlias = list[D] | Append[D] | SetIfAbsent[list[D]]
_NUMBERS = ("integer", "float", "decimal")


def sources(changes: Mapping[str, Change]) -> set[str]:
    """The fields whose values these changes copy elsewhere."""
    found: set[str] = set()
    for one in changes.values():
        several = one.changes if isinstance(one, Inside) else ()
        taken = [one, *(each.value for each in several)]
        found |= {each.path.field for each in taken if isinstance(each, FromField)}
    return found


def add(amount: D) -> Add[D]:
    """Add to a number or to a set; safe under concurrency."""
    return Add(amount)


def remove(elements: Iterable[D]) -> Remove[D]:
    """Remove elements from a set; safe under concurrency."""
    return Remove(frozenset(elements))


def append(elements: Iterable[D]) -> Append[D]:
    """Append elements to a list."""
    return Append(tuple(elements))


def set_if_absent(value: D) -> SetIfAbsent[D]:
    """Set the field unless it has a value."""
    return SetIfAbsent(value)


def read_changes(spec: EntitySpec, given: Mapping[str, Any]) -> dict[str, Change]:
    """The changes of an update call, checked against the declaration."""
    changes: dict[str, Change] = {}
    for name, value in given.items():
        field = spec.fields.get(name)
        if field is None:
            raise PlanError(
                f"{spec.name} has no field {name!r}; declared are {', '.join(spec.fields)}"
            )
        if name in spec.key.address:
            raise PlanError(
                f"{spec.name}.{name} is part of the primary key; use db.move to change it"
            )
        if field is spec.version or field.is_kept:
            raise PlanError(f"{spec.name}.{name} is a counter; omit it")
        changes[name] = _read(spec, field, value)
    return changes


def _read(spec: EntitySpec, field: FieldSpec, value: Any) -> Change:
    if value is None or isinstance(value, Clear):
        if not field.optional and not field.kind.endswith("_set"):
            raise PlanError(f"{spec.name}.{field.name} cannot be removed; it is not optional")
        if not field.optional:
            validate(spec.entity, field.name, set())
        return clear
    if isinstance(value, Inside | FromField):
        return value
    if isinstance(value, Add | Remove | Append):
        return _operation(spec, field, value)
    absent = isinstance(value, SetIfAbsent)
    checked = validate(spec.entity, field.name, value.value if absent else value)
    check_length(spec, field, checked)
    if field.kind.endswith("_set") and not checked and not absent:
        return clear
    try:
        stored = in_one_form(field, checked)
    except UNSTORABLE as refused:
        raise spec.refusal(field.name, refused) from None
    return SetIfAbsent(stored) if absent else Set(stored)


def in_one_form(field: FieldSpec, value: Any) -> Any:
    """The value in the form this field stores."""
    normalised = field.mark(Normalised)
    if normalised is not None:
        return normalised.function(value)
    return as_stored(value, field.stored) if field.kind == "timestamp" else value


def _operation(spec: EntitySpec, field: FieldSpec, given: Add | Remove | Append) -> Change:
    """The operation, checked against the field's type: elements or an amount that it can hold."""
    is_set, is_list = field.kind.endswith("_set"), field.kind == "list"
    takes = {Add: is_set or field.kind in _NUMBERS, Remove: is_set, Append: is_list}
    if not takes[type(given)]:
        raise PlanError(
            f"{spec.name}.{field.name} is of kind {field.kind}, which cannot "
            f"{type(given).__name__.lower()}; give it a value"
        )
    # Constraints on the whole field do not apply to the part that is added or removed.
    if isinstance(given, Append):
        return Append(tuple(validate(spec.entity, field.name, list(given.elements), part=True)))
    if isinstance(given, Remove):
        elements = validate(spec.entity, field.name, set(given.elements), part=True)
        return Remove(frozenset(elements))
    return Add(validate(spec.entity, field.name, given.amount, part=True))


def check_length(spec: EntitySpec, field: FieldSpec, value: Any) -> None:
    """Refuse a set, list or map with more entries than its declaration allows."""
    most = field.mark(AtMost)
    if most is not None and value is not None and len(value) > most.items:
        raise ValueRefused(
            f"{spec.name}.{field.name} would hold {len(value)} elements; it is declared "
            f"AtMost({most.items})",
            {field.name: f"has more than {most.items} entries"},
        )


def validate(entity: type[Entity], field: str, value: Any, *, part: bool = False) -> Any:
    """The value as Pydantic accepts it for this field; a `part` is checked against its type
    only.
    """
    try:
        return validator(entity, field, part)(value)
    except Invalid as problem:
        text = in_one_line(complaints(problem))
        raise ValueRefused(
            f"{entity.__name__}.{field}={value!r} is refused: {text}", {field: text}
        ) from None
    except UNSTORABLE as refused:
        raise entity.__spec__.refusal(field, refused) from None


@lru_cache(maxsize=4096)
def validator(entity: type[Entity], field: str, part: bool) -> Callable[[Any], Any]:
    info = entity.model_fields[field]
    annotation: Any = info.annotation
    if part:
        return check_of(unwrap(annotation)[0])
    marks = tuple(info.metadata)
    return check_of(Annotated[(annotation, *marks)] if marks else annotation)


def check_of(annotation: Any) -> Callable[[Any], Any]:
    """A validator that returns a value of this type as it will be read back, or raises Pydantic's
    error.

    Pydantic accepts a model instance unchecked, even one that was modified since. So models are
    validated from their stored form.
    """
    validate: Callable[[Any], Any] = TypeAdapter(annotation).validate_python
    if not _holds_models(annotation):
        return validate
    return lambda value: validate(read_document(document(validate(value))))


def _holds_models(annotation: Any) -> bool:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return is_model or annotation in (Any, object) or any(map(_holds_models, get_args(annotation)))


def apply_changes(changes: Mapping[str, Change], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values after the changes."""
    after = dict(values)
    for name, change in changes.items():
        after[name] = _apply(change, values.get(name), values)
    return after


def _apply(change: Change, old: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(change, Inside | FromField):
        from keyfold.runtime.inside import apply_inside, copied_value

        if isinstance(change, Inside):
            return apply_inside(change, values)
        return copied_value(change, values)
    if isinstance(change, Set):
        return change.value
    if isinstance(change, Clear):
        return set() if isinstance(old, set | frozenset) else None
    if isinstance(change, Add):
        if isinstance(change.amount, set | frozenset):
            return set(old or ()) | change.amount
        return total(old or 0, change.amount)
    if isinstance(change, Remove):
        return set(old or ()) - change.elements
    if isinstance(change, Append):
        return [*(old or ()), *change.elements]
    return change.value if old is None else old


def total(one: Any, other: Any) -> Any:
    """The sum in DynamoDB's arithmetic: decimals of up to 38 digits."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    exact = exact_sum((one, other))
    return float(exact) if isinstance(one, float) or isinstance(other, float) else exact


def negative(number: Any) -> Any:
    """The number with the other sign and all its digits: `-number` rounds decimals to 28."""
    return number.copy_negate() if isinstance(number, Decimal) else -number
