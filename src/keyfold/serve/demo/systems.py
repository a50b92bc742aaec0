"""The systems that the demo runs: whatever package under `keyfold_systems` can be served."""

from __future__ import annotations

import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from keyfold.errors import KeyfoldError
from keyfold.runtime import AsyncDb, Design
from keyfold.serve.service import Service

PACKAGE = "keyfold_systems"


@dataclass(frozen=True)
class System:
    """One system: what it is, what serves it, and what fills its tables."""

    name: str
    title: str
    design: Design
    serve: Callable[[AsyncDb], Service]
    visitor: str
    """The user whom the printed examples act as."""
    example: str
    """The path of a query that the visitor may ask."""
    fill: Callable[[AsyncDb], Awaitable[None]]


def find_systems(package: str = PACKAGE) -> list[System]:
    """Every package there that has a service and demo data, by name."""
    folder = import_module(package).__path__
    return [
        _load(f"{package}.{module.name}")
        for module in pkgutil.iter_modules(folder)
        if module.ispkg
        and all(find_spec(f"{package}.{module.name}.{part}") for part in ("service", "demo"))
    ]


def _load(name: str) -> System:
    module, demo = import_module(f"{name}.service"), import_module(f"{name}.demo")
    services = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Service)
        and value.__module__ == module.__name__
    ]
    if len(services) != 1:
        raise KeyfoldError(f"{name}.service must have one Service, not {len(services)}")
    (service,) = services
    serve = cast("Callable[[AsyncDb], Service]", service)
    try:
        return System(
            service.name, demo.TITLE, service.design, serve, demo.VISITOR, demo.TRY, demo.fill
        )
    except AttributeError as missing:
        raise KeyfoldError(f"{name}.demo has no {missing.name}; see {PACKAGE}") from None
