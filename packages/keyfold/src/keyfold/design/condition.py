"""Conditions as data: the expression over an entity's fields behind a recorded condition.

Values are in the form their fields store, so an enum, a time or a decimal has one spelling and can
be read without Python. `condition_text` gives the text for documents, design files and snapshots,
and `literal_condition` parses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from keyfold.design.codec import document, encoder, is_absent
from keyfold.design.parameter import Argument, Param
from keyfold_engine.expressions.ast import (
    And,
    Compare,
    Condition,
    Function,
    N,
    Not,
    Operand,
    Or,
    Path,
    Value,
    ValueRef,
    mapped,
    parts,
    roots,
)
from keyfold_engine.expressions.evaluate import compile_condition
from keyfold_engine.expressions.parser import literal_condition
from keyfold_engine.expressions.text import condition_text, operand
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.wire import check_value

if TYPE_CHECKING:
    from keyfold.design.entity_spec import EntitySpec

_ELEMENTS = {"string_set": "S", "number_set": "N", "binary_set": "B"}


def presence(subject: Operand, *, there: bool) -> Condition:
    """The condition that something has a value, or has none."""
    return Function("attribute_exists" if there else "attribute_not_exists", (subject,))


def operand_of(subject: Operand, value: Any, spec: EntitySpec, *, element: bool = False) -> Operand:
    """What a field, or a path inside it, is compared with: a value in the form it is stored in."""
    if isinstance(value, Param):
        return Argument(f":{value.name}", value)
    return Value(check_value(_wire_operand(subject, value, spec, element=element)))


def _wire_operand(
    subject: Operand, value: Any, spec: EntitySpec, *, element: bool
) -> AttributeValue:
    if not isinstance(subject, Path) or len(subject.parts) > 1:
        return document(value)
    field = spec.fields[subject.root]
    if element and field.kind in ("list", "any", "map"):
        return document(value)
    if element and field.kind in _ELEMENTS:
        (members,) = encoder(field)([value]).values()
        return {_ELEMENTS[field.kind]: members[0]}
    return encoder(field)(value)


def equal(field: str, value: Any, spec: EntitySpec) -> Condition:
    """The condition that a field has this value."""
    return Compare("=", Path((field,)), operand_of(Path((field,)), value, spec))


def combined(kind: type[And | Or], first: Condition, *others: Condition) -> Condition:
    """All of these conditions, or one of them."""
    terms = (
        one.terms if isinstance(one, And | Or) and type(one) is kind else (one,)
        for one in (first, *others)
    )
    return kind(tuple(chain.from_iterable(terms))) if others else first


def all_of(*conditions: Condition | None) -> Condition | None:
    """All of the conditions that there are."""
    found = [one for one in conditions if one is not None]
    return combined(And, *found) if found else None


def with_arguments(
    condition: Condition, spec: EntitySpec, arguments: Mapping[str, Any]
) -> Condition:
    """The condition of a call: values in the place of a pattern's parameters."""
    if isinstance(condition, And | Or | Not):
        return mapped(condition, partial(with_arguments, spec=spec, arguments=arguments))
    subject, *others = parts(condition)
    given = {one: one.param.value_in(arguments) for one in others if isinstance(one, Argument)}
    if isinstance(condition, Compare) and any(map(is_absent, given.values())):
        # Without a value a range is open at this end.
        return presence(subject, there=condition.operator != "=")
    element = not isinstance(condition, Compare)

    def filled(one: Operand) -> Operand:
        if not isinstance(one, Argument):
            return one
        return operand_of(subject, given[one], spec, element=element)

    return mapped(condition, filled) if given else condition


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
    return all_of(*(presence(Path((field,)), there=True) for field in fields))


def is_presence(condition: Condition) -> bool:
    """Whether it only requires fields to have values."""
    if isinstance(condition, And):
        return all(map(is_presence, condition.terms))
    return isinstance(condition, Function) and condition.function == "attribute_exists"


def parse_condition(text: str) -> Condition:
    """A condition from a design file; a bare field name requires that it has a value."""
    named = text.strip()
    if named.isidentifier() and named not in ("true", "false"):
        return presence(Path((named,)), there=True)
    return literal_condition(text)


def stored_condition(node: N, spec: EntitySpec) -> N:
    """The condition over a stored item, with fields under their attribute names."""
    if isinstance(node, Path) and node.root in spec.fields:
        return replace(node, parts=(spec.fields[node.root].attribute, *node.parts[1:]))
    return mapped(node, partial(stored_condition, spec=spec))


def declared_condition(node: N) -> N:
    """The condition with its parameters by name alone, as a schema has it."""
    if isinstance(node, Argument):
        return cast("N", ValueRef(node.text))
    named: N = mapped(node, declared_condition)
    return named


def fields_of(condition: Condition | None) -> frozenset[str]:
    """The fields that decide whether it holds."""
    return frozenset() if condition is None else frozenset(roots(condition))


def present(condition: Condition) -> frozenset[str]:
    """The fields that have a value wherever it holds."""
    match condition:
        case And(terms):
            return frozenset().union(*map(present, terms))
        case Or(terms):
            return frozenset.intersection(*map(present, terms))
        case Not(Function("attribute_not_exists", _)):
            return fields_of(condition)
        case Not() | Compare("<>", _, _) | Function("attribute_not_exists", _):
            return frozenset()
    return fields_of(condition)


__all__ = [
    "Condition",
    "condition_text",
    "evaluator",
    "fields_of",
    "operand",
    "parse_condition",
    "stored_condition",
    "there",
]
