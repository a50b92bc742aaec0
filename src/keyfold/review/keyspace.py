"""Keys as sets of strings: what a template can render, what a condition can meet.

A template is a small automaton (literals and runs of allowed characters). Two sets meet when the
product of their automata accepts something; ranges compare the least and greatest members.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from keyfold.design.schema import AttributeSchema
from keyfold.design.template import DELIMITER, HIGHEST, Literal, Slot, Template

LOWEST = "\x00"


@dataclass(frozen=True)
class Characters:
    """The characters that one slot may hold: only these, or all but those."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def __contains__(self, character: str) -> bool:
        return character in self.only if self.only else character not in self.never

    def shared(self, other: Characters) -> bool:
        if self.only:
            return any(character in other for character in self.only)
        if other.only:
            return any(character in self for character in other.only)
        return True

    @property
    def least(self) -> str:
        return min(self.only) if self.only else LOWEST

    @property
    def greatest(self) -> str:
        return max(self.only) if self.only else HIGHEST


ANYTHING = Characters()
TEXT = Characters(never=frozenset(DELIMITER))
DIGITS = Characters(only=frozenset("0123456789"))
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


def characters(attribute: AttributeSchema | None, slot: Slot) -> Characters:
    """What a slot holds, from its format or its attribute's type."""
    if slot.format.numeric or slot.format.shards or slot.format.name.endswith("f"):
        return DIGITS
    if slot.format.name.startswith("iso"):
        return MOMENT
    if attribute is None:
        return TEXT
    if attribute.type in ("timestamp", "date"):
        return DIGITS if attribute.stored.startswith("epoch") else MOMENT
    return TEXT


def spaces(template: Template, attributes: Mapping[str, AttributeSchema]) -> tuple[Space, ...]:
    """The sets a template renders into: one, or one for each value of a small enumeration."""
    found: list[tuple[Piece, ...]] = [()]
    for part in template.parts:
        if isinstance(part, Literal):
            found = [(*pieces, part.text) for pieces in found]
            continue
        attribute = attributes.get(part.field)
        choices = attribute.values if attribute else ()
        if choices and len(found) * len(choices) <= 64:
            found = [(*pieces, choice) for pieces in found for choice in choices]
        elif template.is_bare_field:
            found = [(*pieces, ANYTHING) for pieces in found]
        else:
            kind = characters(attribute, part)
            found = [(*pieces, kind) for pieces in found]
    return tuple(Space(_joined(pieces)) for pieces in found)


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
    a, b = left.literal_prefix, right.literal_prefix
    if a and b and not (a.startswith(b) or b.startswith(a)):
        return False
    return _meet(left, right)


@lru_cache(maxsize=65536)
def _meet(left: Space, right: Space) -> bool:
    seen: set[tuple[_State, _State]] = set()
    waiting = [(_State(left, 0, 0), _State(right, 0, 0))]
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        one, other = pair
        if one.accepts and other.accepts:
            return True
        for passed in one.passed():
            waiting.append((passed, other))
        for passed in other.passed():
            waiting.append((one, passed))
        taken = one.takes()
        given = other.takes()
        if taken is not None and given is not None and _common(taken, given):
            waiting.append((one.after(), other.after()))
    return False


def _common(left: Piece, right: Piece) -> bool:
    if isinstance(left, str):
        return left == right if isinstance(right, str) else left in right
    return right in left if isinstance(right, str) else left.shared(right)


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
            return _State(self.space, self.piece, 1)
        if self.offset + 1 == len(piece):
            return _State(self.space, self.piece + 1, 0)
        return _State(self.space, self.piece, self.offset + 1)

    def passed(self) -> tuple[_State, ...]:
        """Where a slot that has a character already may go on to."""
        if self.ended or not self.offset:
            return ()
        if isinstance(self.space.pieces[self.piece], str):
            return ()
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
