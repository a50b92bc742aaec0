"""Parses conditions and operands: what follows WHERE, and what it compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import operand_check, text_check
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Path,
    Placeholder,
    Value,
    ValueRef,
)
from keyfold_engine.features.partiql.cursor import Cursor, refuse
from keyfold_engine.features.partiql.lexer import END
from keyfold_engine.features.partiql.words import TYPES
from keyfold_engine.limits import IN_OPERANDS
from keyfold_engine.values import AttributeValue

_COMPARATORS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class ConditionParser(Cursor):
    """A recursive-descent parser for the conditions of one statement."""

    def __init__(self, statement: str, parameters: Sequence[AttributeValue]) -> None:
        super().__init__(statement, parameters)
        # Errors that are reported only if the statement can be parsed to its end.
        self._complaint: str | None = None

    def _where(self) -> Condition | None:
        if not self._take("WHERE"):
            return None
        return self._require_condition(self._alternatives())

    def _comparison(self) -> Condition | Operand:
        left: Condition | Operand
        if self._take("("):
            self._deeper()
            left = self._alternatives()
            self._depth -= 1
            self._expect(")")
        else:
            left = self._operand()
        if not isinstance(left, (Path, Value, Function)):
            return left
        token = self._token
        if isinstance(left, Function) and left.function != "size" and self._take("="):
            return left if self._truth() else Not(left)
        if token.kind in _COMPARATORS:
            self._next()
            return _comparison(_COMPARATORS[token.kind], _with_value(left), self._value_operand())
        if token.kind == "BETWEEN":
            self._next()
            low = self._value_operand()
            self._expect("AND")
            if self._stands_at(END):
                refuse("Expected expression after AND")
            between = Between(_with_value(left), low, self._value_operand())
            operand_check.check_between(between, "")
            return between
        if token.kind == "IN":
            self._next()
            return In(_with_value(left), self._options())
        if token.kind == "IS":
            self._next()
            return self._is(_with_value(left))
        return left

    def _truth(self) -> bool:
        """The value that a function is compared with."""
        token = self._next()
        if token.kind not in ("TRUE", "FALSE"):
            refuse("Unexpected term")
        return token.kind == "TRUE"

    def _options(self) -> tuple[Operand, ...]:
        closing = "]" if self._take("[") else ")"
        if closing == ")":
            self._expect("(")
        options = self._comma_list(self._value_operand)
        self._expect(closing)
        if len(options) > IN_OPERANDS:
            self._complaint = (
                "The IN operator is provided with too many operands; number of operands: "
                f"{len(options)}"
            )
        return tuple(options)

    def _is(self, operand: Operand) -> Condition:
        negated = self._take("NOT")
        condition: Condition
        if self._take("MISSING"):
            condition = Function("attribute_not_exists", (operand,))
        elif (kind := TYPES.get(self._token.text.upper())) is not None:
            self._next()
            condition = Function("attribute_type", (operand, Value({"S": kind})))
        elif not self._take("NULL"):
            refuse("Expected type name")
        else:
            condition = Compare("=", operand, Value({"NULL": True}))
        return Not(condition) if negated else condition

    def _require_condition(self, node: Condition | Operand) -> Condition:
        if isinstance(node, (Path, Value, ValueRef, Placeholder)) or (
            isinstance(node, Function) and node.function == "size"
        ):
            refuse("Unexpected term")
        return node

    # Operands and values.

    def _operand(self) -> Operand:
        if self._is_call():
            return self._function()
        if self._token.kind in ("identifier", "quoted"):
            return self._path()
        return Value(self._value())

    def _value_operand(self) -> Operand:
        return _with_value(self._operand())

    def _function(self) -> Operand:
        token = self._next()
        name = token.text.lower()
        if name not in text_check.CONDITION_FUNCTIONS and name not in text_check.OPERAND_FUNCTIONS:
            refuse_at(f"Unrecognized function: {name}", self._place(token))
        self._expect("(")
        call = Function(name, tuple(self._until(")", self._value_operand)))
        text_check.check_arity(call, "")
        operand_check.check_call(call, "")
        return call

    def _path(self, reason: str | None = None) -> Path:
        parts: list[Any] = [self._name(reason)]
        while True:
            if self._take("."):
                parts.append(self._name("Invalid path dot component"))
            elif self._take("["):
                token = self._next()
                if token.kind == "number" and token.text.isdecimal():
                    parts.append(int(token.text))
                elif token.kind == "text":
                    parts.append(token.text)
                else:
                    refuse("Unexpected path component")
                self._expect("]")
            else:
                return Path(tuple(parts))

    def _name(self, reason: str | None = None) -> str:
        """A name, quoted or not; otherwise the reason to refuse it."""
        token = self._token
        if token.kind not in ("identifier", "quoted"):
            if reason is None:
                self._refuse_misplaced()
            refuse(reason)
        return self._next().text


def refuse_at(reason: str, place: str) -> NoReturn:
    raise ValidationError(f"{reason} at {place}")


def _with_value(operand: Operand) -> Operand:
    """An operand that has a value; of the functions only size has one."""
    if isinstance(operand, Function) and operand.function != "size":
        refuse(f"Unexpected function: {operand.function}")
    return operand


def _comparison(operator: str, left: Operand, right: Operand) -> Condition:
    comparison = Compare(operator, left, right)
    operand_check.check_comparison(comparison, "")
    if operator != "<>":
        return comparison
    # Unlike in expressions, a missing attribute differs from nothing here.
    there = [
        Function("attribute_exists", (each,)) for each in (left, right) if isinstance(each, Path)
    ]
    return And((*there, comparison)) if there else comparison
