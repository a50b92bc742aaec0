"""Conditions as functions of an item, compiled once because filters run for every item read."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Any

from keyfold_engine.expressions.ast import (
    And,
    Arithmetic,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Placeholder,
    Value,
)
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.key_order import sort_key

ReadableItem = Mapping[str, AttributeValue]
Values = Mapping[str, AttributeValue]
Test = Callable[[ReadableItem], bool]
ConditionPlan = Callable[[Values], Test]
Getter = Callable[[ReadableItem], "AttributeValue | None"]
_OperandPlan = Callable[[Values], Getter]
_TestPlan = Callable[[Values, "Elements"], Test]

NO_VALUES: Values = MappingProxyType({})

_ORDERED = frozenset(("S", "N", "B"))
_SETS = frozenset(("SS", "NS", "BS"))
_SCALARS = frozenset(("S", "N", "B", "BOOL", "NULL"))
_FEW = 100
_INEQUALITIES: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def matches(condition: Condition, item: ReadableItem, values: Values = NO_VALUES) -> bool:
    """Whether a bound condition holds for an item; a missing item counts as empty."""
    return compile_condition(condition, values)(item)


def compile_condition(condition: Condition, values: Values = NO_VALUES) -> Test:
    """A bound condition as a function, for use with many items."""
    return plan_condition(condition)(values)


def plan_condition(condition: Condition) -> ConditionPlan:
    """A bound condition as a plan: kept, it gives a test for each request's values."""
    plan = _plan(condition)
    return lambda values: plan(values, Elements())


def _plan(condition: Condition) -> _TestPlan:
    match condition:
        case And(terms):
            return _join(_all, terms)
        case Or(terms):
            return _join(_any, terms)
        case Not(term):
            negated = _plan(term)
            return lambda values, elements: _negate(negated(values, elements))
        case Compare():
            return _comparison(condition)
        case Between():
            return _between(condition)
        case In(operand, options):
            return _in(_getter(operand), options)
        case Function():
            return _call(condition)


def _join(join: Callable[[list[Test]], Test], terms: Sequence[Condition]) -> _TestPlan:
    plans = [_plan(term) for term in terms]
    return lambda values, elements: join([plan(values, elements) for plan in plans])


def _negate(test: Test) -> Test:
    return lambda item: not test(item)


def constant(operand: Operand | Arithmetic, values: Values) -> AttributeValue | None:
    """The value of an operand that does not depend on the item."""
    match operand:
        case Value(content):
            return content
        case Placeholder(text):
            return values[text]
        case _:
            return None


def _getter(operand: Operand) -> _OperandPlan:
    """An operand as a function: its value in an item, or None."""
    match operand:
        case Value(content):
            return lambda _: _always(content)
        case Placeholder(text):
            return lambda values: _always(values[text])
        case Path():
            found = _path(operand)
            return lambda _: found
        case Function("size", (argument,)):
            measured = _getter(argument)
            return lambda values: _size(measured(values))
        case _:
            raise TypeError(f"not an operand of a condition: {operand!r}")


def _always(value: AttributeValue) -> Getter:
    return lambda _: value


def resolve(path: Path, item: ReadableItem) -> AttributeValue | None:
    """The value at a bound path, or None."""
    value = item.get(path.root)
    for step in path.parts[1:]:
        if value is None:
            return None
        if isinstance(step, int):
            elements = value.get("L")
            value = elements[step] if elements and step < len(elements) else None
        else:
            entries = value.get("M")
            value = entries.get(step) if entries else None
    return value


def same(a: AttributeValue, b: AttributeValue) -> bool:
    """Equality of normalised values: sets ignore order."""
    if a == b:
        return True
    kind = next(iter(a))
    if kind not in b:
        return False
    left, right = a[kind], b[kind]
    if kind in _SETS:
        return set(left) == set(right)
    if kind == "L":
        return len(left) == len(right) and all(map(same, left, right))
    if kind == "M":
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return False


def _all(tests: list[Test]) -> Test:
    if len(tests) == 2:
        first, second = tests
        return lambda item: first(item) and second(item)
    return lambda item: all(test(item) for test in tests)


def _any(tests: list[Test]) -> Test:
    return lambda item: any(test(item) for test in tests)


def _path(path: Path) -> Getter:
    if len(path.parts) == 1:
        root = path.root
        return lambda item: item.get(root)
    return lambda item: resolve(path, item)


def _size(argument: Getter) -> Getter:
    def size(item: ReadableItem) -> AttributeValue | None:
        value = argument(item)
        if value is None:
            return None
        for kind, content in value.items():
            if kind == "S":
                return {"N": str(_text_length(content))}
            if kind == "B":
                return {"N": str(len(b64decode(content)))}
            if kind in _SETS or kind in ("L", "M"):
                return {"N": str(len(content))}
        return None

    return size


def _text_length(text: str) -> int:
    # DynamoDB counts UTF-16 units, as Java does.
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _comparison(node: Compare) -> _TestPlan:
    operator = node.operator
    if operator in _INEQUALITIES:
        return _inequality(node.left, node.right, _INEQUALITIES[operator])
    left, right = _getter(node.left), _getter(node.right)
    if operator == "=":
        return lambda values, _: _equal(left(values), right(values))
    # A missing attribute differs from every value.
    return lambda values, _: _negate(_equal(left(values), right(values)))


def _equal(left: Getter, right: Getter) -> Test:
    def test(item: ReadableItem) -> bool:
        a = left(item)
        b = right(item)
        return a is not None and b is not None and same(a, b)

    return test


def _inequality(left: Operand, right: Operand, holds: Callable[[Any, Any], bool]) -> _TestPlan:
    first, second = _getter(left), _getter(right)

    def plan(values: Values, _: Elements) -> Test:
        bound = constant(right, values)
        if bound is not None:
            return _compare_constant(first(values), bound, holds)
        return _compare(first(values), second(values), holds)

    return plan


def _compare(first: Getter, second: Getter, holds: Callable[[Any, Any], bool]) -> Test:
    def test(item: ReadableItem) -> bool:
        a = first(item)
        b = second(item)
        return (
            a is not None
            and b is not None
            and _comparable(a, b)
            and holds(sort_key(a), sort_key(b))
        )

    return test


def _compare_constant(
    operand: Getter, bound: AttributeValue, holds: Callable[[Any, Any], bool]
) -> Test:
    """A comparison with a constant, which is prepared once."""
    kind = next(iter(bound))
    limit = sort_key(bound)

    def test(item: ReadableItem) -> bool:
        value = operand(item)
        return value is not None and kind in value and holds(sort_key(value), limit)

    return test


def _comparable(a: AttributeValue, b: AttributeValue) -> bool:
    kind = next(iter(a))
    return kind in _ORDERED and kind in b


def _between(node: Between) -> _TestPlan:
    low = _inequality(node.operand, node.low, ge)
    high = _inequality(node.operand, node.high, le)
    return lambda values, elements: _all([low(values, elements), high(values, elements)])


def _in(operand: _OperandPlan, options: Sequence[Operand]) -> _TestPlan:
    return lambda values, _: _listed(operand(values), options, values)


def _listed(operand: Getter, options: Sequence[Operand], values: Values) -> Test:
    """Values that are alike only if they are equal are looked up, whatever their number."""
    known = [constant(option, values) for option in options]
    members = {scalar for value in known if value is not None and (scalar := _scalar(value))}
    others = [
        _getter(option)(values)
        for option, value in zip(options, known, strict=True)
        if value is None or _scalar(value) is None
    ]

    def test(item: ReadableItem) -> bool:
        value = operand(item)
        if value is None:
            return False
        if _scalar(value) in members:
            return True
        candidates = (option(item) for option in others)
        return any(option is not None and same(value, option) for option in candidates)

    return test


def _scalar(value: AttributeValue) -> tuple[str, Any] | None:
    """A hashable key for a scalar; None for sets, lists and maps."""
    for kind, content in value.items():
        if kind in _SCALARS:
            return kind, content
    return None


class Elements:
    """The scalars of the last searched list: many terms tend to search the same one."""

    __slots__ = ("_found", "_list")

    def __init__(self) -> None:
        self._list: list[AttributeValue] | None = None
        self._found: set[tuple[str, Any] | None] = set()

    def has(self, elements: list[AttributeValue], wanted: AttributeValue) -> bool:
        scalar = _scalar(wanted)
        if scalar is None:
            return any(same(element, wanted) for element in elements)
        if elements is not self._list:
            if len(elements) < _FEW:
                return wanted in elements
            self._list, self._found = elements, set(map(_scalar, elements))
        return scalar in self._found


def _call(call: Function) -> _TestPlan:
    arguments = [_getter(argument) for argument in call.arguments]
    first = arguments[0]
    match call.function:
        case "attribute_exists":
            return lambda values, _: _exists(first(values))
        case "attribute_not_exists":
            return lambda values, _: _negate(_exists(first(values)))
        case "attribute_type":
            return _two(arguments, lambda _: lambda value, kind: kind["S"] in value)
        case "begins_with":
            return _two(arguments, lambda _: _begins_with)
        case "contains":
            return _two(arguments, lambda elements: partial(_contains, elements))
        case unknown:
            raise TypeError(f"not a condition: {unknown}")


def _exists(operand: Getter) -> Test:
    return lambda item: operand(item) is not None


_Relation = Callable[[AttributeValue, AttributeValue], bool]


def _two(arguments: list[_OperandPlan], relation: Callable[[Elements], _Relation]) -> _TestPlan:
    first, second = arguments
    return lambda values, elements: _related(first(values), second(values), relation(elements))


def _related(first: Getter, second: Getter, holds: _Relation) -> Test:
    def test(item: ReadableItem) -> bool:
        a = first(item)
        b = second(item)
        return a is not None and b is not None and holds(a, b)

    return test


def _begins_with(value: AttributeValue, prefix: AttributeValue) -> bool:
    if "S" in value and "S" in prefix:
        return bool(value["S"].startswith(prefix["S"]))
    if "B" in value and "B" in prefix:
        return b64decode(value["B"]).startswith(b64decode(prefix["B"]))
    return False


def _contains(elements: Elements, value: AttributeValue, wanted: AttributeValue) -> bool:
    for kind, content in value.items():
        if kind == "L":
            return elements.has(content, wanted)
        if kind == "B":
            return "B" in wanted and b64decode(wanted["B"]) in b64decode(content)
        if kind == "S" or kind in _SETS:
            return kind[0] in wanted and wanted[kind[0]] in content
    return False
