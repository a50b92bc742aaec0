"""The definition of a vector index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keyfold_engine.values import Item
from keyfold_engine.values.size import attribute_size

if TYPE_CHECKING:
    from keyfold_engine.engine.tables import TableDefinition

FLOAT_BYTES = 4


class VectorIndex:
    """One vector index of a table, by its definition."""

    __slots__ = (
        "attribute", "attributes", "definition", "dimensions", "filters", "function", "hash",
        "name", "number", "types",
    )  # fmt: skip

    def __init__(
        self, definition: Mapping[str, Any], types: Mapping[str, str], keys: tuple[str, ...]
    ) -> None:
        self.definition = definition
        self.name: str = definition["IndexName"]
        self.number: int = definition["Number"]
        self.attribute: str = definition["VectorAttribute"]["AttributeName"]
        self.dimensions: int = definition["Dimensions"]
        self.function: str = definition["DistanceFunction"]
        schema = definition.get("SearchSchema") or ()
        roles = {each["AttributeName"]: each["SearchSchemaElementType"] for each in schema}
        self.hash = next((name for name, role in roles.items() if role == "HASH"), None)
        self.filters = tuple(name for name, role in roles.items() if role == "INLINE_FILTER")
        # The types of the schema's attributes.
        self.types = {name: types[name] for name in roles}
        # The projected attributes besides the vector; None stands for all.
        self.attributes: frozenset[str] | None = None
        projection = definition["Projection"]
        if projection["ProjectionType"] != "ALL":
            extra = projection.get("NonKeyAttributes") or ()
            self.attributes = frozenset((*keys, *roles, *extra)) - {self.attribute}

    @property
    def since(self) -> float | None:
        """When it was added to an existing table."""
        since: float | None = self.definition.get("Since")
        return since

    @property
    def is_filled(self) -> bool:
        """Whether existing items are in it."""
        return not self.definition.get("IsFilling")

    def saving(self, item: Item | None) -> int:
        """How many bytes smaller an item's vector is than its list."""
        value = None if item is None else item.get(self.attribute)
        elements = None if value is None else value.get("L")
        if value is None or elements is None or len(elements) != self.dimensions:
            return 0
        return attribute_size(value) - FLOAT_BYTES * self.dimensions

    def project(self, item: Item) -> Item:
        """The projected part of an item, without the vector."""
        shown = self.attributes
        if shown is None:
            return {name: value for name, value in item.items() if name != self.attribute}
        return {name: value for name, value in item.items() if name in shown}


def vector_indexes(table: TableDefinition) -> list[VectorIndex]:
    """The vector indexes of a table."""
    return [each for each in table.further_indexes if isinstance(each, VectorIndex)]
