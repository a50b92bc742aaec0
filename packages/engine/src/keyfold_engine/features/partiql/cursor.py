"""A cursor over the tokens of a statement, with its literals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NoReturn

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.logic import Logic
from keyfold_engine.features.partiql.lexer import END, PartiqlToken, Unreadable, tokens
from keyfold_engine.features.partiql.words import CALLABLE, INFIX, KEYWORDS, OPERATORS
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.number import normalise
from keyfold_engine.values.wire import check_value

_MAX_DEPTH = 100
_EXPONENT_DIGITS = 20
_LITERALS = frozenset(("text", "number", "-", "TRUE", "FALSE", "NULL", "?", "[", "{", "<<"))


class Cursor(Logic):
    """A parser's position in its statement; parameters are consumed at each `?`."""

    def __init__(self, statement: str, parameters: Sequence[AttributeValue]) -> None:
        self._text = statement
        try:
            self._tokens: list[PartiqlToken] = tokens(statement)
        except Unreadable:
            refuse("")
        self._at = 0
        # The position of the current literal inside an attribute's value.
        self._trail: list[str] = []
        self._depth = 0
        self._parameters = [check_value(value) for value in parameters]
        self._taken = 0

    @property
    def _token(self) -> PartiqlToken:
        return self._tokens[self._at]

    def _next(self) -> PartiqlToken:
        token = self._tokens[self._at]
        if token.kind != END:
            self._at += 1
        return token

    def _expect(self, kind: str) -> PartiqlToken:
        token = self._token
        if token.kind != kind:
            refuse("Unexpected end of statement" if token.kind == END else "Unexpected term")
        self._at += kind != END
        return token

    def _is_call(self) -> bool:
        """Whether a function call starts here."""
        token = self._token
        is_name = token.kind in ("identifier", "EXISTS") or (
            token.kind == "reserved" and token.text.upper() in CALLABLE
        )
        return is_name and self._tokens[self._at + 1].kind == "("

    def _refuse_misplaced(self) -> NoReturn:
        """Refuse a token in the place of a term."""
        kind = self._token.kind
        if kind == END and self._at and self._tokens[self._at - 1].kind in INFIX:
            refuse("Missing right-hand side expression of infix operator")
        if kind in OPERATORS:
            refuse("Unexpected operator")
        refuse(
            "Unexpected keyword" if kind in KEYWORDS or kind == "reserved" else "Unexpected term"
        )

    def _until(self, closing: str, one: Callable[[], Any]) -> list[Any]:
        if self._take(closing):
            return []
        found = self._comma_list(one)
        self._expect(closing)
        return found

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            refuse("The statement has too many nesting levels")

    def _place(self, token: PartiqlToken) -> str:
        """A token's position in DynamoDB's format: line, column and length."""
        before = self._text[: token.start]
        column = token.start - before.rfind("\n")
        return f"{before.count(chr(10)) + 1}:{column}:{token.length}"

    # Literals.

    def _item(self) -> dict[str, AttributeValue]:
        if self._take("{"):
            return dict(self._until("}", self._attribute))
        value = self._value()
        if "M" not in value:
            refuse("Expected a tuple of attributes behind VALUE")
        item: dict[str, AttributeValue] = value["M"]
        return item

    def _attribute(self) -> tuple[str, AttributeValue]:
        name = self._entry_name()
        return name, self._value()

    def _value(self) -> AttributeValue:
        return check_value(self._nested_value())

    def _nested_value(self) -> AttributeValue:
        self._deeper()
        value = self._literal()
        self._depth -= 1
        return value

    def _literal(self) -> AttributeValue:
        token = self._token
        if token.kind not in _LITERALS:
            if self._is_call():
                raise ValidationError(
                    f"Unsupported data type: {token.text} under key root{''.join(self._trail)} at "
                    f"{self._place(token)}"
                )
            self._refuse_misplaced()
        self._next()
        match token.kind:
            case "text":
                return {"S": token.text}
            case "number":
                return self._number(token.text)
            case "-":
                return self._number("-" + self._expect("number").text)
            case "TRUE" | "FALSE":
                return {"BOOL": token.kind == "TRUE"}
            case "NULL":
                return {"NULL": True}
            case "?":
                return self._parameter()
            case "[":
                return {"L": self._until("]", self._element_reader())}
            case "{":
                return {"M": dict(self._until("}", self._entry))}
            case _:
                return _set_of(self._until(">>", self._nested_value))

    def _entry(self) -> tuple[str, AttributeValue]:
        name = self._entry_name()
        self._trail.append(f".{name}")
        value = self._nested_value()
        self._trail.pop()
        return name, value

    def _entry_name(self) -> str:
        name = self._next()
        if name.kind not in ("text", "quoted", "identifier"):
            refuse("Expected an attribute name")
        self._expect(":")
        return name.text

    def _element_reader(self) -> Callable[[], AttributeValue]:
        """Reads the elements of a list one after the other."""
        positions = count()

        def element() -> AttributeValue:
            self._trail.append(f"[{next(positions)}]")
            value = self._nested_value()
            self._trail.pop()
            return value

        return element

    def _number(self, text: str) -> AttributeValue:
        mantissa, _, exponent = text.lower().partition("e")
        fraction = mantissa.partition(".")[2]
        if len(exponent) > _EXPONENT_DIGITS or not (
            -(2**31) < len(fraction) - int(exponent or "0") < 2**31
        ):
            refuse("")
        try:
            return {"N": normalise(text)}
        except ValidationError as error:
            raise ValidationError(f"{error.message} under root{''.join(self._trail)}") from None

    def _parameter(self) -> AttributeValue:
        if self._taken == len(self._parameters):
            refuse_parameters()
        self._taken += 1
        return self._parameters[self._taken - 1]


def _set_of(members: list[AttributeValue]) -> AttributeValue:
    if not members:
        raise ValidationError("Empty bags are not supported")
    kinds = {kind for member in members for kind in member}
    if len(kinds) != 1 or (kind := kinds.pop()) not in ("S", "N", "B"):
        refuse("A set holds values of one type: strings, numbers or binaries")
    return {f"{kind}S": [member[kind] for member in members]}


def refuse(reason: str) -> NoReturn:
    """Refuse the statement's text."""
    raise ValidationError(f"Statement wasn't well formed, can't be processed: {reason}")


def refuse_parameters() -> NoReturn:
    """Refuse parameters that do not match the question marks."""
    raise ValidationError("Number of parameters in request and statement don't match.")
