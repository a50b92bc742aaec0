"""The lines of user code that declarations come from, and findings accepted there."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where something is declared."""

    file: str = ""
    line: int = 0
    column: int = 0
    """Counts from 1; 0 if only the line is known."""

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}" if self.file else ""


NOWHERE = Place()


_SKIPPED = {"keyfold_engine", "keyfold", "keyfold_web", "keyfold_workbench"}
_SKIPPED |= {"abc", "annotationlib", "pydantic", "types", "typing", "typing_extensions"}
"""Packages whose frames are not the user's."""


def caller() -> Place:
    """The innermost line outside keyfold and Pydantic."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in _SKIPPED and name != "<string>":
            return Place(name, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return Place()


@dataclass(frozen=True)
class Silence:
    """A finding suppressed at this place."""

    code: str
    reason: str
    place: Place = field(default=NOWHERE, compare=False)
    """In a design file: where the code is written."""


@dataclass(frozen=True)
class Intent:
    """Something that looks like a mistake but is intended: what, and why."""

    what: str
    """The choice: shared key, hot partition, scan or filter."""
    reason: str


INTENTS: dict[str, tuple[str, ...]] = {
    "shared key": ("K4", "K5", "Q1", "Q2"),
    "hot partition": ("X8", "S2"),
    "scan": ("Q13",),
    "filter": ("Q14",),
}
"""What a design can declare as intended, and the rules that respect it."""
