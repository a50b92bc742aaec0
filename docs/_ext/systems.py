"""Writes a page for each of the systems, before each build: the document of its design."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold.review import docs


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "systems"
    for name in names():
        schema = load_schema(f"keyfold_systems.{name}.design:design")
        docs.write(schema, folder / f"{name}.md")


def names() -> list[str]:
    folder = Path(keyfold_systems.__file__).parent
    return sorted(path.parent.name for path in folder.glob("*/design.py"))
