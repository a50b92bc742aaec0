"""Objects declared in an entity's class body, which attach themselves to the entity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from keyfold.design.source import caller

if TYPE_CHECKING:
    from keyfold.design.entity import Entity


class Declared(ABC):
    """A class-level declaration: it knows its name, its place and, once attached, its entity."""

    def __init__(self) -> None:
        self.name = ""
        self.place = caller()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @abstractmethod
    def attach(self, entity: type[Entity]) -> None:
        """Called once, when the entity's fields are known."""
