"""DynamoDB on SQLite, in process and as a server; and clients of any server with its API."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold_engine.clients import connect, connect_async
    from keyfold_engine.engine import Engine, Faults

__version__ = "0.1.0"
__all__ = ["Engine", "Faults", "connect", "connect_async", "expect_version"]

_HOMES = {"Engine": "engine", "Faults": "engine", "connect": "clients", "connect_async": "clients"}


def expect_version(part: str, version: str) -> None:
    """Refuse a part of keyfold whose version differs from this one."""
    if version != __version__:
        from keyfold_engine.errors import MixedVersions

        raise MixedVersions(
            f"{part} {version} and keyfold-engine {__version__} are installed together; give all "
            f"parts one version: pip install --upgrade {part} keyfold-engine"
        )


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
