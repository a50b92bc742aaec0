"""What DynamoDB refuses in operands once placeholders are resolved.

Wrong types, and colliding paths of an update or projection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    Between,
    Compare,
    Function,
    In,
    Operand,
    Path,
    Placeholder,
    RemoveAction,
    SetAction,
    Value,
)
from keyfold_engine.expressions.text_check import refuse
from keyfold_engine.limits import IN_OPERANDS, NESTING_LEVELS
from keyfold_engine.values.key_order import sort_key

TYPE_NAMES = ("N", "BS", "L", "B", "NULL", "M", "S", "SS", "NS", "BOOL")
_ORDERED = frozenset(("S", "N", "B"))
_SIZED = frozenset(("S", "B", "SS", "NS", "BS", "L", "M"))
_NEED_PATH = frozenset(("attribute_exists", "attribute_not_exists", "if_not_exists"))
_LONG_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
    "SS": "STRING_SET",
    "NS": "NUMBER_SET",
    "BS": "BINARY_SET",
}


def check_depth(path: Path, parameter: str) -> None:
    """Refuse a path deeper than an item can be."""
    if len(path.parts) > NESTING_LEVELS:
        refuse(
            parameter,
            f"The document path has too many nesting levels; nesting levels: {len(path.parts)}",
        )


def check_comparison(node: Compare, parameter: str) -> None:
    _check_distinct(node.operator, node.left, (node.right,), parameter)
    if node.operator not in ("=", "<>"):
        _check_kinds(node.operator, (node.left, node.right), _ORDERED, parameter)


def check_between(node: Between, parameter: str) -> None:
    _check_distinct("BETWEEN", node.operand, (node.low, node.high), parameter)
    _check_kinds("BETWEEN", (node.operand, node.low, node.high), _ORDERED, parameter)
    low, high = node.low, node.high
    if not isinstance(low, Value) or not isinstance(high, Value):
        return
    bounds = f"lower bound operand: {_value_text(low)}, upper bound operand: {_value_text(high)}"
    if low.kind != high.kind:
        refuse(
            parameter,
            "The BETWEEN operator requires same data type for lower and upper bounds; " + bounds,
        )
    if sort_key(low.content) > sort_key(high.content):
        refuse(
            parameter,
            "The BETWEEN operator requires upper bound to be greater than or equal to lower "
            "bound; " + bounds,
        )


def check_in(node: In, parameter: str) -> None:
    if len(node.options) > IN_OPERANDS:
        refuse(
            parameter,
            "The IN operator is provided with too many operands; "
            f"number of operands: {len(node.options)}",
        )
    _check_distinct("IN", node.operand, node.options, parameter)


def check_call(call: Function, parameter: str) -> None:
    """Check the operand types of a function whose name and arity are valid."""
    name, arguments = call.function, call.arguments
    if name in _NEED_PATH and not isinstance(arguments[0], Path):
        refuse(
            parameter,
            f"Operator or function requires a document path; operator or function: {name}",
        )
    if name not in ("size", "list_append"):
        _check_distinct(name, arguments[0], arguments[1:], parameter)
    if name == "size":
        _check_kinds(name, arguments, _SIZED, parameter)
    elif name == "begins_with":
        _check_kinds(name, arguments, frozenset(("S", "B")), parameter)
    elif name == "list_append":
        _check_kinds(name, arguments, frozenset(("L",)), parameter)
    elif name == "attribute_type":
        _check_type_name(arguments[1], parameter)


def _check_arithmetic(node: Arithmetic, parameter: str) -> None:
    _check_kinds(node.operator, (node.left, node.right), frozenset(("N",)), parameter)


CHECKS: Mapping[type[Any], Callable[[Any, str], None]] = {
    Compare: check_comparison,
    Between: check_between,
    In: check_in,
    Function: check_call,
    Arithmetic: _check_arithmetic,
}
"""What is refused in a node whose parts are bound."""


def check_action(action: Action, parameter: str) -> None:
    """ADD takes a number or a set, DELETE a set."""
    if isinstance(action, (SetAction, RemoveAction)) or not isinstance(
        action.value, (Value, Placeholder)
    ):
        return
    keyword = "ADD" if isinstance(action, AddAction) else "DELETE"
    kind = action.value.kind
    if kind in ("SS", "NS", "BS") or (kind == "N" and keyword == "ADD"):
        return
    refuse(
        parameter,
        f"Incorrect operand type for operator or function; operator: {keyword}, "
        f"operand type: {_LONG_NAMES[kind]}, typeSet: ALLOWED_FOR_{keyword}_OPERAND",
    )


def check_overlap(paths: Sequence[Path], parameter: str) -> None:
    """Refuse paths that overlap, or that read one path as two types."""
    if len({path.parts[0] for path in paths}) == len(paths):
        return
    for later, second in enumerate(paths):
        for first in paths[:later]:
            clash = _clash(first, second)
            if clash:
                refuse(
                    parameter,
                    f"Two document paths {clash} with each other; must remove or rewrite one of "
                    f"these paths; path one: {first}, path two: {second}",
                )


def _clash(first: Path, second: Path) -> str | None:
    for one, two in zip(first.parts, second.parts, strict=False):
        if isinstance(one, int) is not isinstance(two, int):
            return "conflict"
        if one != two:
            return None
    return "overlap"


def _check_type_name(operand: Operand, parameter: str) -> None:
    kind = operand.kind if isinstance(operand, Value) else f"{{{','.join(TYPE_NAMES)}}}"
    if kind != "S" or not isinstance(operand, Value):
        _refuse_kind("attribute_type", kind, parameter)
    name = operand.content["S"]
    if name not in TYPE_NAMES:
        refuse(
            parameter,
            f"Invalid attribute type name found; type: {name}, "
            f"valid types: {{{','.join(TYPE_NAMES)}}}",
        )


def _check_distinct(
    operator: str, first: Operand, others: Iterable[Operand], parameter: str
) -> None:
    if isinstance(first, Path) and first in others:
        refuse(
            parameter,
            "The first operand must be distinct from the remaining operands for this operator or "
            f"function; operator: {operator}, first operand: {first}",
        )


def _check_kinds(
    operator: str, operands: Iterable[Operand], allowed: frozenset[str], parameter: str
) -> None:
    for operand in operands:
        kind = _static_kind(operand)
        if kind is not None and kind not in allowed:
            _refuse_kind(operator, kind, parameter)


def _refuse_kind(operator: str, kind: str, parameter: str) -> NoReturn:
    refuse(
        parameter,
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {kind}",
    )


def _static_kind(operand: Operand) -> str | None:
    """An operand's type if it does not depend on the item."""
    if isinstance(operand, (Value, Placeholder)):
        return operand.kind
    if isinstance(operand, Function) and operand.function == "size":
        return "N"
    return None


def _value_text(value: Value) -> str:
    return f"AttributeValue: {{{value.kind}:{value.content[value.kind]}}}"
