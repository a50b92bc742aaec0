"""A table of a design, as declared in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold.design import schema

if TYPE_CHECKING:
    from keyfold.design.design import Design
    from keyfold.design.entity import Entity


class Table:
    """A table; entities name it in their class line."""

    def __init__(self, design: Design, declared: schema.Table, *, camel: bool) -> None:
        self.design = design
        self.schema = declared
        self.camel = camel
        self.entities: list[type[Entity]] = []

    @property
    def name(self) -> str:
        return self.schema.name

    def __repr__(self) -> str:
        return f"Table({self.name!r})"
