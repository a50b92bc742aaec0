"""Which items an export includes, and which attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold_engine.engine.read import key_range
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions import evaluate, keys, parameters
from keyfold_engine.expressions.ast import roots
from keyfold_engine.expressions.projection import compile_projection
from keyfold_engine.values import Item


class ExportFilter:
    """The FilterSpecification of an export, ready to be asked."""

    def __init__(self, specification: dict[str, Any], table: TableDefinition) -> None:
        self._schema = table.schema
        try:
            read = parameters.read(specification)
        except RequestInvalid as error:
            raise ValidationError(f"Invalid Request: {error.message}") from None
        self._range: tuple[bytes, bytes] | None = None
        if read.key_terms is not None:
            schema = table.schema
            chosen = keys.select(read.key_terms, schema.partition, schema.sort, schema.types)
            values = dict(zip(schema.partition, chosen.partition, strict=True))
            self._range = key_range(chosen, schema.partition_place(values))
            mentioned = set(roots(read.filter)) if read.filter is not None else set()
            for name in schema.attributes:
                if name in mentioned:
                    raise ValidationError(
                        "Invalid Request: Filter Expression can only contain non-primary key "
                        f"attributes: Primary key attribute: {name}"
                    )
        self._test = (
            None if read.filter is None else evaluate.compile_condition(read.filter, read.values)
        )
        self._shape: Callable[[Item], Item] | None = None
        if read.projection is not None:
            self._shape = compile_projection(read.projection)

    def takes(self, item: Item) -> bool:
        if self._range is not None:
            first, end = self._range
            if not first <= self._schema.place(item) < end:
                return False
        return self._test is None or self._test(item)

    def project(self, item: Item) -> Item:
        return item if self._shape is None else self._shape(item)
