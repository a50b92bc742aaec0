"""Finds the line of user code that a declaration comes from."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from keyfold.design.schema import Place

_OURS = f"{Path(__file__).resolve().parents[1]}{os.sep}"
_BETWEEN = ("abc", "annotationlib", "pydantic", "types", "typing", "typing_extensions")
"""Packages whose frames are skipped."""


def caller() -> Place:
    """The innermost line outside keyfold and Pydantic."""
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
