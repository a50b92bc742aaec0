"""Exports a design to the model formats of other tools."""

from __future__ import annotations

from collections.abc import Callable

from keyfold_workbench.adopt.exports import electrodb, workbench
from keyfold.design.schema import Schema

FORMATS: dict[str, Callable[[Schema], str]] = {
    "workbench": workbench.render,
    "electrodb": electrodb.render,
}
