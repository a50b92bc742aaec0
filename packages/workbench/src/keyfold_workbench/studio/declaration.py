"""Where something is declared, and the lines that declare it."""

from __future__ import annotations

import inspect

from keyfold.design.schema import Place
from keyfold_workbench.studio.markup import Html, el
from keyfold_workbench.studio.notation import place_words
from keyfold_workbench.studio.parts import code
from keyfold_workbench.studio.system import StudioSystem


def declaration(system: StudioSystem, place: Place, name: str) -> Html | None:
    """The place of an entity or a pattern, which opens to its source where that can be read."""
    if not place.file:
        return None
    words = el("code", place_words(place))
    source = _source(system, name)
    return el("details", el("summary", words), code(source)) if source else words


def _source(system: StudioSystem, name: str) -> str:
    if system.design is None:
        return ""
    pattern = system.design.patterns.get(name)
    declared = pattern.function if pattern is not None else system.design.entities.get(name)
    try:
        return inspect.getsource(declared) if declared is not None else ""
    except (OSError, TypeError):
        return ""
