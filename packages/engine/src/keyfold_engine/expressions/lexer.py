"""Tokens of expression text."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"))
END = "end"

_TOKEN = re.compile(
    r"""
    (?P<identifier>[A-Za-z][A-Za-z0-9_]*)
  | (?P<name>\#[A-Za-z0-9_]+)
  | (?P<value>:[A-Za-z0-9_]+)
  | (?P<integer>0|[1-9][0-9]*)
  | (?P<operator><>|<=|>=|[=<>()\[\],.+\-])
  | (?P<space>[ \t\r\n]+)
  | (?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)


_LITERAL = r"""
    (?P<text>"(?:[^"\\]|\\.)*")
  | (?P<json>`[^`]*`)
  | (?P<quoted>\#"(?:[^"\\]|\\.)*")
  | (?P<number>-[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?
             |[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
  |"""
_WITH_LITERALS = re.compile(_LITERAL + _TOKEN.pattern, re.VERBOSE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is identifier, name, value, integer, unknown, end, or the operator or keyword.

    With literals it may also be text, number, json (a wire value) or quoted (an odd name).
    """

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str, *, literals: bool = False) -> list[Token]:
    """The tokens of a text, with an end marker behind the last one."""
    found = []
    for match in (_WITH_LITERALS if literals else _TOKEN).finditer(text):
        kind = match.lastgroup or "unknown"
        word = match.group()
        if kind == "space":
            continue
        if kind == "operator":
            kind = word
        elif kind == "identifier" and word.upper() in KEYWORDS:
            kind = word.upper()
        found.append(Token(kind, word, match.start(), match.end()))
    found.append(Token(END, "<EOF>", len(text), len(text)))
    return found


def near(found: list[Token], at: int, text: str) -> str:
    """The text around a token, from the one before it to the one after, as DynamoDB quotes it."""
    if found[at].kind == END:
        previous = found[at - 1] if at else found[at]
        return text[previous.start : previous.end]
    first = found[at - 1] if at else found[at]
    return text[first.start : found[at + 1].end].rstrip(" \t\r\n")
