"""Names as a search spells them: without case, accents and surplus blanks."""

from __future__ import annotations

from typing import TypedDict
from unicodedata import combining, normalize


class Spelt(TypedDict):
    """A name with what finds it."""

    name: str
    initial: str | None
    found_as: str | None


def folded(name: str) -> str:
    """The name as it is looked up; # parts keys, and is no letter."""
    plain = "".join(one for one in normalize("NFKD", name.casefold()) if not combining(one))
    return " ".join(plain.replace("#", " ").split())


def spelt(name: str) -> Spelt:
    found_as = folded(name)
    return Spelt(name=name, initial=found_as[:1] or None, found_as=found_as or None)
