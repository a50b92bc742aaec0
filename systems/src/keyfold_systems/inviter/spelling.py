"""Names as a search spells them: without case, accents and surplus blanks."""

from __future__ import annotations

from typing import TypedDict
from unicodedata import combining, normalize

LONGEST = 100
"""One sign may be spelt with many letters, and a key holds 1024 bytes."""


class Spelt(TypedDict):
    """A name with what finds it."""

    name: str
    initial: str | None
    found_as: str | None


def folded(name: str) -> str:
    """The name as it is looked up; # parts keys, and is no letter."""
    letters = normalize("NFKD", name).casefold()
    plain = "".join(one for one in letters if not combining(one))
    return " ".join(plain.replace("#", " ").split())[:LONGEST]


def spelt(name: str) -> Spelt:
    found_as = folded(name)
    return Spelt(name=name, initial=found_as[:1] or None, found_as=found_as or None)
