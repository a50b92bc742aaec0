"""What DynamoDB refuses in an expression's text, in its order of checks.

Reserved words, list indexes, misplaced functions, wrong arity: in text order, before placeholders
are resolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions.ast import (
    Action,
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
    SetAction,
    operands_of,
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
    _check_condition(tree, parameter)
    operators = _operators(tree)
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


def _check_condition(node: Condition, parameter: str) -> None:
    match node:
        case And(terms) | Or(terms):
            for term in terms:
                _check_condition(term, parameter)
        case Not(term):
            _check_condition(term, parameter)
        case Function():
            _check_call(node, parameter, CONDITION_FUNCTIONS)
        case Compare(_, left, right):
            _check_operands((left, right), parameter)
        case Between(operand, low, high):
            _check_operands((operand, low, high), parameter)
        case In(operand, options):
            _check_operands((operand, *options), parameter)


def _check_operands(operands: Iterable[Operand], parameter: str) -> None:
    for operand in operands:
        if isinstance(operand, Path):
            _check_path(operand, parameter)
        elif isinstance(operand, Function):
            _check_call(operand, parameter, OPERAND_FUNCTIONS)


def _check_call(call: Function, parameter: str, allowed: dict[str, int]) -> None:
    _check_name(call, parameter, allowed)
    _check_operands(call.arguments, parameter)


def _check_name(call: Function, parameter: str, allowed: dict[str, int]) -> None:
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


def check_functions(tree: Condition, parameter: str) -> None:
    """Check that a condition calls only known functions."""
    match tree:
        case And(terms) | Or(terms):
            for term in terms:
                check_functions(term, parameter)
        case Not(term):
            check_functions(term, parameter)
        case Function():
            _check_name(tree, parameter, CONDITION_FUNCTIONS)
        case Compare() | Between() | In():
            for operand in operands_of(tree):
                if isinstance(operand, Function):
                    _check_name(operand, parameter, OPERAND_FUNCTIONS)


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
