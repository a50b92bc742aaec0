"""Redeclaration in a notebook: when a cell runs again, the last declaration counts."""

from __future__ import annotations

import builtins
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keyfold.design.declaration import Declared
from keyfold.design.markers import StructureMarker

if TYPE_CHECKING:
    from keyfold.design.design import Declarations
    from keyfold.design.entity import Entity


def is_interactive() -> bool:
    """Whether the program runs in a notebook or at a prompt."""
    return hasattr(builtins, "__IPYTHON__") or hasattr(sys, "ps1")


def forget(design: Declarations, old: type[Entity]) -> None:
    """Remove an entity from a design, with the maintainers of its structures.

    Structures of other entities that name it find the new class. A pointer refers to its class, so
    it is removed too, until its own cell runs again.
    """
    del design.entities[old.__name__]
    old.__table__.entities.remove(old)
    gone = [one for one in design.maintainers if _names(one, old)]
    design.drop(gone, [one for one in design.resolvers if _captures(one, old)])
    for copy in [one for one in design.entities.values() if _copies(one, old)]:
        forget(design, copy)
        warnings.warn(
            f"{copy.__name__} copies {old.__name__}, which was declared again: run its cell again",
            stacklevel=2,
        )
    said = [value for one in gone for value in vars(one).values()]
    for entity in design.entities.values():
        for name, field in entity.__spec__.fields.items():
            for mark in field.marks:
                if isinstance(mark, StructureMarker) and any(mark is value for value in said):
                    mark.attach_field(entity, name)
        for declared in vars(entity).values():
            if isinstance(declared, Declared) and any(declared is value for value in said):
                declared.attach(entity)


def _names(maintainer: Any, entity: type[Entity]) -> bool:
    return any(value is entity for value in vars(maintainer).values())


def _captures(resolver: Callable[..., object], entity: type[Entity]) -> bool:
    return any(cell.cell_contents is entity for cell in inspect.unwrap(resolver).__closure__ or ())


def _copies(entity: type[Entity], old: type[Entity]) -> bool:
    return getattr(getattr(entity, "__maintainer__", None), "source", None) is old
