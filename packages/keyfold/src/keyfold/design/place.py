"""Finds the line of user code that a declaration comes from."""

from __future__ import annotations

import sys

from keyfold.design.schema import Place

_SKIPPED = {"keyfold_engine", "keyfold", "keyfold_web", "keyfold_workbench"}
_SKIPPED |= {"abc", "annotationlib", "pydantic", "types", "typing", "typing_extensions"}
"""Packages whose frames are not the user's."""


def caller() -> Place:
    """The innermost line outside keyfold and Pydantic."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in _SKIPPED and name != "<string>":
            return Place(name, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return Place()
