"""The systems that the demo runs: whatever package under `keyfold_systems` can be served."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from keyfold.api.identity import Identity
from keyfold.api.service import Service
from keyfold.errors import KeyfoldError
from keyfold.runtime import AsyncDb, Design

PACKAGE = "keyfold_systems"
PARTS = ("design", "service", "demo")


@dataclass(frozen=True)
class System:
    """One system: what it is, what serves it, and what fills its tables."""

    name: str
    title: str
    design: Design
    serve: Callable[[AsyncDb], Service]
    fill: Callable[[AsyncDb], Coroutine[Any, Any, int]]
    users: Sequence[Identity]
    example: str
    """The path of a query that the first user may ask."""
    folder: Path
    """Where its package is, with its document and its workload."""

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]


def find_systems(package: str = PACKAGE) -> list[System]:
    """Every package there that has all parts, by name."""
    names = [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]
    return [
        _load(f"{package}.{name}")
        for name in names
        if all(_exists(f"{package}.{name}.{part}") for part in PARTS)
    ]


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _load(name: str) -> System:
    design, service, demo = (import_module(f"{name}.{part}") for part in PARTS)
    title, _, _ = (import_module(name).__doc__ or name).partition("\n")
    try:
        return System(
            name=name.rpartition(".")[2],
            title=title.rstrip("."),
            design=design.design,
            serve=service.service,
            fill=demo.fill,
            users=[Identity.of(id, *groups, name=name) for id, name, groups in demo.USERS],
            example=getattr(demo, "TRY", "/openapi.json"),
            folder=Path(str(design.__file__)).parent,
        )
    except AttributeError as missing:
        raise KeyfoldError(f"the system {name} has no {missing.name}; see {PACKAGE}") from None
