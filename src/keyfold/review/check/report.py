"""What a review found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keyfold.design.schema import NOWHERE, Place

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """A problem with its rule's code, severity and place."""

    code: str
    name: str
    severity: Severity
    subject: str
    message: str
    suggestion: str
    place: Place = NOWHERE

    @property
    def link(self) -> str:
        """The rule's page in the documentation; `keyfold rule` prints the same."""
        return f"rules/{self.code}.html"

    @property
    def fingerprint(self) -> str:
        """What stays the same when lines move."""
        return f"{self.code} {self.subject}: {self.message}"


@dataclass(frozen=True)
class Silenced:
    """A finding that was accepted in place, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class Crash:
    """A rule that failed on this design; the others ran."""

    code: str
    error: str


@dataclass(frozen=True)
class Idle:
    """A silence that silences nothing."""

    code: str
    place: Place


@dataclass(frozen=True)
class Review:
    """What a review found."""

    design: str
    findings: tuple[Finding, ...]
    silenced: tuple[Silenced, ...] = ()
    crashes: tuple[Crash, ...] = ()
    idle: tuple[Idle, ...] = ()
    known: int = 0
    """Findings that a baseline holds, left out here."""

    def fails(self, at: Severity) -> bool:
        """Whether there is anything as severe as this, or a rule that failed."""
        grave = SEVERITIES[: SEVERITIES.index(at) + 1]
        return bool(self.crashes) or any(f.severity in grave for f in self.findings)

    def joined(self, other: Review) -> Review:
        """Both reports as one."""
        return Review(
            f"{self.design}, {other.design}",
            self.findings + other.findings,
            self.silenced + other.silenced,
            self.crashes + other.crashes,
            self.idle + other.idle,
        )
