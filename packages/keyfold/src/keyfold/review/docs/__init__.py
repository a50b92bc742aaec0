"""The design document, generated from the design: Markdown or HTML."""

from __future__ import annotations

from pathlib import Path

from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.review.docs.blocks import Document
from keyfold.review.docs.content import document, documents_by_table
from keyfold.review.docs.html import html
from keyfold.review.docs.markdown import markdown


def files(
    schema: Schema, target: Path, cost: str = "", *, by_table: bool = False
) -> dict[Path, str]:
    """The files that document a design: HTML, Markdown with its pictures, or a design file.

    `cost` is what it costs and on what assumption, in words. `by_table` gives each table a
    Markdown file of its own, in a folder beside the first.
    """
    if by_table:
        return _files_by_table(schema, target, cost)
    if target.suffix in (".yaml", ".yml"):
        return {target: _design_file(schema)}
    made = document(schema, cost)
    if target.suffix == ".html":
        return {target: html(made)}
    if target.suffix != ".md":
        raise KeyfoldError(f"{target}: give a file that ends in .md, .html or .yaml")
    return _with_pictures(made, target)


def _files_by_table(schema: Schema, target: Path, cost: str) -> dict[Path, str]:
    if target.suffix != ".md":
        raise KeyfoldError(f"{target}: --by-table writes Markdown; give a file that ends in .md")
    folder = target.with_suffix("")
    found: dict[Path, str] = {}
    for name, made in documents_by_table(schema, folder.name, cost).items():
        found |= _with_pictures(made, folder / f"{name}.md" if name else target)
    return found


def _with_pictures(made: Document, target: Path) -> dict[Path, str]:
    """A document as Markdown, with its pictures in a folder beside it."""
    named = target.with_suffix("")
    folder = named if named != target else target.with_name(f"{target.name}-pictures")
    pictures = {folder / f"{picture.name}.svg": picture.svg for picture in made.pictures}
    return {target: markdown(made, pictures=folder.name), **pictures}


def _design_file(schema: Schema) -> str:
    from keyfold.design.yaml_writer import dumps

    return dumps(schema)


def stale(made: dict[Path, str]) -> list[Path]:
    """Files that are missing or differ from the design."""
    return [
        path
        for path, text in made.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def write(made: dict[Path, str]) -> list[Path]:
    """Write the files of a document; returns the changed ones."""
    changed = stale(made)
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    return changed


__all__ = ["Document", "document", "files", "html", "markdown", "stale", "write"]
