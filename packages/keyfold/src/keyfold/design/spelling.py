"""One spelling for what people type: names, handles, addresses of mail."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast
from unicodedata import category, normalize

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters without a picture that Unicode does not call formatting: fillers and joiners."""
_OF_TEXT = ("casefold", "lower", "upper", "strip", "title")
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def one_spelling(text: str) -> str:
    """The text as most people would read it, so that its spellings are one value.

    Compatibility forms are replaced (NFKC), letter case is folded, characters without a picture
    are dropped, and spaces are single. Letters of other alphabets that look alike stay apart.
    """
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    seen = "".join(letter for letter in folded if not _is_invisible(letter))
    spaced = " ".join(normalize("NFKC", seen).split())
    return spaced if spaced == text else one_spelling(spaced)


def normaliser(name: str) -> Callable[[str], str] | None:
    """The function of this name that a schema may name: this one, or one of `str`."""
    if name == one_spelling.__name__:
        return one_spelling
    return cast("Callable[[str], str]", getattr(str, name)) if name in _OF_TEXT else None


def _is_invisible(letter: str) -> bool:
    return (
        category(letter) == "Cf"
        or letter in _INVISIBLE
        or any(ord(letter) in one for one in _SELECTORS)
    )
