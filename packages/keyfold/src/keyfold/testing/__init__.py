"""For tests of a design: a fresh engine, a manual clock, index lag and faults on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.testing.sandbox import Sandbox

__all__ = ["Sandbox"]


def __getattr__(name: str) -> object:
    # pytest loads the plugin in every session; the rest is imported on use.
    if name == "Sandbox":
        from keyfold.testing.sandbox import Sandbox

        return Sandbox
    raise AttributeError(f"module 'keyfold.testing' has no attribute {name!r}")
