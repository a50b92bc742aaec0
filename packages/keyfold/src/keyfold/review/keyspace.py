"""Keys as sets of strings: what a template can render, what a condition can match.

A template is a small automaton (literals and runs of allowed characters). Two sets intersect if the
product of their automata accepts something; ranges compare the least and greatest members.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product, takewhile

from keyfold.design.schema import AttributeSchema
from keyfold.design.template import DELIMITER, HIGHEST, Literal, Slot, Template

LOWEST = "\x00"
_PLAINEST = "a0123456789bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:._+#%/@!\x01"
"""Characters for examples; the last one stands for all unusual ones."""
_LISTED = 0x7F
"""Character ranges up to this size are enumerated."""


@dataclass(frozen=True)
class Characters:
    """The characters that one slot may hold: only these, or all except those."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    once: bool = False
    """Exactly one of them; otherwise one or more."""

    def __contains__(self, character: str) -> bool:
        return character in self.only if self.only else character not in self.never

    def common(self, other: Characters) -> str:
        """A character of both, preferably a plain one; empty if they share none."""
        return next((one for one in _PLAINEST if one in self and one in other), "")

    @property
    def least(self) -> str:
        return min(self.only) if self.only else LOWEST

    @property
    def greatest(self) -> str:
        return max(self.only) if self.only else HIGHEST


def _from_to(low: str, high: str) -> Characters:
    """One character of a range."""
    if ord(high) <= _LISTED:
        return Characters(only=frozenset(map(chr, range(ord(low), ord(high) + 1))), once=True)
    return Characters(never=frozenset(map(chr, range(min(ord(low), _LISTED)))), once=True)


ANYTHING = Characters()
TEXT = Characters(never=frozenset(DELIMITER))
DIGITS = Characters(only=frozenset("0123456789"))
DIGIT = Characters(only=DIGITS.only, once=True)
UUID = Characters(only=frozenset("0123456789abcdefABCDEF-"))
NUMBER = Characters(only=frozenset("0123456789-."))
MOMENT = Characters(only=frozenset("0123456789-:.TZ+"))

Piece = str | Characters


@dataclass(frozen=True)
class Space:
    """A set of strings; `open` allows any suffix, as begins_with does."""

    pieces: tuple[Piece, ...]
    open: bool = False

    @cached_property
    def literal_prefix(self) -> str:
        return self.pieces[0] if self.pieces and isinstance(self.pieces[0], str) else ""

    @cached_property
    def least(self) -> str:
        """A lower bound of all members."""
        out = ""
        for piece in self.pieces:
            if not isinstance(piece, str):
                return out + piece.least
            out += piece
        return out

    @cached_property
    def greatest(self) -> str:
        """An upper bound of all members."""
        out = ""
        for piece in self.pieces:
            if not isinstance(piece, str):
                return out + piece.greatest + HIGHEST
            out += piece
        return out + HIGHEST if self.open else out

    @cached_property
    def characters(self) -> tuple[Piece, ...]:
        """The pieces, literals as single characters."""
        return tuple(one for p in self.pieces for one in (p if isinstance(p, str) else (p,)))

    def steps(self, at: int) -> Iterator[tuple[Piece, int]]:
        """What the next character can be at a position, and the position after it."""
        if at < len(self.characters):
            piece = self.characters[at]
            yield piece, at + 1
            if isinstance(piece, Characters) and not piece.once:
                yield piece, at
        elif self.open:
            yield ANYTHING, at

    def with_any_end(self) -> Space:
        return Space(self.pieces, open=True)

    def between(self, low: Space, high: Space) -> Space:
        """Strings that begin with a member of this set and lie between two others,
        approximately.
        """
        bounds = zip(low.least, high.greatest, strict=False)
        shared = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], bounds))
        first, last = low.least[len(shared) :], high.greatest[len(shared) :]
        ends = (_from_to(first[0], last[0]),) if first and last else ()
        return Space(_join((*self.pieces, *filter(None, [shared]), *ends)), open=True)


def characters(attribute: AttributeSchema | None, slot: Slot, *, bare: bool) -> Characters:
    """The characters of a slot, by its format or attribute; alone in a key it may hold all."""
    if slot.format.numeric or slot.format.shards or slot.format.name.endswith("f"):
        return DIGITS
    if slot.format.name.startswith("iso"):
        return MOMENT
    if attribute is not None and attribute.type in ("timestamp", "date"):
        return DIGITS if attribute.stored.startswith("epoch") else MOMENT
    if attribute is not None and attribute.type == "number":
        return NUMBER
    if attribute is not None and attribute.type == "id":
        return TEXT
    return ANYTHING if bare else TEXT


def spaces(template: Template, attributes: Mapping[str, AttributeSchema]) -> tuple[Space, ...]:
    """The sets that a template renders into: one, or one per value of a small enumeration."""
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
            # A time begins with a digit, which ranges compare first.
            timed = [DIGIT, MOMENT] if kind is MOMENT else [kind]
            found = [(*pieces, *([DIGIT] * _width(part) or timed)) for pieces in found]
    return tuple(Space(_join(pieces)) for pieces in found)


def with_slots_of(asked: Template, held: Template) -> Template | None:
    """A condition's template with the slots of a key: the caller passes what the key holds."""
    parts: list[Literal | Slot] = []
    for mine, theirs in zip(asked.parts, held.parts, strict=False):
        if isinstance(mine, Slot) and isinstance(theirs, Slot):
            parts.append(theirs)
        elif isinstance(mine, Literal) and isinstance(theirs, Literal):
            if not theirs.text.startswith(mine.text):
                return None
            parts.append(mine)
        else:
            return None
    return Template(tuple(parts)) if len(parts) == len(asked.parts) else None


def is_formless(space: Space) -> bool:
    """Whether a set is any text at all: an id or name alone in a key, without a stated form."""
    return all(isinstance(piece, Characters) and not piece.only for piece in space.pieces)


def _width(slot: Slot) -> int:
    """The fixed number of digits of a format; 0 if it varies."""
    padded = re.fullmatch(r"0(\d+)d", slot.format.name)
    return int(padded[1]) if padded else 0


def _choices(attribute: AttributeSchema | None) -> tuple[str, ...]:
    if attribute is None:
        return ()
    return ("false", "true") if attribute.type == "boolean" else attribute.values


def _like(looks: str) -> tuple[Piece, ...]:
    """`PROFILE#{uuid}`: the form of a value, as its document gives it."""
    parts = re.split(r"(\{[^{}]*\})", looks)
    kinds = {"{number}": DIGITS, "{uuid}": UUID}
    return tuple(kinds.get(part, TEXT) if part.startswith("{") else part for part in parts if part)


def _join(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
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


@lru_cache(maxsize=65536)
def _witness(left: Space, right: Space) -> str | None:
    seen: set[tuple[int, int]] = set()
    waiting = deque([(0, 0, "")])
    while waiting:
        one, other, text = waiting.popleft()
        if (one, other) in seen:
            continue
        seen.add((one, other))
        if one == len(left.characters) and other == len(right.characters):
            return text
        for (taken, after), (given, behind) in product(left.steps(one), right.steps(other)):
            if common := _common(taken, given):
                waiting.append((after, behind, text + common))
    return None


def _common(left: Piece, right: Piece) -> str:
    if isinstance(left, str):
        return left if right == left or (not isinstance(right, str) and left in right) else ""
    if isinstance(right, str):
        return right if right in left else ""
    return left.common(right)


@dataclass(frozen=True)
class Range:
    """The strings between two bounds; an absent bound is open."""

    low: str = ""
    high: str = ""

    def holds_some(self, space: Space) -> bool:
        if self.low and space.greatest < self.low:
            return False
        return not (self.high and space.least > self.high)
