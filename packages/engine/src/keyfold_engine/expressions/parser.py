"""Parses expression text; the trees of recent texts are cached."""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from typing import NoReturn

import orjson

from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions import text_check
from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    Between,
    Compare,
    Condition,
    DeleteAction,
    Function,
    In,
    NameRef,
    Operand,
    Path,
    Placeholder,
    Projection,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
    ValueRef,
)
from keyfold_engine.expressions.lexer import Token, near, tokens
from keyfold_engine.expressions.logic import Logic
from keyfold_engine.limits import EXPRESSION_BYTES, EXPRESSION_OPERATORS
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.number import normalise
from keyfold_engine.values.wire import check_value

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))

_TEXTS_KEPT = 2048
# Parentheses nest no deeper than there may be operators between them. Condition builders, boto3's
# among them, open a pair for every OR, so real expressions come close.
_MAX_DEPTH = EXPRESSION_OPERATORS
_USUAL_DEPTH = 50
_FRAMES_FOR_DEEPEST = 8000


@lru_cache(_TEXTS_KEPT)
def condition(text: str, parameter: str = "ConditionExpression") -> Condition:
    """A condition, filter or key condition; `parameter` is the request member it came in."""
    parser = _Parser(text, parameter)
    tree = parser.condition()
    parser.expect_end()
    text_check.check_condition(tree, parameter)
    return tree


@lru_cache(_TEXTS_KEPT)
def literal_condition(text: str, parameter: str = "condition") -> Condition:
    """A condition with literal values, as in a design: `state = "open" AND size > 3`.

    Text is in quotes, numbers and booleans are bare, other values are DynamoDB JSON in backticks.
    It names fields of a design, so no word is reserved.
    """
    parser = _Parser(text, parameter, literals=True)
    tree = parser.condition()
    parser.expect_end()
    text_check.check_functions(tree, parameter)
    return tree


def _stated_value(wire: object) -> AttributeValue:
    if not isinstance(wire, dict):
        raise TypeError("a wire value is an object of one type")
    ((kind, content),) = wire.items() if len(wire) == 1 else ((None, None),)
    if kind in ("S", "N", "B") and not isinstance(content, str):
        raise TypeError(f"{kind} takes text")
    return check_value(wire)


@lru_cache(_TEXTS_KEPT)
def update(text: str) -> UpdateActions:
    """The actions of an update expression."""
    parameter = "UpdateExpression"
    parser = _Parser(text, parameter)
    sections = parser.sections()
    parser.expect_end()
    text_check.check_update(sections, parameter)
    return UpdateActions(tuple(action for _, actions in sections for action in actions))


@lru_cache(_TEXTS_KEPT)
def projection(text: str) -> Projection:
    """The paths of a projection expression."""
    parameter = "ProjectionExpression"
    parser = _Parser(text, parameter)
    paths = parser.paths()
    parser.expect_end()
    text_check.check_paths(paths, parameter)
    return paths


class _Parser(Logic):
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, parameter: str, *, literals: bool = False) -> None:
        self._text, self._parameter, self._literals = text, parameter, literals
        if not text.strip(" \t\r\n"):
            self._refuse("The expression can not be empty;")
        size = len(text.encode(errors="surrogatepass"))
        if size > EXPRESSION_BYTES:
            # For updates, DynamoDB's message leaves out the length.
            told = "" if parameter == "UpdateExpression" else f" expression size: {size}"
            self._refuse(f"Expression size has exceeded the maximum allowed size;{told}")
        self._tokens: list[Token] = tokens(text, literals=literals)
        self._at = 0
        self._depth = 0

    def expect_end(self) -> None:
        self._expect("end")

    def condition(self) -> Condition:
        return self._require_condition(self._alternatives())

    def sections(self) -> list[tuple[str, list[Action]]]:
        sections: list[tuple[str, list[Action]]] = []
        while not sections or self._token.kind != "end":
            keyword = self._token.kind
            if keyword not in ("SET", "REMOVE", "ADD", "DELETE"):
                self._fail()
            self._advance()
            sections.append((keyword, self._comma_list(partial(self._action, keyword))))
        return sections

    def paths(self) -> Projection:
        return tuple(self._comma_list(self._path))

    # Conditions.

    def _comparison(self) -> Condition | Operand:
        left = self._group() if self._token.kind == "(" else self._operand()
        if not isinstance(left, (Path, Value, ValueRef, Function)):
            return left
        operator = self._token.kind
        if operator in COMPARATORS:
            self._advance()
            return Compare(operator, left, self._operand())
        if operator == "BETWEEN":
            self._advance()
            low = self._operand()
            self._expect("AND")
            return Between(left, low, self._operand())
        if operator == "IN":
            self._advance()
            self._expect("(")
            return In(left, self._operands())
        return left

    def _group(self) -> Condition | Operand:
        self._expect("(")
        self._deeper()
        redundant = self._token.kind == "("
        start = self._at
        inner = self._alternatives()
        self._expect(")")
        self._depth -= 1
        if redundant and self._closes(start) == self._at - 2:
            self._refuse("The expression has redundant parentheses;")
        return inner

    def _closes(self, opening: int) -> int:
        """The index of the parenthesis that closes the one at `opening`."""
        depth = 0
        for at in range(opening, self._at):
            kind = self._tokens[at].kind
            depth += (kind == "(") - (kind == ")")
            if depth == 0:
                return at
        return -1

    def _require_condition(self, node: Condition | Operand) -> Condition:
        if isinstance(node, (Path, Value, ValueRef, Placeholder)):
            self._fail()
        return node

    # Operands.

    def _operand(self) -> Operand:
        token = self._token
        if token.kind == "(":
            self._advance()
            self._deeper()
            redundant = self._token.kind == "("
            inner = self._operand()
            self._expect(")")
            self._depth -= 1
            if redundant:
                self._refuse("The expression has redundant parentheses;")
            return inner
        if token.kind == "value":
            self._advance()
            return ValueRef(token.text)
        if self._literals and (found := self._literal(token)) is not None:
            self._advance()
            return found
        if token.kind == "identifier" and self._tokens[self._at + 1].kind == "(":
            self._advance()
            self._advance()
            self._deeper()
            call = Function(token.text, self._operands())
            self._depth -= 1
            return call
        return self._path()

    def _literal(self, token: Token) -> Value | None:
        if token.kind in ("number", "integer"):
            return Value({"N": normalise(token.text)})
        if token.kind == "identifier" and token.text in ("true", "false"):
            return Value({"BOOL": token.text == "true"})
        try:
            if token.kind == "text":
                return Value({"S": orjson.loads(token.text)})
            if token.kind == "json":
                return Value(_stated_value(orjson.loads(token.text[1:-1])))
        except (orjson.JSONDecodeError, ValidationError, TypeError, AttributeError, KeyError):
            self._fail()
        return None

    def _operands(self) -> tuple[Operand, ...]:
        """Operands up to a closing parenthesis."""
        operands = self._comma_list(self._operand)
        self._expect(")")
        return tuple(operands)

    def _path(self) -> Path:
        parts: list[str | int | NameRef] = [self._name()]
        while True:
            if self._take("."):
                parts.append(self._name())
            elif self._take("["):
                parts.append(int(self._expect("integer").text))
                self._expect("]")
            else:
                return Path(tuple(parts))

    def _name(self) -> str | NameRef:
        token = self._token
        if token.kind == "name":
            self._advance()
            return NameRef(token.text)
        if token.kind == "quoted":
            self._advance()
            name: str = orjson.loads(token.text[1:])
            return name
        return self._expect("identifier").text

    # Updates.

    def _action(self, keyword: str) -> Action:
        path = self._path()
        if keyword == "REMOVE":
            return RemoveAction(path)
        if keyword == "SET":
            self._expect("=")
            return SetAction(path, self._parse_assigned())
        value = ValueRef(self._expect("value").text)
        return AddAction(path, value) if keyword == "ADD" else DeleteAction(path, value)

    def _parse_assigned(self) -> Operand | Arithmetic:
        if self._token.kind == "(" and self._arithmetic_inside():
            self._advance()
            value = self._parse_assigned()
            self._expect(")")
            return value
        left = self._operand()
        operator = self._token.kind
        if operator in ("+", "-"):
            self._advance()
            return Arithmetic(operator, left, self._operand())
        return left

    def _arithmetic_inside(self) -> bool:
        """Whether the parenthesis that opens here holds a sum rather than one operand."""
        depth = 0
        for token in self._tokens[self._at :]:
            depth += (token.kind == "(") - (token.kind == ")")
            if depth == 0:
                return False
            if depth == 1 and token.kind in ("+", "-"):
                return True
        return False

    # Tokens.

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _advance(self) -> None:
        self._at += 1

    def _expect(self, kind: str) -> Token:
        token = self._token
        if token.kind != kind:
            self._fail()
        self._at += 1
        return token

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth == _USUAL_DEPTH:
            # A level takes several calls here, and more wherever its tree is walked.
            sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES_FOR_DEEPEST))
        if self._depth > _MAX_DEPTH:
            self._refuse(
                f"The expression has too many nesting levels; nesting levels: {self._depth}"
            )

    def _fail(self) -> NoReturn:
        quoted = near(self._tokens, self._at, self._text)
        self._refuse(f'Syntax error; token: "{self._token.text}", near: "{quoted}"')

    def _refuse(self, reason: str) -> NoReturn:
        raise RequestInvalid(f"Invalid {self._parameter}: {reason}")
