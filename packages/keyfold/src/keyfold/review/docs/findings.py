"""The section on findings: the reviewer's, and those suppressed."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.review.check.report import SEVERITIES, Review
from keyfold.review.docs.blocks import Block, Grid, Paragraph


def findings(report: Review) -> Iterator[Block]:
    if not report.findings:
        yield Paragraph("The reviewer has nothing to report.")
    else:
        ordered = sorted(report.findings, key=lambda f: SEVERITIES.index(f.severity))
        yield Grid(
            ("Rule", "Severity", "Where", "What", "What to do"),
            tuple(
                (f.code, f.severity, f"**{f.subject}**", f.message, f.suggestion) for f in ordered
            ),
        )
    if report.silenced:
        yield Paragraph("Accepted on purpose:")
        yield Grid(
            ("Rule", "Where", "What", "Why it is accepted"),
            tuple(
                (s.finding.code, f"**{s.finding.subject}**", s.finding.message, s.reason)
                for s in report.silenced
            ),
        )
