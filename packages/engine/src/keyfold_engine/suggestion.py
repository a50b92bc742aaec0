"""From a wrong name to the right one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that leads from a wrong name to the right one."""
    import difflib

    names = sorted(known)
    if not names:
        return "there are none here"
    close = difflib.get_close_matches(name, names, n=1)
    close += [one for one in names if len(name) > 2 and one.startswith(name)]
    if close:
        return f"did you mean {close[0]!r}?"
    return f"use one of {', '.join(names)}"
