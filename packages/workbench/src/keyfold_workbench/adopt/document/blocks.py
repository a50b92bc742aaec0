"""A Markdown document as a flat list of blocks; each knows its headings, label and parent items."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

from markdown_it import MarkdownIt

from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document.notations import KEY_WORDS

MAX_BYTES = 2_000_000
_HALF_WIDTH = str.maketrans("\uff08\uff09\uff1a\uff0c\uff1d\uff0f\uff5c", "():,=/|")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_BOLD = re.compile(r"\*\*(.+?):?\*\*:?(?:\s*\([^)]*\))?:?")
_DECORATION = re.compile(r"[^\x00-\x7f\u00a1-\u1fff\u2010-\u2027\u2190-\u2193\u3040-\ud7ff]")


@dataclass(frozen=True)
class CellRow:
    """A row of a table: its line and its cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A heading, table, list item, paragraph or fence."""

    kind: Literal["heading", "table", "item", "text", "fence"]
    line: int
    text: str = ""
    path: tuple[str, ...] = ()
    """The headings above, outermost first."""
    label: str = ""
    """The line that introduces it, as **Keys:**."""
    parents: tuple[str, ...] = ()
    """The list items that contain it, outermost first."""
    rows: tuple[CellRow, ...] = ()
    info: str = ""
    """The language of a fence."""

    @property
    def lines(self) -> list[tuple[int, str]]:
        return list(enumerate(self.text.splitlines(), self.line))

    @property
    def above(self) -> tuple[str, ...]:
        """What introduces the block, nearest first; the document's title is left out."""
        return (*reversed(self.parents), self.label, *reversed(self.path[1:] or self.path))


@dataclass
class _Position:
    """Where in the document the next block is."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    """From the document's title on: an empty one, where several headings are as high."""
    parents: list[str] = field(default_factory=list)
    list_sizes: list[int] = field(default_factory=list)
    label: str = ""


MOST_SPACE = 50
"""Between two words of a line: patterns of ours try many ways to divide it."""
MOST_LETTERS = 5_000
"""In a line that is read: an image in base64 tells no keys."""
_MUCH_SPACE = re.compile(rf"[^\S\n]{{{MOST_SPACE},}}")
_LONG_LINE = re.compile(rf"[^\n]{{{MOST_LETTERS},}}")


def split(text: str) -> list[Block]:
    """The blocks of a document."""
    size = len(text.encode())
    if size > MAX_BYTES:
        raise KeyfoldError(
            f"The document has {size:,} bytes; {MAX_BYTES:,} is the most. "
            "Give the part that describes the tables."
        )
    # Only whole lines matter, so emphasis and links are not parsed: hostile ones cost nothing.
    text = _MUCH_SPACE.sub(" " * MOST_SPACE, text.translate(_HALF_WIDTH))
    text = _LONG_LINE.sub("", text)
    for words, english in KEY_WORDS:
        text = words.sub(partial(_in_english, english), text)
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(text)
    found: list[Block] = []
    heads = [token.tag for token in tokens if token.type == "heading_open"]
    titled = heads.count(min(heads, default="")) == 1
    at = _Position([] if titled else [(0, "")])
    rows: list[CellRow] = []
    cells: list[str] = []
    inside: Literal["", "table", "heading"] = ""
    level = row_line = 0
    for token in tokens:
        line = token.map[0] + 1 if token.map else row_line
        match token.type:
            case "heading_open":
                inside, level = "heading", int(token.tag[1])
                at.headings = [head for head in at.headings if head[0] < level]
                at.label = ""
            case "table_open":
                inside, rows = "table", []
            case "tr_open":
                cells, row_line = [], line
            case "tr_close":
                rows.append(CellRow(row_line, tuple(cells)))
            case "table_close":
                found.append(_block(at, "table", rows[0].line, rows=tuple(rows)))
                inside = ""
            case "bullet_list_open" | "ordered_list_open":
                at.list_sizes.append(0)
            case "bullet_list_close" | "ordered_list_close":
                if at.list_sizes.pop() == 1 and not at.parents and found[-1:] and _titles(found):
                    at.label = plain(found[-1].text)
            case "list_item_open":
                at.parents.append("")
                at.list_sizes[-1] += 1
            case "list_item_close":
                at.parents.pop()
            case "fence" | "code_block":
                start = line + (token.type == "fence")
                found.append(_block(at, "fence", start, token.content, info=token.info.strip()))
            case "hr":
                at.label = ""
            case "inline":
                content = _COMMENT.sub("", token.content).strip()
                if inside == "table":
                    cells.append(content)
                elif inside == "heading":
                    found.append(_block(at, "heading", line, content))
                    at.headings.append((level, plain(content)))
                    inside = ""
                elif at.parents:
                    first = not at.parents[-1]
                    at.parents[-1] = at.parents[-1] or content
                    above = at.parents[:-1] if first else at.parents
                    found.append(_block(at, "item", line, content, parents=tuple(above)))
                else:
                    found.append(_block(at, "text", line, content))
                    at.label = _label(content) or at.label
    return found


def _in_english(word: str, hit: re.Match[str]) -> str:
    """The English word, with a space where languages without spaces have none."""
    return word + " " * (hit.string[hit.end() : hit.end() + 1] > "\x7f")


def _block(
    at: _Position,
    kind: Literal["heading", "table", "item", "text", "fence"],
    line: int,
    text: str = "",
    *,
    rows: tuple[CellRow, ...] = (),
    info: str = "",
    parents: tuple[str, ...] | None = None,
) -> Block:
    path = tuple(text for _, text in at.headings)
    above = tuple(at.parents) if parents is None else parents
    return Block(kind, line, text, path, at.label, above, rows, info)


def _titles(found: list[Block]) -> bool:
    """`1) Orders` before a list of its own: an item that is a title."""
    return found[-1].kind == "item" and len(found[-1].text) < 50 and "=" not in found[-1].text


def _label(text: str) -> str:
    """`**Personal trainer:**` or `Keys:` names what follows."""
    last = text.strip().splitlines()[-1].strip() if text.strip() else ""
    if bold := _BOLD.fullmatch(last):
        return plain(bold[1])
    before = text.strip().splitlines()[:-1]
    begun = bool(before) and not re.search(r"[.:;!?>)]\s*$", before[-1])  # the end of a sentence
    return plain(last[:-1]) if last.endswith(":") and len(last) < 60 and not begun else ""


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A text without marks of emphasis, code and links, and without pictures."""
    text = re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    return " ".join(_DECORATION.sub("", re.sub(r"[`*]|~~", "", text)).split())


def codes(text: str) -> list[str]:
    """The code spans of a text."""
    return [code.strip() for code in re.findall(r"`+([^`]+)`+", text)]
