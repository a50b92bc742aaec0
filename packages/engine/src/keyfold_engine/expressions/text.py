"""Conditions as stable text with literal values; `literal_condition` reads it back."""

from __future__ import annotations

import re

import orjson

from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    NameRef,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from keyfold_engine.expressions.lexer import KEYWORDS

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*").fullmatch
_WORDS = {*KEYWORDS, "TRUE", "FALSE"}


def condition_text(condition: Condition) -> str:
    """`state = "open" AND attribute_exists(due_at)`."""
    match condition:
        case And(terms):
            return " AND ".join(_inside(term, (Or,)) for term in terms)
        case Or(terms):
            return " OR ".join(_inside(term, ()) for term in terms)
        case Not(term):
            return f"NOT {_inside(term, (And, Or))}"
        case Compare(operator, left, right):
            return f"{operand(left)} {operator} {operand(right)}"
        case Between(subject, low, high):
            return f"{operand(subject)} BETWEEN {operand(low)} AND {operand(high)}"
        case In(subject, options):
            return f"{operand(subject)} IN ({', '.join(map(operand, options))})"
        case Function():
            return operand(condition)


def _inside(term: Condition, wrapped: tuple[type, ...]) -> str:
    return f"({condition_text(term)})" if isinstance(term, wrapped) else condition_text(term)


def operand(given: Operand) -> str:
    match given:
        case Path(parts):
            return "".join(_part(part, first=not place) for place, part in enumerate(parts))
        case Function(name, arguments):
            return f"{name}({', '.join(map(operand, arguments))})"
        case Value(content):
            return _value(content)
        case _:
            return given.text


def _part(part: str | int | NameRef, *, first: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if isinstance(part, NameRef):
        name = part.text
    else:
        plain = _PLAIN(part) and part.upper() not in _WORDS
        name = part if plain else f"#{orjson.dumps(part).decode()}"
    return name if first else f".{name}"


def _value(wire: dict[str, object]) -> str:
    ((kind, content),) = wire.items()
    if kind == "S":
        return orjson.dumps(content).decode()
    if kind == "N":
        return str(content)
    if kind == "BOOL":
        return "true" if content else "false"
    plain = orjson.dumps(wire, option=orjson.OPT_SORT_KEYS).decode()
    return "`" + plain.replace("`", r"\u0060") + "`"
