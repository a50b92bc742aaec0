"""Proves that a new design serves what the old one served, with the reviewer's own reasoning."""

from __future__ import annotations

import re

from keyfold.design.schema import Schema
from keyfold.review.check import Finding, check

RULES = ("K1", "K2", "K3", "K4", "K5", "K7", "Q1", "Q2", "Q3", "Q5", "Q10", "S11", "X1")
"""Rules whose findings mean that a pattern is unserved or its answer wrong."""


class Proof:
    """Compares new designs with the one they replace."""

    def __init__(self, before: Schema) -> None:
        self.before = before
        self._known = {(f.code, f.subject) for f in check(before, select=RULES).findings}

    def against(self, after: Schema) -> list[Finding]:
        """The reviewer's findings for the new design that the old one does not have."""
        missing = set(self.before.by_pattern) - set(after.by_pattern)
        assert not missing, f"patterns are gone: {', '.join(sorted(missing))}"
        found = check(after, select=RULES)
        assert not found.crashes, f"a rule failed: {found.crashes[0].error}"
        return [f for f in found.findings if (f.code, f.subject) not in self._known]


def entities_concerned(finding: Finding, before: Schema) -> set[str]:
    """The entities whose choice caused a finding."""
    words = set(re.findall(r"\w+", f"{finding.subject} {finding.message}"))
    found = {entity.name for entity in before.entities if entity.name in words}
    copied = {
        entity.name
        for entity in before.entities
        if any(word.startswith(f"{entity.name}By") for word in words)
    }
    pattern = before.by_pattern.get(finding.subject)
    return found | copied | set(pattern.entities if pattern else ())
