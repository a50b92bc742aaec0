"""A design document as Markdown; pictures are files beside it."""

from __future__ import annotations

import re

from keyfold.review.docs.blocks import (
    Block,
    Code,
    Document,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Sentences,
)

_LINK = re.compile(r"\[([^\]]+)\]\(#[^)]+\)")
NOTE = "<!-- Written by keyfold docs. Change the design, then write it again. -->"


def markdown(document: Document, *, pictures: str, note: str = NOTE) -> str:
    """The text; pictures are looked for under the given folder."""
    lines = [note, "", f"# {document.title}", ""]
    if document.summary:
        lines += [document.summary, ""]
    for section in document.sections:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += [*_lines(block, pictures), ""]
    return "\n".join(lines).rstrip() + "\n"


def _lines(block: Block, pictures: str) -> list[str]:
    if isinstance(block, Paragraph):
        return [block.text]
    if isinstance(block, Heading):
        return [f"### {block.text}"]
    if isinstance(block, Sentences):
        return [f"- {_cell(sentence)}" for sentence in block.sentences]
    if isinstance(block, Code):
        return ["```text", block.text, "```"]
    if isinstance(block, Picture):
        shown = f"![{block.caption or block.name}]({pictures}/{block.name}.svg)"
        return [shown, "", f"*{block.caption}*"] if block.caption else [shown]
    return _table(block)


def _table(table: Grid) -> list[str]:
    rules = tuple("--:" if table.is_numeric(n) else "---" for n in range(len(table.head)))
    rows = [table.head, rules, *table.rows]
    return [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]


def _cell(text: str) -> str:
    # Markdown renderers differ in heading anchors, so internal links become text.
    text = _LINK.sub(r"\1", text)
    return text.replace("|", "\\|").replace("\n", " ")
