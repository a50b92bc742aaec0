"""Public single-table designs, written up as data: what inspect is measured on.

Facts only (keys, attributes, indexes) after the documents that each module names; the items are
made here as plain dicts, so that nothing of keyfold's own encoding is in them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tests.unit.adopt.public.made import Public


def designs() -> list[Public]:
    """All of them, by name."""
    modules = [m.name for m in iter_modules(__path__) if m.name != "made"]
    return [import_module(f"{__name__}.{name}").design() for name in sorted(modules)]
