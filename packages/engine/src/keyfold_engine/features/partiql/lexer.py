"""Tokens of PartiQL text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keyfold_engine.features.partiql.words import KEYWORDS, RESERVED

END = "end"

_TOKEN = re.compile(
    r"""
    (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<broken>/\*)
  | (?P<operator><<|>>|<>|<=|>=|!=|[=<>()\[\]{},.:;*+\-?])
  | (?P<space>\s+)
  | (?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PartiqlToken:
    """`kind` is text, quoted, number, identifier, reserved, end, or the operator or keyword."""

    kind: str
    text: str
    # Its position in the statement, and its length there.
    start: int
    length: int


class Unreadable(ValueError):
    """A character that begins no token."""


def tokens(statement: str) -> list[PartiqlToken]:
    """The tokens of a statement, followed by an end marker."""
    found = []
    for match in _TOKEN.finditer(statement):
        kind, word = match.lastgroup or "unknown", match.group()
        if kind in ("space", "comment"):
            continue
        if kind in ("unknown", "broken"):
            raise Unreadable(word)
        if kind == "operator":
            kind = word
        elif kind == "identifier" and word.upper() in KEYWORDS:
            kind = word.upper()
        elif kind == "identifier" and word.upper() in RESERVED:
            kind = "reserved"
        elif kind in ("text", "quoted"):
            quote = word[0]
            word = word[1:-1].replace(quote * 2, quote)
        found.append(PartiqlToken(kind, word, match.start(), len(match.group())))
    found.append(PartiqlToken(END, "<EOF>", len(statement), 0))
    return found
