"""Conditions as data: the expression over an entity's fields behind a recorded condition.

Values are in the form their fields store, so an enum, a time or a decimal has one spelling and can
be read without Python. `condition_text` gives the text for documents, design files and snapshots,
and `literal_condition` parses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from keyfold.design.codec import document, encoder
from keyfold.design.parameter import Param
from keyfold.design.predicate import (
    Both,
    Either,
    FieldComparison,
    FieldPath,
    Negated,
    Predicate,
    Test,
    is_absent,
)
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
    ValueRef,
    operands_of,
)
from keyfold_engine.expressions.evaluate import compile_condition
from keyfold_engine.expressions.parser import literal_condition
from keyfold_engine.expressions.text import condition_text, operand
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.wire import check_value

if TYPE_CHECKING:
    from keyfold.design.entity_spec import EntitySpec

_ELEMENTS = {"string_set": "S", "number_set": "N", "binary_set": "B"}
_FUNCTIONS = {"exists": "attribute_exists", "missing": "attribute_not_exists"}


def tree(predicate: Predicate, spec: EntitySpec) -> Condition:
    """The expression tree of a recorded condition; a pattern's parameter stays a parameter."""
    if isinstance(predicate, Both):
        return And(tuple(_flat(And, predicate, spec)))
    if isinstance(predicate, Either):
        return Or(tuple(_flat(Or, predicate, spec)))
    if isinstance(predicate, Negated):
        return Not(tree(predicate.inner, spec))
    if isinstance(predicate, FieldComparison):
        path = _path(predicate.path)
        if is_absent(predicate.value):
            return _presence(path, there=predicate.operator == "<>")
        value = _operand(predicate.path, predicate.value, spec, element=False)
        return Compare(predicate.operator, path, value)
    assert isinstance(predicate, Test), f"{predicate!r} is not a predicate"
    path = _path(predicate.path)
    if predicate.function in _FUNCTIONS:
        return Function(_FUNCTIONS[predicate.function], (path,))
    given = [_operand(predicate.path, a, spec, element=True) for a in predicate.arguments]
    if predicate.function == "one_of":
        return In(path, tuple(sorted(given, key=operand)))
    if predicate.function == "between":
        return Between(path, given[0], given[1])
    return Function(predicate.function, (path, given[0]))


def _flat(kind: type[And | Or], predicate: Both | Either, spec: EntitySpec) -> Iterator[Condition]:
    for side in (predicate.left, predicate.right):
        found = tree(side, spec)
        yield from found.terms if isinstance(found, And | Or) and type(found) is kind else (found,)


def _path(path: FieldPath) -> Path | Function:
    found = Path((path.field, *path.stored))
    return Function("size", (found,)) if path.sized else found


def _presence(path: Path | Function, *, there: bool) -> Condition:
    return Function(_FUNCTIONS["exists" if there else "missing"], (path,))


def _operand(path: FieldPath, value: Any, spec: EntitySpec, *, element: bool) -> Operand:
    if isinstance(value, FieldPath):
        return _path(value)
    if isinstance(value, Param):
        return ValueRef(f":{value.name}")
    return Value(check_value(wire_operand(path, value, spec, element=element)))


def wire_operand(path: FieldPath, value: Any, spec: EntitySpec, *, element: bool) -> AttributeValue:
    """The other side of a comparison, in the form the path's values are stored in."""
    field = spec.fields[path.field]
    if path.stored or path.sized or (element and field.kind in ("list", "any", "map")):
        return document(value)
    if element and field.kind in _ELEMENTS:
        (members,) = encoder(field)([value]).values()
        return {_ELEMENTS[field.kind]: members[0]}
    return encoder(field)(value)


def evaluator(condition: Condition, spec: EntitySpec) -> Callable[[Mapping[str, Any]], bool]:
    """The condition as a function of an item's field values, with DynamoDB's semantics."""
    holds = compile_condition(condition)
    needed = [(name, encoder(spec.fields[name])) for name in sorted(fields_of(condition))]

    def evaluate(values: Mapping[str, Any]) -> bool:
        return holds(
            {
                name: check_value(encode(value))
                for name, encode in needed
                if not is_absent(value := values.get(name))
            }
        )

    return evaluate


def there(*fields: str) -> Condition | None:
    """The condition that these fields have values."""
    tests = tuple(_presence(Path((field,)), there=True) for field in fields)
    return None if not tests else tests[0] if len(tests) == 1 else And(tests)


def is_presence(condition: Condition) -> bool:
    """Whether it only requires fields to have values."""
    if isinstance(condition, And):
        return all(map(is_presence, condition.terms))
    return isinstance(condition, Function) and condition.function == "attribute_exists"


def parse_condition(text: str) -> Condition:
    """A condition from a design file; a bare field name requires that it has a value."""
    named = text.strip()
    if named.isidentifier() and named not in ("true", "false"):
        return _presence(Path((named,)), there=True)
    return literal_condition(text)


def stored_condition(condition: Condition, spec: EntitySpec) -> Condition:
    """The condition over a stored item, with fields under their attribute names."""

    def rename(one: Operand) -> Operand:
        if isinstance(one, Path) and one.root in spec.fields:
            return Path((spec.fields[one.root].attribute, *one.parts[1:]))
        if isinstance(one, Function):
            return Function(one.function, tuple(map(rename, one.arguments)))
        return one

    match condition:
        case And(terms):
            return And(tuple(stored_condition(term, spec) for term in terms))
        case Or(terms):
            return Or(tuple(stored_condition(term, spec) for term in terms))
        case Not(term):
            return Not(stored_condition(term, spec))
        case Compare(operator, left, right):
            return Compare(operator, rename(left), rename(right))
        case Between(subject, low, high):
            return Between(rename(subject), rename(low), rename(high))
        case In(subject, options):
            return In(rename(subject), tuple(map(rename, options)))
        case Function(name, arguments):
            return Function(name, tuple(map(rename, arguments)))


def fields_of(condition: Condition | None) -> frozenset[str]:
    """The fields that decide whether it holds."""
    match condition:
        case None:
            return frozenset()
        case And(terms) | Or(terms):
            return frozenset[str]().union(*map(fields_of, terms))
        case Not(term):
            return fields_of(term)
        case _:
            return frozenset(_roots(operands_of(condition)))


def _roots(operands: tuple[Operand, ...]) -> Iterator[str]:
    for one in operands:
        if isinstance(one, Path):
            yield one.root
        elif isinstance(one, Function):
            yield from _roots(one.arguments)


__all__ = [
    "Condition",
    "condition_text",
    "evaluator",
    "fields_of",
    "parse_condition",
    "stored_condition",
    "there",
    "tree",
    "wire_operand",
]
