"""Imports models of Python libraries: PynamoDB, dyntastic, pydynox, each with an adapter."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from keyfold_workbench.adopt.sources import dyntastic, pydynox, pynamodb
from keyfold_workbench.adopt.sources.material import Imported
from keyfold.design.target import importing
from keyfold.errors import KeyfoldError

Adapter = tuple[str, Callable[[Any], bool], Callable[[Any, Imported], None]]
ADAPTERS: tuple[Adapter, ...] = (
    ("pynamodb", pynamodb.is_model, pynamodb.read),
    ("dyntastic", dyntastic.is_model, dyntastic.read),
    ("pydynox", pydynox.is_model, pydynox.read),
)


def read(target: str) -> Imported:
    """The models of `package.module`, or the one of `package.module:Model`."""
    name, _, wanted = target.partition(":")
    with importing(target):
        module = import_module(name)
    found = Imported("Python models", target)
    for model in _classes(module, wanted, target):
        for library, is_model, take in ADAPTERS:
            if library in sys.modules and is_model(model):
                take(model, found)
                break
    if not found.entities:
        libraries = ", ".join(library for library, *_ in ADAPTERS)
        raise KeyfoldError(f"{target}: no model of {libraries} is declared there")
    return found


def _classes(module: ModuleType, wanted: str, target: str) -> Iterator[type]:
    if wanted:
        model = getattr(module, wanted, None)
        if not isinstance(model, type):
            raise KeyfoldError(f"{target}: {module.__name__} has no class {wanted!r}")
        yield model
        return
    yield from (
        each
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    )
