"""Fixes: rewrites the text of a design file or declaration where no guess is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from keyfold.design.schema import Place
from keyfold.errors import DeclarationError
from keyfold.review.check.report import Fix


def fix_files(fixes: Iterable[tuple[Place, Fix]]) -> dict[Path, tuple[str, int]]:
    """The new text of each fixed file, and the number of fixes."""
    by_file: dict[Path, list[tuple[Place, Fix]]] = {}
    for place, fix in fixes:
        if place.file and place.line:
            by_file.setdefault(Path(place.file), []).append((place, fix))
    found: dict[Path, tuple[str, int]] = {}
    for path, own in by_file.items():
        text = path.read_text(encoding="utf-8")
        changed, made = apply_fixes(text, own)
        if made:
            found[path] = changed, made
    return found


def declaration_place(error: DeclarationError) -> Place | None:
    """Where a refused declaration is; its place begins with file and line."""
    found = re.match(r"(.+):(\d+)(?: |$)", error.place)
    return Place(found[1], int(found[2])) if found else None


def declaration_fixes(error: DeclarationError) -> tuple[tuple[Place, Fix], ...]:
    """The fix of a refused declaration, if it needs no decision."""
    place = declaration_place(error)
    return ((place, Fix(*error.fix)),) if place and error.fix else ()


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
            lines[start:end] = _split_into(after, end - start)
            made += 1
    return "".join(lines), made


def _split_into(text: str, count: int) -> list[str]:
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
