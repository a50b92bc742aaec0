"""Where in the user's code a declaration stands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from keyfold.design.schema import Place

_OURS = f"{Path(__file__).resolve().parents[1]}{os.sep}"
_BETWEEN = ("abc", "annotationlib", "pydantic", "types", "typing", "typing_extensions")
"""Packages that stand between a declaration and its author."""


def caller() -> Place:
    """The innermost line that is neither keyfold's nor Pydantic's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if not name.startswith(_OURS) and package not in _BETWEEN and name != "<string>":
            return Place(name, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return Place()
