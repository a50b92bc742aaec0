"""The systems that the demo runs: every package under `keyfold_systems` that can be served."""

from __future__ import annotations

import pkgutil
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migration
from keyfold.runtime import AsyncDb, Design
from keyfold_web.identity import Identity
from keyfold_web.service import Service

PACKAGE = "keyfold_systems"
PARTS = ("design", "service", "demo")
FORMER = "before"
"""The module of a system that has migrations to try."""


Use = Callable[[], Awaitable[object]]
"""One action of a user."""


@dataclass(frozen=True)
class FormerSystem:
    """A system before its migrations, on its own tables."""

    design: Design
    after: Design
    """The design after the migrations."""
    prefix: str
    migrations: Sequence[Migration]
    fill: Callable[[AsyncDb], Coroutine[Any, Any, int]]
    today: Callable[[AsyncDb], Use]
    """What users do meanwhile, through the old application."""
    tomorrow: Callable[[AsyncDb], Use]
    """The same through the application that follows the migrations."""

    @property
    def name(self) -> str:
        return self.design.name


@dataclass(frozen=True)
class System:
    """One system: its design, its service, and its data."""

    name: str
    title: str
    design: Design
    serve: Callable[[AsyncDb], Service]
    fill: Callable[[AsyncDb], Coroutine[Any, Any, int]]
    users: Sequence[Identity]
    example: str
    """The path of a query for the first user."""
    folder: Path
    """The directory of its package, document and workload."""
    before: FormerSystem | None = None
    prefix: str = ""

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]


def find_systems(package: str = PACKAGE) -> list[System]:
    """Every package with all parts, by name."""
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
            before=_former(name, design.design),
        )
    except AttributeError as missing:
        raise KeyfoldError(f"the system {name} has no {missing.name}; see {PACKAGE}") from None


def _former(name: str, after: Design) -> FormerSystem | None:
    """Its former design, if the package has one."""
    if not _exists(f"{name}.{FORMER}"):
        return None
    found = import_module(f"{name}.{FORMER}")
    return FormerSystem(
        found.design,
        after,
        found.PREFIX,
        found.migrations,
        found.fill,
        found.today,
        found.tomorrow,
    )
