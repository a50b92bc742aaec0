"""The result of a review."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from keyfold.design.schema import NOWHERE, Place
from keyfold.review.check.example import Example

Severity = Literal["error", "warning", "note", "question"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note", "question")
"""From most to least severe; a question is about what the design does not say."""

PAGES = (Path(__file__).parent / "pages").as_uri()
"""Where the rules' pages are, unless a project publishes them elsewhere."""


@dataclass(frozen=True)
class Fix:
    """A change of text that needs no guess, within the part at fault."""

    old: str
    new: str


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
    also: tuple[str, ...] = ()
    """Further subjects with the same cause."""
    example: Example | None = None
    fixes: tuple[tuple[Place, Fix], ...] = ()

    @property
    def link(self) -> str:
        """The rule's page in the documentation; `keyfold rule` prints the same."""
        return f"{PAGES}/{self.code}.md"

    @property
    def subjects(self) -> str:
        """All subjects: the first of those with one cause, and how many more."""
        more = len(self.also)
        return f"{self.subject} and {more} more" if more > 2 else ", ".join(self._subjects)

    @property
    def _subjects(self) -> tuple[str, ...]:
        return (self.subject, *self.also)

    @property
    def fingerprint(self) -> str:
        """Stable when lines move and words change: the rule and its subject."""
        return f"{self.code} {'; '.join(sorted(self._subjects))}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.fingerprint.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Silenced:
    """A suppressed finding, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class Crash:
    """A rule that failed on this design; the others ran."""

    code: str
    error: str


@dataclass(frozen=True)
class Idle:
    """An unused suppression; `unknown` if it names no rule."""

    code: str
    place: Place
    unknown: bool = False


@dataclass(frozen=True)
class Review:
    """What a review found."""

    design: str
    findings: tuple[Finding, ...]
    silenced: tuple[Silenced, ...] = ()
    crashes: tuple[Crash, ...] = ()
    idle: tuple[Idle, ...] = ()
    known: int = 0
    """Findings in the baseline, left out here."""

    @property
    def defects(self) -> tuple[Finding, ...]:
        """The findings about what the design says."""
        return tuple(f for f in self.findings if f.severity != "question")

    @property
    def questions(self) -> tuple[Finding, ...]:
        """What the design does not say."""
        return tuple(f for f in self.findings if f.severity == "question")

    def fails(self, at: Severity) -> bool:
        """Whether there is a finding of at least this severity, a failed rule or an unknown
        code.
        """
        grave = SEVERITIES[: SEVERITIES.index(at) + 1]
        broken = bool(self.crashes) or any(idle.unknown for idle in self.idle)
        return broken or any(f.severity in grave for f in self.findings)

    def join(self, other: Review) -> Review:
        """Both reports combined."""
        return replace(
            self,
            design=f"{self.design}, {other.design}",
            findings=self.findings + other.findings,
            silenced=self.silenced + other.silenced,
            crashes=self.crashes + other.crashes,
            idle=self.idle + other.idle,
        )
