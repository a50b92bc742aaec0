"""What DynamoDB refuses in an expression's text, in its order of checks.

Reserved words, list indexes, misplaced functions, wrong arity: in text order, before placeholders
are resolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn

from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions.ast import (
    Action,
    And,
    Arithmetic,
    Condition,
    Function,
    Node,
    Not,
    Operand,
    Or,
    Path,
    SetAction,
    parts,
    walk,
)
from keyfold_engine.expressions.reserved import is_reserved
from keyfold_engine.limits import EXPRESSION_OPERATORS, LIST_INDEX

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


def refuse(parameter: str, reason: str) -> NoReturn:
    """Raise DynamoDB's error about an expression; PartiQL has no parameter to name."""
    raise RequestInvalid(f"Invalid {parameter}: {reason}" if parameter else reason)


def check_condition(tree: Condition, parameter: str) -> None:
    """Check a parsed condition, placeholders unresolved."""
    check_functions(tree, parameter, check_path=_check_path)
    operators = sum(map(_operators, walk(tree)))
    if operators > EXPRESSION_OPERATORS:
        refuse(
            parameter,
            "The expression contains too many operators; "
            f"operator count: {EXPRESSION_OPERATORS + 1}",
        )


def check_update(sections: Sequence[tuple[str, list[Action]]], parameter: str) -> None:
    """Check a parsed update section by section, in the order sections first appear."""
    for keyword in dict.fromkeys(keyword for keyword, _ in sections):
        same = [actions for name, actions in sections if name == keyword]
        for action in (action for actions in same for action in actions):
            _check_path(action.path, parameter)
            if isinstance(action, SetAction):
                _check_assigned(action.value, parameter)
        if len(same) > 1:
            refuse(
                parameter,
                f'The "{keyword}" section can only be used once in an update expression;',
            )


def check_paths(paths: Iterable[Path], parameter: str) -> None:
    """Check the paths of a parsed projection."""
    for path in paths:
        _check_path(path, parameter)


def check_functions(
    node: Node,
    parameter: str,
    allowed: Mapping[str, int] = CONDITION_FUNCTIONS,
    *,
    check_path: Callable[[Path, str], None] | None = None,
) -> None:
    """Check that a condition calls only known functions, and its paths."""
    if isinstance(node, Path) and check_path is not None:
        check_path(node, parameter)
    elif isinstance(node, Function):
        _check_name(node, parameter, allowed)
    inside = allowed if isinstance(node, And | Or | Not) else OPERAND_FUNCTIONS
    for part in parts(node):
        check_functions(part, parameter, inside, check_path=check_path)


def _check_name(call: Function, parameter: str, allowed: Mapping[str, int]) -> None:
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
    check_arity(call, parameter)


def _check_assigned(value: Operand | Arithmetic, parameter: str) -> None:
    match value:
        case Arithmetic(_, left, right):
            _check_assigned(left, parameter)
            _check_assigned(right, parameter)
        case Path():
            _check_path(value, parameter)
        case Function(name, arguments):
            if name not in _ARITY:
                refuse(parameter, f"Invalid function name; function: {name}")
            if name not in UPDATE_FUNCTIONS:
                refuse(
                    parameter,
                    f"The function is not allowed in an update expression; function: {name}",
                )
            for argument in arguments:
                _check_assigned(argument, parameter)
                if name == "list_append" and isinstance(argument, Function):
                    _check_appended(argument, parameter)


def _check_appended(argument: Function, parameter: str) -> None:
    if argument.function == "list_append":
        refuse(
            parameter,
            "The function is not allowed to be used this way in an expression; "
            "function: list_append",
        )


def _check_path(path: Path, parameter: str) -> None:
    for part in path.parts:
        if isinstance(part, int):
            if part > LIST_INDEX:
                refuse(
                    parameter,
                    f"List index is not within the allowable range; index: [{part}]",
                )
        elif isinstance(part, str) and is_reserved(part):
            refuse(parameter, f"Attribute name is a reserved keyword; reserved keyword: {part}")


def check_arity(call: Function, parameter: str) -> None:
    """Check how many operands a known function was given."""
    given = len(call.arguments)
    if given != _ARITY[call.function]:
        refuse(
            parameter,
            "Incorrect number of operands for operator or function; "
            f"operator or function: {call.function}, number of operands: {given}",
        )


def _operators(node: Node) -> int:
    if isinstance(node, And | Or):
        return len(node.terms) - 1
    return int(bool(parts(node)))
