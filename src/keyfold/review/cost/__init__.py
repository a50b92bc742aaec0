"""The cost of a design: a workload, the units of every read and write, and the bill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson

from keyfold.review.cost.bill import Bill
from keyfold.review.cost.tally import bill
from keyfold.review.cost.text import text
from keyfold.review.cost.workload import EntityLoad, PatternLoad, Workload, WriteLoad
from keyfold.review.cost.workload_file import load, loads
from keyfold.review.docs import with_pictures
from keyfold.review.docs.blocks import Document, Picture
from keyfold.review.docs.html import html
from keyfold.review.docs.markdown import markdown

Format = Literal["text", "json", "html", "markdown"]


NOTE = "Written by keyfold from the design and its workload."


def rendered(document: Document, data: dict[str, Any], format: Format) -> str:
    """A report in one of its formats."""
    if format == "json":
        return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"
    if format == "html":
        return html(document, footer=NOTE)
    if format == "markdown":
        return markdown(_without_pictures(document), pictures="", note=f"<!-- {NOTE} -->")
    return text(document)


def files(
    document: Document, data: dict[str, Any], format: Format, output: Path
) -> dict[Path, str]:
    """The files of a report; Markdown has its pictures in a folder beside it."""
    if format == "markdown":
        return with_pictures(document, output, f"<!-- {NOTE} -->")
    return {output: rendered(document, data, format)}


def _without_pictures(document: Document) -> Document:
    sections = tuple(
        replace(section, blocks=tuple(b for b in section.blocks if not isinstance(b, Picture)))
        for section in document.sections
    )
    return replace(document, sections=sections)


__all__ = [
    "Bill",
    "EntityLoad",
    "PatternLoad",
    "Workload",
    "WriteLoad",
    "bill",
    "files",
    "load",
    "loads",
    "rendered",
]
