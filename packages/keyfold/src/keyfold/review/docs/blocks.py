"""The parts of a design document, before they become Markdown or HTML.

Text is plain, with `code` between backticks and **strong** between asterisks.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Grid:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers, which are right-aligned."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(_is_figure(cell) for cell in cells)


def _is_figure(cell: str) -> bool:
    if cell in ("none", "under 1 ¢", "under 0.1%"):
        return True
    return cell[0] in "$0123456789<-+" and any(c.isdigit() for c in cell) and len(cell) < 24


@dataclass(frozen=True)
class Sentences:
    """Separate sentences, one below the other."""

    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Picture:
    """A diagram; `name` is its file beside a Markdown document."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    anchor: str


Block = Paragraph | Grid | Sentences | Code | Picture | Heading


@dataclass(frozen=True)
class Section:
    title: str
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    title: str
    summary: str
    sections: tuple[Section, ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Picture)
        )


def anchor(*words: str) -> str:
    """A name that can be used in a link."""
    text = "-".join(words).casefold()
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())
