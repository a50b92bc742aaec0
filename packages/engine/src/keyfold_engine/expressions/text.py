"""Conditions as stable text with literal values; `literal_condition` reads it back."""

from __future__ import annotations

import re
from collections.abc import Callable

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


def condition_text(condition: Condition, shown: Callable[[Operand], str] | None = None) -> str:
    """`state = "open" AND attribute_exists(due_at)`, with operands as `shown`."""
    show = operand if shown is None else shown

    def inside(term: Condition, *wrapped: type) -> str:
        text = condition_text(term, show)
        return f"({text})" if isinstance(term, wrapped) else text

    match condition:
        case And(terms):
            return " AND ".join(inside(term, Or) for term in terms)
        case Or(terms):
            return " OR ".join(map(inside, terms))
        case Not(term):
            return f"NOT {inside(term, And, Or)}"
        case Compare(operator, left, right):
            return f"{show(left)} {operator} {show(right)}"
        case Between(subject, low, high):
            return f"{show(subject)} BETWEEN {show(low)} AND {show(high)}"
        case In(subject, options):
            return f"{show(subject)} IN ({', '.join(map(show, options))})"
        case Function():
            return show(condition)


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
