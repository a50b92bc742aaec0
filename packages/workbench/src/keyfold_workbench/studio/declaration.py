"""Where something is declared, and the lines that declare it."""

from __future__ import annotations

import inspect
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

from keyfold.design.schema import Place, Schema
from keyfold.review.draft import names
from keyfold_workbench.studio.markup import Html, el
from keyfold_workbench.studio.notation import place_words
from keyfold_workbench.studio.parts import code
from keyfold_workbench.studio.system import StudioSystem


def declaration(system: StudioSystem, place: Place, name: str) -> Html | None:
    """The place of an entity or a pattern, which opens to its source where that can be read."""
    in_file = None if system.file is None else _place_in(system.file, name)
    place = in_file or place
    if not place.file:
        return None
    words = el("code", place_words(place))
    source = _part(Path(place.file), place.line) if in_file else _source(system, name)
    return el("details", el("summary", words), code(source)) if source else words


def _place_in(file: Schema, name: str) -> Place | None:
    """Where a design file declares what its Python calls so."""
    named = [(names.class_name(one.name), one.place) for one in file.entities]
    named += [(names.function(one.name), one.place) for one in file.access_patterns]
    return next((place for called, place in named if name == called), None)


def _part(path: Path, line: int) -> str:
    """The lines of a design file that declare what begins at a line: it, and what is indented."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[max(line - 1, 0) :]
    except (OSError, UnicodeDecodeError):
        return ""
    held = lines[:1]
    depth = _indent(lines[0]) if lines else 0
    held += takewhile(lambda one: not one.strip() or _indent(one) > depth, lines[1:])
    return dedent("\n".join(held)).rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _source(system: StudioSystem, name: str) -> str:
    if system.design is None:
        return ""
    pattern = system.design.patterns.get(name)
    declared = pattern.function if pattern is not None else system.design.entities.get(name)
    try:
        return inspect.getsource(declared) if declared is not None else ""
    except (OSError, TypeError):
        return ""
