"""What tests of a design need: a fresh engine, a clock that obeys, lag and faults on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.testing.sandbox import Sandbox

__all__ = ["Sandbox"]


def __getattr__(name: str) -> object:
    # pytest loads the plugin in every session; the rest is loaded by those who use it.
    if name == "Sandbox":
        from keyfold.testing.sandbox import Sandbox

        return Sandbox
    raise AttributeError(f"module 'keyfold.testing' has no attribute {name!r}")
