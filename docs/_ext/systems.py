"""Writes a page for each of the systems, before each build: the document of its design, its cost,
advice, and what throttles first at 10^8 users."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold.review import docs


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    source = Path(app.srcdir)
    for name in names():
        page = source / "systems" / f"{name}.md"
        docs.write(docs.files(load_schema(f"keyfold_systems.{name}.design:design"), page))
        reports = [
            source / "advice" / f"{name}-cost.md",
            source / "advice" / f"{name}.md",
            source / "scale" / f"{name}.md",
        ]
        page.write_text("\n".join([page.read_text("utf-8"), *map(_section, reports)]), "utf-8")


def _section(report: Path) -> str:
    """A committed report as a section: headings one level deeper, pictures found from there."""
    text = report.read_text("utf-8").partition("-->\n\n")[2]
    text = re.sub("^#", "##", text, flags=re.MULTILINE)
    return re.sub(r"\]\(([^:)]+\.svg)\)", rf"](../{report.parent.name}/\1)", text)


def names() -> list[str]:
    folder = Path(keyfold_systems.__file__).parent
    return sorted(path.parent.name for path in folder.glob("*/design.py"))
