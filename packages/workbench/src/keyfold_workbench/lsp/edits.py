"""What an editor changes in a text: fixes of a problem, a finding kept with a reason, new names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from keyfold.design.source import Place
from keyfold.review.check.fixes import apply_fixes
from keyfold.review.check.report import Fix
from keyfold_workbench.lsp.analysis import PREFIX, Analysis, TextProblem

REASON: Final = "say why it stays"
_MEANT: Final = re.compile(
    r"['`](?P<old>[^'`]+)['`].*?did you mean ['`]?(?P<new>[^'`?]+)['`]?\?", re.S
)


def fixed_texts(
    problem: TextProblem, text: str, fixes: Iterable[tuple[Place, Fix]]
) -> Iterator[tuple[str, str]]:
    """Titles of fixes, each with the whole text as it would be."""
    fixed, made = apply_fixes(text, fixes)
    if made:
        yield f"Fix {problem.code}", fixed
    meant = _MEANT.search(problem.message)
    if meant is not None and not made:
        lines = text.splitlines(keepends=True)
        at = min(problem.place.line, len(lines)) - 1
        line = _renamed(lines[at], meant["old"], meant["new"]) if lines else ""
        if lines and line != lines[at]:
            yield f"Change to {meant['new']}", "".join([*lines[:at], line, *lines[at + 1 :]])


def silenced_text(problem: TextProblem, text: str, known: Analysis) -> str | None:
    """A design file that keeps a finding, at the entity, pattern or table that it is about."""
    starts = [one.place.line for one in known.symbols if 0 < one.place.line <= problem.place.line]
    lines = text.splitlines(keepends=True)
    if not problem.code or not starts or max(starts) > len(lines):
        return None
    at = max(starts) - 1
    entry = f"silence: [{{code: {problem.code}, reason: {REASON}}}]"
    line = lines[at].rstrip("\n")
    if "silence:" in line:
        return None
    if line.rstrip().endswith("}"):
        lines[at] = f"{line.rstrip()[:-1]}, {entry}}}\n"
    elif line.rstrip().endswith(":"):
        inner = next((one for one in lines[at + 1 :] if one.strip()), "")
        indent = len(inner) - len(inner.lstrip())
        lines.insert(at + 1, f"{' ' * indent}{entry}\n")
    else:
        return None
    return "".join(lines)


def name_at(text: str, line: int, character: int, known: Analysis) -> tuple[int, str] | None:
    """The entity, pattern, field or prefix of a key at a position, and where it begins there."""
    lines = text.splitlines()
    if line >= len(lines):
        return None
    names = {*(one.name for one in known.symbols if one.kind != "table"), *known.fields}
    found = [*PREFIX.finditer(lines[line]), *_names(lines[line], names)]
    here = [one for one in found if one.start() <= character <= one.end()]
    longest = max(here, key=lambda one: len(one[0]), default=None)
    return None if longest is None else (longest.start(), longest[0])


def renamed_text(text: str, old: str, new: str) -> str:
    """A design file with another name: of what the whole file calls so."""
    return _renamed(text, old, f"{new.rstrip('#')}#" if old.endswith("#") else new)


def _names(line: str, names: Iterable[str]) -> Iterator[re.Match[str]]:
    for name in names:
        yield from re.finditer(rf"(?<![\w#]){re.escape(name)}(?!\w)", line)


def _renamed(text: str, old: str, new: str) -> str:
    after = "" if old.endswith("#") else r"(?!\w)"
    return re.sub(rf"(?<!\w){re.escape(old)}{after}", lambda _: new, text)
