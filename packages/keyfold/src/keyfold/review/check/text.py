"""Findings for a terminal: grouped by file, aligned, with highlighted key templates."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from keyfold.review.check.page import unknown_rule
from keyfold.review.check.report import SEVERITIES, Finding, Review
from keyfold.review.check.rule import RULES
from keyfold.review.check.wording import counted

COLOURS = {
    "error": "31;1",
    "warning": "33;1",
    "note": "36",
    "question": "35",
    "quote": "1",
    "dim": "2",
    "ok": "32;1",
}
INDENT = 20


class Painter:
    """Colours, if enabled."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{COLOURS[kind]}m{text}\x1b[0m" if self.colour else text

    def quoted(self, text: str) -> str:
        if not self.colour:
            return text
        return re.sub(r"`([^`]+)`", lambda found: self("quote", found[1]), text)


def text(report: Review, *, colour: bool = False, width: int = 100, explain: bool = False) -> str:
    """The whole report; `explain` adds the examples."""
    paint = Painter(colour=colour)
    lines: list[str] = []
    ordered = sorted(report.defects, key=lambda f: (f.place.file, f.place.line))
    for file, group in groupby(ordered, key=lambda finding: finding.place.file):
        lines += [paint("quote", shown_path(file) or report.design), ""]
        for finding in group:
            lines += [*_finding(finding, paint, width, explain=explain), ""]
    lines += _questions(report, paint, width, explain=explain)
    for crash in report.crashes:
        lines += [paint("error", f"Rule {crash.code} failed: {crash.error}"), ""]
    for idle in report.idle:
        where = str(replace(idle.place, file=shown_path(idle.place.file)))
        if idle.unknown:
            lines += [paint("error", f"{where}: {unknown_rule(idle.code, RULES)}"), ""]
        else:
            lines += [paint("dim", f"{where}: Unused suppression: {idle.code}."), ""]
    lines.append(_summary(report, paint))
    return "\n".join(lines)


def _questions(report: Review, paint: Painter, width: int, *, explain: bool) -> Iterator[str]:
    """What the design does not say, as one list for its author."""
    if not report.questions:
        return
    yield paint("quote", "Questions for the author")
    yield ""
    for number, finding in enumerate(report.questions, 1):
        head = f"{number:>4}. {paint('note', f'{finding.code:<4}')}"
        first, *rest = _wrap(f"{finding.subjects}: {finding.message}", width + INDENT - 11)
        yield head + paint.quoted(first)
        yield from (" " * 10 + line for line in _rest(finding, rest, paint, explain=explain))
    yield ""


def shown_path(file: str) -> str:
    """A path in its shortest form."""
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd()).as_posix()
    return file


def _finding(finding: Finding, paint: Painter, width: int, *, explain: bool) -> Iterator[str]:
    line = f"{finding.place.line or '':>5}"
    head = f"{paint('dim', line)}  {paint(finding.severity, f'{finding.severity:<7}')}  "
    code = f"{paint(finding.severity, f'{finding.code:<4}')} {finding.subjects}"
    yield f"{head}{code}  {paint('dim', finding.name)}"
    said = _wrap(finding.message, width)
    yield from (" " * INDENT + line for line in _rest(finding, said, paint, explain=explain))
    first, *others = _wrap(finding.suggestion, width - 2)
    yield " " * INDENT + paint("ok", "→ ") + paint.quoted(first)
    for part in others:
        yield " " * (INDENT + 2) + paint.quoted(part)


def _rest(finding: Finding, said: list[str], paint: Painter, *, explain: bool) -> Iterator[str]:
    """Lines of a message, and its example."""
    yield from map(paint.quoted, said)
    if explain and finding.example:
        shown = ("For example:", *(f"  {line}" for line in finding.example.lines()))
        yield from (paint("dim", paint.quoted(line)) for line in shown)


def _wrap(sentence: str, width: int) -> list[str]:
    room = max(30, width - INDENT)
    return textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False)


def _summary(report: Review, paint: Painter) -> str:
    silenced = f" {len(report.silenced)} accepted in place." if report.silenced else ""
    known = f" {report.known} in the baseline." if report.known else ""
    if not report.findings and not report.crashes:
        return paint("ok", f"{report.design}: nothing to report.") + silenced + known
    counts = Counter(finding.severity for finding in report.findings)
    found = [paint(one, counted(counts[one], one)) for one in SEVERITIES if counts[one]]
    shown = (*report.defects, *report.questions)
    known_rule = shown and shown[0].code in RULES
    hint = f" Run `keyfold rule {shown[0].code}` for details." if known_rule else ""
    return f"{report.design}: {', '.join(found) or 'a rule failed'}.{silenced}{known}{hint}"
