"""Conditions recorded from typed lambdas: `lambda h: (h.going > 3) & h.open`.

The lambda is called once with a recorder: editors and type checkers see the entity, all other code
sees data. Use `&`, `|` and `not_`; `and`, `or` and `not` cannot be recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, cast

from pydantic import BaseModel

from keyfold.design import codes
from keyfold.design.codec import document, is_absent
from keyfold.design.condition import Condition, combined, operand, operand_of, presence
from keyfold.design.declaration import refuse
from keyfold.design.field_codec import Codec
from keyfold.design.parameter import Param
from keyfold.design.path_change import FieldPath
from keyfold.design.path_types import element_type, is_of, is_open, models_of, value_types
from keyfold.errors import KeyfoldError
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Function,
    In,
    Not,
    Operand,
    Or,
    Value,
)

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.entity_spec import EntitySpec

E = TypeVar("E", bound="Entity")
_FUNCTIONS = (
    "Compare it, or use exists, missing, begins_with, contains, one_of, between or not_ of keyfold."
)


def declare(condition: Callable[[E], object], entity: type[E]) -> Condition:
    """The condition of a declaration, which must be the same each time it is recorded."""
    found = record(condition, entity)
    if record(condition, entity) != found:
        refuse(
            codes.PATTERN_BRANCHES,
            "a condition changes each time it is evaluated, but it is recorded once, at import.",
            "Compare with a constant or a field; pass the current time to a query's "
            "filter as a parameter.",
        )
    return found


def record(condition: Callable[[E], object], entity: type[E]) -> Condition:
    """The condition that a lambda over an entity records."""
    if not callable(condition):
        _refuse_condition(condition)
    try:
        return condition_of(condition(cast("E", _Item(entity))))
    except TypeError:
        if _takes_one(condition):
            raise
        _refuse_condition(condition)


class Recorded:
    """A condition while it is recorded, with the operators that join it to others."""

    __slots__ = ("_condition",)

    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def __and__(self, other: object) -> Recorded:
        return Recorded(combined(And, self._condition, condition_of(other)))

    def __or__(self, other: object) -> Recorded:
        return Recorded(combined(Or, self._condition, condition_of(other)))

    def __invert__(self) -> Recorded:
        return Recorded(Not(self._condition))

    def __bool__(self) -> bool:
        refuse(
            codes.PATTERN_BRANCHES,
            "a condition was used as a bool.",
            "Combine conditions with &, | and not_(...), not with and, or, not.",
        )


def condition_of(value: object) -> Condition:
    """What a condition's function returned."""
    if not isinstance(value, Recorded):
        refuse(
            codes.PATTERN_BRANCHES,
            f"a condition returned {value!r} instead of a comparison of fields.",
            "Return comparisons of the entity's fields, joined with & and |; exists(...) "
            "and missing(...) say whether a field has a value.",
        )
    return value._condition


def _takes_one(condition: Callable[..., object]) -> bool:
    """Whether it is a function of one argument."""
    try:
        signature(condition).bind(None)
    except TypeError:
        return False
    return True


def _refuse_condition(given: object) -> NoReturn:
    refuse(
        codes.PATTERN_BRANCHES,
        f"{given!r} is not a condition.",
        "Give a function of the item, as where=lambda item: item.stock > 0.",
    )


def record_path(
    path: Callable[[Any], object], entity: type[Entity]
) -> tuple[FieldPath, Any, tuple[type[BaseModel], ...]]:
    """The path that a lambda leads to, its type, and the models along it."""
    found = path(_Item(entity)) if callable(path) else path
    if not isinstance(found, _Field) or found._sized:
        refuse(
            codes.PATTERN_BRANCHES,
            f"{found!r} is not a path inside {entity.__name__}.",
            "Give a function that returns one, as lambda order: order.address.city.",
        )
    models: list[type[BaseModel]] = []
    annotation: Any = entity.model_fields[found._path.field].annotation
    walked = _Field(entity.__spec__, FieldPath((found._path.field,)), annotation)
    for name in found._path.names[1:]:
        models += models_of(walked._type)
        is_field = isinstance(name, str) and models_of(walked._type)
        walked = getattr(walked, str(name)) if is_field else walked[name]
    return found._path, found._type, tuple(models)


class _Item:
    """Stands for an entity while its lambda is recorded."""

    __slots__ = ("_entity",)

    def __init__(self, entity: type[Entity]) -> None:
        self._entity = entity

    def __getattr__(self, name: str) -> _Field:
        spec = self._entity.__spec__
        if name not in spec.fields:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"a condition names the field {name!r}, which is not declared.",
                f"Declared: {', '.join(sorted(spec.fields))}.",
            )
        return _Field(spec, FieldPath((name,)), self._entity.model_fields[name].annotation)


class _Field(Recorded):
    """Stands for a field, a path inside it, or its size; itself a condition on a boolean field."""

    __slots__ = ("_path", "_sized", "_spec", "_type")

    def __init__(
        self, spec: EntitySpec, path: FieldPath, annotation: Any, *, sized: bool = False
    ) -> None:
        self._spec, self._path, self._type, self._sized = spec, path, annotation, sized
        super().__init__(Compare("=", self._subject, Value({"BOOL": True})))

    @property
    def _subject(self) -> Operand:
        return Function("size", (self._path.operand,)) if self._sized else self._path.operand

    @property
    def _codec(self) -> Codec[Any, Any] | None:
        return self._spec.fields[self._path.field].codec

    def __getattr__(self, name: str) -> _Field:
        self._refuse_looking_inside()
        models = models_of(self._type)
        for model in models:
            info = model.model_fields.get(name)
            if info is not None:
                annotation: Any = info.annotation
                if info.metadata:
                    annotation = Annotated[(annotation, *info.metadata)]
                return self._inside(name, info.serialization_alias or name, annotation)
        if models:
            known = ", ".join(sorted({n for model in models for n in model.model_fields}))
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"a condition names {self._path}.{name}, which is not declared.",
                f"Declared: {known}.",
            )
        if not is_open(self._type):
            self._refuse(f"looks at {name!r} of {self._path}", _FUNCTIONS)
        return self._inside(name, name, Any)

    def _refuse_looking_inside(self) -> None:
        if self._codec is not None:
            self._refuse(
                f"looks into {self._path}, which is stored by the codec {self._codec.name}",
                "Compare the whole field, if its codec is comparable.",
            )

    def __getitem__(self, key: str | int) -> _Field:
        self._refuse_looking_inside()
        if not isinstance(key, str | int) or not is_open(self._type):
            self._refuse(f"looks into {self._path} with [{key!r}]", _FUNCTIONS)
        return self._inside(key, key, element_type(self._type))

    def _inside(self, name: str | int, stored: str | int, annotation: Any) -> _Field:
        path = FieldPath((*self._path.names, name), (*self._path.stored, stored))
        return _Field(self._spec, path, annotation)

    def __eq__(self, other: object) -> Recorded:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: object) -> Recorded:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: object) -> Recorded:
        return self._compared("<", other)

    def __le__(self, other: object) -> Recorded:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Recorded:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Recorded:
        return self._compared(">=", other)

    def _compared(self, operator: str, other: object) -> Recorded:
        if not is_absent(other):
            return Recorded(Compare(operator, self._subject, self._operand(other)))
        if operator not in ("=", "<>"):
            self._refuse(f"asks for {self._path} {operator} None", "Write missing(field).")
        return Recorded(presence(self._subject, there=operator == "<>"))

    def __hash__(self) -> int:
        self._refuse(f"looks {self._path} up", "Write one_of(field, *values).")

    def __format__(self, _: str) -> str:
        self._refuse(
            f"puts {self._path} into a text", "Compare the field itself with a value or a field."
        )

    __str__ = __format__  # type: ignore[assignment]

    def _operand(self, value: object, *, element: bool = False, held: bool = False) -> Operand:
        """What the field is compared with: a field, a parameter, or a value of the field's type.

        `element`: it may be stored as an element of the field; `held`: it is of their type.
        """
        if self._codec is not None and not self._codec.comparable:
            self._refuse(
                f"compares {self._path}, which the codec {self._codec.name} may store in several "
                "forms",
                "Say comparable=True if equal values are always stored equal.",
            )
        if isinstance(value, _Field):
            self._refuse_other_codec(value)
            return value._subject
        if not isinstance(value, Param):
            self._check(value, element=held)
        return operand_of(self._subject, value, self._spec, element=element)

    def _refuse_other_codec(self, other: _Field) -> None:
        if self._codec != other._codec:
            self._refuse(
                f"compares {self._path} with {other._path}, which are stored differently",
                "Give both fields the same codec.",
            )

    def _check(self, value: object, *, element: bool) -> None:
        try:
            if self._codec is None:
                document(value)
            fits = any(is_of(kind, value) for kind in value_types(self._type, element=element))
        except (TypeError, ValueError, KeyfoldError):
            fits = False
        if not fits:
            shown = f"size({self._path})" if self._sized else self._path
            refuse(
                codes.PATTERN_BRANCHES,
                f"a condition compares {shown} with {value!r}, which is not of its type.",
                "Compare it with a value of the field's type.",
            )

    def __call__(self, *_: object, **__: object) -> Any:
        self._refuse(f"calls {self._path}", _FUNCTIONS)

    def __contains__(self, element: object) -> bool:
        self._refuse(f"asks what is in {self._path}", "Write contains(field, element).")

    def __iter__(self) -> Any:
        self._refuse(f"goes through {self._path}", "Write contains(field, element).")

    def __len__(self) -> int:
        self._refuse(f"counts the elements of {self._path}", "Write size(field) of keyfold.")

    def _refuse_computing(self, *_: object) -> Any:
        self._refuse(
            f"computes with {self._path}", "Compare the field itself with a value or a field."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __neg__ = (
        _refuse_computing
    )
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __abs__ = _refuse_computing

    def _refuse(self, what: str, suggestion: str) -> NoReturn:
        message = f"a condition {what}, which cannot be recorded."
        refuse(codes.PATTERN_BRANCHES, message, suggestion)


def _field(field: object) -> _Field:
    if not isinstance(field, _Field):
        refuse(
            codes.PATTERN_BRANCHES,
            f"{field!r} is not a field of the entity.",
            "Name one of the item that the condition is given, as exists(item.email).",
        )
    return field


def _operands(field: object, *given: object, held: bool = False) -> tuple[Operand, ...]:
    found = _field(field)
    if held:
        found._refuse_looking_inside()
    return (found._subject, *(found._operand(one, element=True, held=held) for one in given))


def exists(field: object) -> bool:
    """The field has a value."""
    return cast("bool", Recorded(presence(_field(field)._subject, there=True)))


def missing(field: object) -> bool:
    """The field has no value."""
    return cast("bool", Recorded(presence(_field(field)._subject, there=False)))


def begins_with(field: str, prefix: str) -> bool:
    """The text begins with the prefix."""
    _field(field)._refuse_looking_inside()
    return cast("bool", Recorded(Function("begins_with", _operands(field, prefix))))


def contains(field: object, element: object) -> bool:
    """The set, list or text contains the element."""
    return cast("bool", Recorded(Function("contains", _operands(field, element, held=True))))


def one_of(field: object, *values: object) -> bool:
    """The field has one of the values."""
    if not values or any(isinstance(value, list | tuple | set | frozenset) for value in values):
        refuse(
            codes.PATTERN_BRANCHES,
            f"one_of was given {', '.join(map(repr, values)) or 'no values'}.",
            "Give the values one by one, as one_of(item.state, *states).",
        )
    subject, *options = _operands(field, *values)
    return cast("bool", Recorded(In(subject, tuple(sorted(options, key=operand)))))


def between(field: object, low: object, high: object) -> bool:
    """Both ends included."""
    return cast("bool", Recorded(Between(*_operands(field, low, high))))


def size(field: object) -> int:
    """The number of elements of a set, list or map, or the length of a text."""
    found = _field(field)
    found._refuse_looking_inside()
    return cast("int", _Field(found._spec, found._path, int, sized=True))


def not_(condition: object) -> bool:
    """The condition does not hold."""
    return cast("bool", Recorded(Not(condition_of(condition))))
