"""What DynamoDB refuses in an expression beyond its grammar, in the order it looks.

First the text alone, in the order it is written (`written_*`): reserved words, list indexes, which
function stands where, how many operands. Then, once placeholders are resolved, what the operands
are (`operands_*`), and that no two paths of an update or projection collide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from keyfold.errors import RequestInvalid
from keyfold.expressions.ast import (
    Action,
    AddAction,
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
    RemoveAction,
    SetAction,
    Value,
)
from keyfold.expressions.reserved import is_reserved
from keyfold.limits import EXPRESSION_OPERATORS, IN_OPERANDS, LIST_INDEX, NESTING_LEVELS
from keyfold.values.key_order import sort_key

CONDITION_FUNCTIONS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
}
OPERAND_FUNCTIONS = {"size": 1}
UPDATE_FUNCTIONS = {"if_not_exists": 2, "list_append": 2}
_ARITY = {**CONDITION_FUNCTIONS, **OPERAND_FUNCTIONS, **UPDATE_FUNCTIONS}

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


def refuse(parameter: str, reason: str) -> NoReturn:
    """Raise DynamoDB's error about an expression; PartiQL has no parameter to name."""
    raise RequestInvalid(f"Invalid {parameter}: {reason}" if parameter else reason)


# The text alone.


def written_condition(tree: Condition, parameter: str) -> None:
    """Check a parsed condition, placeholders unresolved."""
    _written_condition(tree, parameter)
    operators = _operators(tree)
    if operators > EXPRESSION_OPERATORS:
        refuse(
            parameter,
            "The expression contains too many operators; "
            f"operator count: {EXPRESSION_OPERATORS + 1}",
        )


def written_update(sections: Sequence[tuple[str, list[Action]]], parameter: str) -> None:
    """Check a parsed update section by section, in the order sections first appear."""
    for keyword in dict.fromkeys(keyword for keyword, _ in sections):
        same = [actions for name, actions in sections if name == keyword]
        for action in (action for actions in same for action in actions):
            _written_path(action.path, parameter)
            if isinstance(action, SetAction):
                _written_assigned(action.value, parameter)
        if len(same) > 1:
            refuse(
                parameter,
                f'The "{keyword}" section can only be used once in an update expression;',
            )


def written_paths(paths: Iterable[Path], parameter: str) -> None:
    """Check the paths of a parsed projection."""
    for path in paths:
        _written_path(path, parameter)


def _written_condition(node: Condition, parameter: str) -> None:
    match node:
        case And(terms) | Or(terms):
            for term in terms:
                _written_condition(term, parameter)
        case Not(term):
            _written_condition(term, parameter)
        case Function():
            _written_call(node, parameter, CONDITION_FUNCTIONS)
        case Compare(_, left, right):
            _written_operands((left, right), parameter)
        case Between(operand, low, high):
            _written_operands((operand, low, high), parameter)
        case In(operand, options):
            _written_operands((operand, *options), parameter)


def _written_operands(operands: Iterable[Operand], parameter: str) -> None:
    for operand in operands:
        if isinstance(operand, Path):
            _written_path(operand, parameter)
        elif isinstance(operand, Function):
            _written_call(operand, parameter, OPERAND_FUNCTIONS)


def _written_call(call: Function, parameter: str, allowed: dict[str, int]) -> None:
    _known_call(call, parameter, allowed)
    _written_operands(call.arguments, parameter)


def _known_call(call: Function, parameter: str, allowed: dict[str, int]) -> None:
    name = call.function
    if name not in _ARITY:
        refuse(parameter, f"Invalid function name; function: {name}")
    if name in UPDATE_FUNCTIONS:
        refuse(
            parameter, f"The function is not allowed in a condition expression; function: {name}"
        )
    if name not in allowed:
        refuse(
            parameter,
            f"The function is not allowed to be used this way in an expression; function: {name}",
        )
    arity(call, parameter)


def functions(tree: Condition, parameter: str) -> None:
    """Check that a condition calls what there is, whatever it names."""
    match tree:
        case And(terms) | Or(terms):
            for term in terms:
                functions(term, parameter)
        case Not(term):
            functions(term, parameter)
        case Function():
            _known_call(tree, parameter, CONDITION_FUNCTIONS)
        case Compare() | Between() | In():
            for operand in operands_of(tree):
                if isinstance(operand, Function):
                    _known_call(operand, parameter, OPERAND_FUNCTIONS)


def operands_of(test: Compare | Between | In | Function) -> tuple[Operand, ...]:
    """What a single test is about, first its subject."""
    match test:
        case Compare(_, left, right):
            return (left, right)
        case Between(operand, low, high):
            return (operand, low, high)
        case In(operand, options):
            return (operand, *options)
        case Function(_, arguments):
            return arguments


def _written_assigned(value: Operand | Arithmetic, parameter: str) -> None:
    match value:
        case Arithmetic(_, left, right):
            _written_assigned(left, parameter)
            _written_assigned(right, parameter)
        case Path():
            _written_path(value, parameter)
        case Function(name, arguments):
            if name not in _ARITY:
                refuse(parameter, f"Invalid function name; function: {name}")
            if name not in UPDATE_FUNCTIONS:
                refuse(
                    parameter,
                    f"The function is not allowed in an update expression; function: {name}",
                )
            for argument in arguments:
                _written_assigned(argument, parameter)
                if name == "list_append" and isinstance(argument, Function):
                    _refuse_appending_to_appended(argument, parameter)


def _refuse_appending_to_appended(argument: Function, parameter: str) -> None:
    if argument.function == "list_append":
        refuse(
            parameter,
            "The function is not allowed to be used this way in an expression; "
            "function: list_append",
        )


def _written_path(path: Path, parameter: str) -> None:
    for part in path.parts:
        if isinstance(part, int):
            if part > LIST_INDEX:
                refuse(
                    parameter,
                    f"List index is not within the allowable range; index: [{part}]",
                )
        elif isinstance(part, str) and is_reserved(part):
            refuse(parameter, f"Attribute name is a reserved keyword; reserved keyword: {part}")


def arity(call: Function, parameter: str) -> None:
    """Check how many operands a known function was given."""
    given = len(call.arguments)
    if given != _ARITY[call.function]:
        refuse(
            parameter,
            "Incorrect number of operands for operator or function; "
            f"operator or function: {call.function}, number of operands: {given}",
        )


def _operators(node: Condition | Operand) -> int:
    match node:
        case And(terms) | Or(terms):
            return len(terms) - 1 + sum(map(_operators, terms))
        case Not(term):
            return 1 + _operators(term)
        case Compare(_, left, right):
            return 1 + _operators(left) + _operators(right)
        case Between(operand, low, high):
            return 1 + _operators(operand) + _operators(low) + _operators(high)
        case In(operand, options):
            return 1 + _operators(operand) + sum(map(_operators, options))
        case Function(_, arguments):
            return 1 + sum(map(_operators, arguments))
        case _:
            return 0


# Bound operands.


def path_depth(path: Path, parameter: str) -> None:
    """Check that a path is no deeper than an item can be."""
    if len(path.parts) > NESTING_LEVELS:
        refuse(
            parameter,
            f"The document path has too many nesting levels; nesting levels: {len(path.parts)}",
        )


def operands_of_comparison(node: Compare, parameter: str) -> None:
    _distinct(node.operator, node.left, (node.right,), parameter)
    if node.operator not in ("=", "<>"):
        _only(node.operator, (node.left, node.right), _ORDERED, parameter)


def operands_of_between(node: Between, parameter: str) -> None:
    _distinct("BETWEEN", node.operand, (node.low, node.high), parameter)
    _only("BETWEEN", (node.operand, node.low, node.high), _ORDERED, parameter)
    low, high = node.low, node.high
    if not isinstance(low, Value) or not isinstance(high, Value):
        return
    bounds = f"lower bound operand: {_shown(low)}, upper bound operand: {_shown(high)}"
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


def operands_of_in(node: In, parameter: str) -> None:
    if len(node.options) > IN_OPERANDS:
        refuse(
            parameter,
            "The IN operator is provided with too many operands; "
            f"number of operands: {len(node.options)}",
        )
    _distinct("IN", node.operand, node.options, parameter)


def operands_of_call(call: Function, parameter: str) -> None:
    """Check the operands of a function whose name and arity are known to be right."""
    name, arguments = call.function, call.arguments
    if name in _NEED_PATH and not isinstance(arguments[0], Path):
        refuse(
            parameter,
            f"Operator or function requires a document path; operator or function: {name}",
        )
    if name not in ("size", "list_append"):
        _distinct(name, arguments[0], arguments[1:], parameter)
    if name == "size":
        _only(name, arguments, _SIZED, parameter)
    elif name == "begins_with":
        _only(name, arguments, frozenset(("S", "B")), parameter)
    elif name == "list_append":
        _only(name, arguments, frozenset(("L",)), parameter)
    elif name == "attribute_type":
        _type_name(arguments[1], parameter)


def operands_of_arithmetic(node: Arithmetic, parameter: str) -> None:
    _only(node.operator, (node.left, node.right), frozenset(("N",)), parameter)


def operand_of_action(action: Action, parameter: str) -> None:
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


def no_overlap(paths: Sequence[Path], parameter: str) -> None:
    """No path of an update or projection may contain another, or read it as another type."""
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


def _type_name(operand: Operand, parameter: str) -> None:
    kind = operand.kind if isinstance(operand, Value) else f"{{{','.join(TYPE_NAMES)}}}"
    if kind != "S" or not isinstance(operand, Value):
        _wrong_type("attribute_type", kind, parameter)
    name = operand.content["S"]
    if name not in TYPE_NAMES:
        refuse(
            parameter,
            f"Invalid attribute type name found; type: {name}, "
            f"valid types: {{{','.join(TYPE_NAMES)}}}",
        )


def _distinct(operator: str, first: Operand, others: Iterable[Operand], parameter: str) -> None:
    if isinstance(first, Path) and first in others:
        refuse(
            parameter,
            "The first operand must be distinct from the remaining operands for this operator or "
            f"function; operator: {operator}, first operand: {first}",
        )


def _only(
    operator: str, operands: Iterable[Operand], allowed: frozenset[str], parameter: str
) -> None:
    for operand in operands:
        kind = _static_kind(operand)
        if kind is not None and kind not in allowed:
            _wrong_type(operator, kind, parameter)


def _wrong_type(operator: str, kind: str, parameter: str) -> NoReturn:
    refuse(
        parameter,
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {kind}",
    )


def _static_kind(operand: Operand) -> str | None:
    """An operand's type where it does not depend on the item."""
    if isinstance(operand, (Value, Placeholder)):
        return operand.kind
    if isinstance(operand, Function) and operand.function == "size":
        return "N"
    return None


def _shown(value: Value) -> str:
    return f"AttributeValue: {{{value.kind}:{value.content[value.kind]}}}"
