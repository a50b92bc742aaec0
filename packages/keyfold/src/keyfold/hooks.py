"""What a distribution above brings to a command of this one: entry points `keyfold.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from keyfold.errors import KeyfoldError


def hook(name: str, purpose: str, distribution: str) -> Callable[..., Any]:
    """A function by its name; says what to install if nothing brings it."""
    found = optional_hook(name)
    if found is None:
        raise KeyfoldError(f"{purpose} needs {distribution}: pip install {distribution}")
    return found


def optional_hook(name: str) -> Callable[..., Any] | None:
    """A function by its name, if something brings it."""
    for point in entry_points(group="keyfold.hooks", name=name):
        found: Callable[..., Any] = point.load()
        return found
    return None
