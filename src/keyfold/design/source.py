"""Where a part of a design is declared, and what was accepted there on purpose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where something is declared."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""


NOWHERE = Place()


@dataclass(frozen=True)
class Silence:
    """A finding accepted on purpose at this place."""

    code: str
    reason: str
