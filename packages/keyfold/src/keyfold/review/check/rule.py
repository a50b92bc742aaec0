"""Rules and findings: a rule is a function of the facts, registered once under its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from keyfold.design.schema import Place, Placement, Silence
from keyfold.review.check.evidence import Evidence
from keyfold.review.check.reach import Reach
from keyfold.review.check.report import SEVERITIES as SEVERITIES
from keyfold.review.check.report import Fix as Fix
from keyfold.review.check.report import Severity


class Element(Protocol):
    """Any part of a design that a finding can concern."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> Place: ...

    @property
    def silences(self) -> tuple[Silence, ...]: ...


@dataclass(frozen=True)
class Defect:
    """What a rule found wrong with an element; `within` are its parents."""

    element: Element
    message: str
    suggestion: str
    within: tuple[Element, ...] = ()
    severity: Severity | None = None
    """If not the rule's own: `question` for what the design does not say."""
    cause: str = ""
    """Defects of one rule with one cause are one finding."""
    evidence: Evidence | None = None
    """A concrete example."""
    fix: Fix | None = None
    subject: str = ""
    """If not the element's name."""

    @property
    def about(self) -> str:
        """The subject: `Order`, or `Order on ByCustomer` for a placement."""
        if isinstance(self.element, Placement) and not self.subject:
            return f"{self.within[0].name} on {self.element.index}"
        return self.subject or self.element.name


Check = Callable[[Reach], Iterator[Defect]]


@dataclass(frozen=True)
class DesignRule:
    """A rule of the catalogue."""

    code: str
    name: str
    severity: Severity
    title: str
    check: Check

    @property
    def family(self) -> str:
        return self.code.rstrip("0123456789")

    @property
    def order(self) -> tuple[int, int]:
        return "KQXWSGMDL".index(self.family), int(self.code[len(self.family) :])


RULES: dict[str, DesignRule] = {}


def unknown_rule(code: str, known: Iterable[str]) -> str:
    """The message for an unknown code or name."""
    names = [*known]
    close = [one for one in names if one.casefold() == code.casefold()]
    close += get_close_matches(code, names, 1)
    hint = f"did you mean {close[0]!r}?" if close else "`keyfold rule` lists all of them"
    return f"unknown rule {code!r}; {hint}"


def rule(code: str, name: str, severity: Severity, title: str) -> Callable[[Check], Check]:
    """Register a rule."""

    def register(check: Check) -> Check:
        if code in RULES:
            raise ValueError(f"the rule {code} is registered twice")
        RULES[code] = DesignRule(code, name, severity, title, check)
        return check

    return register
