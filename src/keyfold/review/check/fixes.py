"""Fixes: rewrites the text of a design file or declaration where no guess is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from keyfold.design.schema import Place
from keyfold.review.check.report import Fix, Review


def fix_files(report: Review) -> dict[Path, tuple[str, int]]:
    """The new text of each fixed file, and the number of fixes."""
    by_file: dict[Path, list[tuple[Place, Fix]]] = {}
    for finding in report.findings:
        for place, fix in finding.fixes:
            if place.file and place.line:
                by_file.setdefault(Path(place.file), []).append((place, fix))
    found: dict[Path, tuple[str, int]] = {}
    for path, fixes in by_file.items():
        text = path.read_text(encoding="utf-8")
        changed, made = apply_fixes(text, fixes)
        if made:
            found[path] = changed, made
    return found


def apply_fixes(text: str, fixes: Iterable[tuple[Place, Fix]]) -> tuple[str, int]:
    """A text with its fixes, and how many were applied; text that does not match exactly stays."""
    lines = text.splitlines(keepends=True)
    made = 0
    for place, fix in dict.fromkeys(fixes):
        start, end = _block(lines, place.line - 1)
        before = "".join(lines[start:end])
        after = _replace(before, fix)
        if after != before:
            # A fix never inserts lines before others, so the remaining positions stay valid.
            lines[start:end] = _as_many(after, end - start)
            made += 1
    return "".join(lines), made


def _as_many(text: str, count: int) -> list[str]:
    """A text split into the same number of parts, so that later positions stay valid."""
    lines = text.splitlines(keepends=True)
    return [*lines[: count - 1], "".join(lines[count - 1 :])]


def _block(lines: list[str], first: int) -> tuple[int, int]:
    """The lines of a part: the first, and all that are indented below it."""
    depth = _indent(lines[first])
    end = first + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    return first, end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _replace(text: str, fix: Fix) -> str:
    for old, new in _spellings(fix):
        if old in text and not (old in new and new in text):
            return text.replace(old, new)
    return text


def _spellings(fix: Fix) -> list[tuple[str, str]]:
    """A field as `{name}` and as `<name>`."""
    angled = tuple(re.sub(r"\{([^{}]*)\}", r"<\1>", side) for side in (fix.old, fix.new))
    return [(fix.old, fix.new), (angled[0], angled[1])]
