"""Fixes: the text of a design file or declaration with what needs no guess put right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from keyfold.design.schema import Place
from keyfold.review.check.report import Fix, Review


def fix_files(report: Review) -> dict[Path, tuple[str, int]]:
    """The new text of each file that a report's fixes change, and how many were made."""
    by_file: dict[Path, list[tuple[Place, Fix]]] = {}
    for finding in report.findings:
        for place, fix in finding.fixes:
            if place.file and place.line:
                by_file.setdefault(Path(place.file), []).append((place, fix))
    found: dict[Path, tuple[str, int]] = {}
    for path, fixes in by_file.items():
        text = path.read_text(encoding="utf-8")
        changed, made = fixed(text, fixes)
        if made:
            found[path] = changed, made
    return found


def fixed(text: str, fixes: Iterable[tuple[Place, Fix]]) -> tuple[str, int]:
    """A text with its fixes, and how many were made: what is not there word for word stays."""
    lines = text.splitlines(keepends=True)
    made = 0
    for place, fix in dict.fromkeys(fixes):
        start, end = _block(lines, place.line - 1)
        before = "".join(lines[start:end])
        after = _replaced(before, fix)
        if after != before:
            # A fix never adds lines before others: the places of the rest stay.
            lines[start:end] = _as_many(after, end - start)
            made += 1
    return "".join(lines), made


def _as_many(text: str, count: int) -> list[str]:
    """A text as the same number of parts, so that later places keep their numbers."""
    lines = text.splitlines(keepends=True)
    return [*lines[: count - 1], "".join(lines[count - 1 :])]


def _block(lines: list[str], first: int) -> tuple[int, int]:
    """The lines of a part: the first, and all that follow and stand further in."""
    depth = _indent(lines[first])
    end = first + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    return first, end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _replaced(text: str, fix: Fix) -> str:
    for old, new in _spellings(fix):
        if old in text and not (old in new and new in text):
            return text.replace(old, new)
    return text


def _spellings(fix: Fix) -> list[tuple[str, str]]:
    """Fields as `{name}`, and as documents write them, `<name>`."""
    angled = tuple(re.sub(r"\{([^{}]*)\}", r"<\1>", side) for side in (fix.old, fix.new))
    return [(fix.old, fix.new), (angled[0], angled[1])]
