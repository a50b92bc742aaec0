"""Where a part of a design is declared, and what was accepted there on purpose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where something is declared."""

    file: str = ""
    line: int = 0
    column: int = 0
    """From 1; 0 where only the line is known."""

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}" if self.file else ""


NOWHERE = Place()


@dataclass(frozen=True)
class Silence:
    """A finding accepted on purpose at this place."""

    code: str
    reason: str


@dataclass(frozen=True)
class Intent:
    """Something that looks like a mistake and is the design: what, and why."""

    what: str
    """shared key, hot partition, scan or filter."""
    reason: str


INTENTS: dict[str, tuple[str, ...]] = {
    "shared key": ("K4", "K5", "Q1", "Q2"),
    "hot partition": ("X8", "S2"),
    "scan": ("Q13",),
    "filter": ("Q14",),
}
"""What a design can say is on purpose, and the rules that take it as an answer."""
