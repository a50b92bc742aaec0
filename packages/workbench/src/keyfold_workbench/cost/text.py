"""A report on the terminal: titles, sentences and aligned columns."""

from __future__ import annotations

import textwrap

from keyfold.review.docs.blocks import Code, Document, Grid, Heading, Paragraph, Picture, Sentences

WIDTH = 96
_CELL = 44


def text(document: Document) -> str:
    lines = [document.title, "=" * len(document.title), "", *_wrap(document.summary), ""]
    for section in document.sections:
        lines += [section.title, "-" * len(section.title)]
        for block in section.blocks:
            if not isinstance(block, Picture):
                lines += [*_lines(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _wrap(sentence: str) -> list[str]:
    return textwrap.wrap(_bare(sentence), WIDTH, break_on_hyphens=False) or [""]


def _bare(words: str) -> str:
    return words.replace("`", "").replace("**", "")


def _lines(block: Paragraph | Grid | Sentences | Code | Heading) -> list[str]:
    if isinstance(block, Paragraph):
        return _wrap(block.text)
    if isinstance(block, Sentences):
        return [
            line
            for sentence in block.sentences
            for line in textwrap.wrap(
                _bare(sentence), WIDTH, initial_indent="- ", subsequent_indent="  "
            )
        ]
    if isinstance(block, Heading):
        return [block.text]
    if isinstance(block, Code):
        return [f"    {line}" for line in block.text.splitlines()]
    return _table(block)


def _table(table: Grid) -> list[str]:
    rows = [table.head, *table.rows]
    widest = _CELL if len(table.head) > 1 else WIDTH
    cells = [[textwrap.wrap(_bare(cell), widest) or [""] for cell in row] for row in rows]
    widths = [
        max(len(line) for row in cells for line in row[column]) for column in range(len(table.head))
    ]
    right = [table.is_numeric(column) for column in range(len(table.head))]
    out = []
    for place, row in enumerate(cells):
        for line in range(max(len(cell) for cell in row)):
            parts = [cell[line] if line < len(cell) else "" for cell in row]
            shown = [
                part.rjust(width) if number else part.ljust(width)
                for part, width, number in zip(parts, widths, right, strict=True)
            ]
            out.append("  ".join(shown).rstrip())
        if not place:
            out.append("  ".join("-" * width for width in widths))
    return out
