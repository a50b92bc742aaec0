"""Keys as sets of strings: what a template can render, what a condition can meet.

A template is a small automaton (literals and runs of allowed characters). Two sets meet when the
product of their automata accepts something; ranges compare the least and greatest members.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from keyfold.design.schema import AttributeSchema
from keyfold.design.template import DELIMITER, HIGHEST, Literal, Slot, Template

LOWEST = "\x00"
_PLAINEST = "a0123456789bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:._+#%/@!\x01"
"""Characters to make examples of; the last one stands for all that nobody types."""


@dataclass(frozen=True)
class Characters:
    """The characters that one slot may hold: only these, or all but those."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    once: bool = False
    """Exactly one of them; otherwise one or more."""

    def __contains__(self, character: str) -> bool:
        return character in self.only if self.only else character not in self.never

    def common(self, other: Characters) -> str:
        """A character of both, a plain one where there is one; nothing where they share none."""
        return next((one for one in _PLAINEST if one in self and one in other), "")

    @property
    def least(self) -> str:
        return min(self.only) if self.only else LOWEST

    @property
    def greatest(self) -> str:
        return max(self.only) if self.only else HIGHEST


ANYTHING = Characters()
TEXT = Characters(never=frozenset(DELIMITER))
DIGITS = Characters(only=frozenset("0123456789"))
DIGIT = Characters(only=DIGITS.only, once=True)
NUMBER = Characters(only=frozenset("0123456789-."))
MOMENT = Characters(only=frozenset("0123456789-:.TZ+"))

Piece = str | Characters


@dataclass(frozen=True)
class Space:
    """A set of strings; `open` lets anything follow, as begins_with does."""

    pieces: tuple[Piece, ...]
    open: bool = False

    @cached_property
    def literal_prefix(self) -> str:
        return self.pieces[0] if self.pieces and isinstance(self.pieces[0], str) else ""

    @cached_property
    def least(self) -> str:
        """A string that no member is less than."""
        out = ""
        for piece in self.pieces:
            if not isinstance(piece, str):
                return out + piece.least
            out += piece
        return out

    @cached_property
    def greatest(self) -> str:
        """A string that no member is greater than."""
        out = ""
        for piece in self.pieces:
            if not isinstance(piece, str):
                return out + piece.greatest + HIGHEST
            out += piece
        return out + HIGHEST if self.open else out

    def opened(self) -> Space:
        return Space(self.pieces, open=True)


def characters(attribute: AttributeSchema | None, slot: Slot, *, bare: bool) -> Characters:
    """What a slot holds, by its format or its attribute; alone in a key it may hold all."""
    if slot.format.numeric or slot.format.shards or slot.format.name.endswith("f"):
        return DIGITS
    if slot.format.name.startswith("iso"):
        return MOMENT
    if attribute is not None and attribute.type in ("timestamp", "date"):
        return DIGITS if attribute.stored.startswith("epoch") else MOMENT
    if attribute is not None and attribute.type == "number":
        return NUMBER
    return ANYTHING if bare else TEXT


def spaces(template: Template, attributes: Mapping[str, AttributeSchema]) -> tuple[Space, ...]:
    """The sets a template renders into: one, or one for each value of a small enumeration."""
    found: list[tuple[Piece, ...]] = [()]
    for part in template.parts:
        if isinstance(part, Literal):
            found = [(*pieces, part.text) for pieces in found]
            continue
        attribute = attributes.get(part.field)
        choices = _choices(attribute)
        if choices and len(found) * len(choices) <= 64:
            found = [(*pieces, choice) for pieces in found for choice in choices]
        elif attribute is not None and attribute.looks_like:
            found = [(*pieces, *_like(attribute.looks_like)) for pieces in found]
        else:
            kind = characters(attribute, part, bare=template.is_bare_field)
            # A time begins with a digit, which is what ranges compare first.
            timed = [DIGIT, MOMENT] if kind is MOMENT else [kind]
            found = [(*pieces, *([DIGIT] * _width(part) or timed)) for pieces in found]
    return tuple(Space(_joined(pieces)) for pieces in found)


def _width(slot: Slot) -> int:
    """How many digits a format always has; 0 where it has no fixed number."""
    padded = re.fullmatch(r"0(\d+)d", slot.format.name)
    return int(padded[1]) if padded else 0


def _choices(attribute: AttributeSchema | None) -> tuple[str, ...]:
    if attribute is None:
        return ()
    return ("false", "true") if attribute.type == "boolean" else attribute.values


def _like(looks: str) -> tuple[Piece, ...]:
    """`PROFILE#{uuid}`: the form of a value, as its document gives it."""
    parts = re.split(r"(\{[^{}]*\})", looks)
    return tuple(TEXT if part.startswith("{") else part for part in parts if part)


def _joined(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Neighbouring literals as one."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if isinstance(piece, str) and isinstance(last, str):
            out[-1] = last + piece
        else:
            out.append(piece)
    return tuple(out)


def meet(left: Space, right: Space) -> bool:
    """Whether some string belongs to both."""
    return witness(left, right) is not None


def witness(left: Space, right: Space) -> str | None:
    """A string that belongs to both."""
    a, b = left.literal_prefix, right.literal_prefix
    if a and b and not (a.startswith(b) or b.startswith(a)):
        return None
    return _witness(left, right)


def forget() -> None:
    """Let go of what was computed for designs so far."""
    _witness.cache_clear()


@lru_cache(maxsize=65536)
def _witness(left: Space, right: Space) -> str | None:
    seen: set[tuple[_State, _State]] = set()
    waiting = deque([((_State(left, 0, 0), _State(right, 0, 0)), "")])
    while waiting:
        pair, text = waiting.popleft()
        if pair in seen:
            continue
        seen.add(pair)
        one, other = pair
        if one.accepts and other.accepts:
            return text
        for passed in one.passed():
            waiting.append(((passed, other), text))
        for passed in other.passed():
            waiting.append(((one, passed), text))
        taken, given = one.takes(), other.takes()
        if taken is not None and given is not None and (common := _common(taken, given)):
            waiting.append(((one.after(), other.after()), text + common))
    return None


def _common(left: Piece, right: Piece) -> str:
    if isinstance(left, str):
        return left if right == left or (not isinstance(right, str) and left in right) else ""
    if isinstance(right, str):
        return right if right in left else ""
    return left.common(right)


@dataclass(frozen=True)
class _State:
    """A position in a space: which piece, and how much of it has been read."""

    space: Space
    piece: int
    offset: int

    @property
    def ended(self) -> bool:
        return self.piece >= len(self.space.pieces)

    @property
    def accepts(self) -> bool:
        return self.ended

    def takes(self) -> Piece | None:
        """What the next character may be."""
        if self.ended:
            return ANYTHING if self.space.open else None
        piece = self.space.pieces[self.piece]
        return piece[self.offset] if isinstance(piece, str) else piece

    def after(self) -> _State:
        if self.ended:
            return self
        piece = self.space.pieces[self.piece]
        if not isinstance(piece, str):
            return _State(self.space, self.piece + piece.once, int(not piece.once))
        if self.offset + 1 == len(piece):
            return _State(self.space, self.piece + 1, 0)
        return _State(self.space, self.piece, self.offset + 1)

    def passed(self) -> tuple[_State, ...]:
        """Where a slot that has a character already may go on to."""
        if self.ended or not self.offset:
            return ()
        if isinstance(self.space.pieces[self.piece], str):
            return ()
        # An offset in a set of characters says that it has had one.
        return (_State(self.space, self.piece + 1, 0),)


@dataclass(frozen=True)
class Range:
    """The strings between two bounds; an absent bound is open."""

    low: str = ""
    high: str = ""

    def holds_some(self, space: Space) -> bool:
        if self.low and space.greatest < self.low:
            return False
        return not (self.high and space.least > self.high)
