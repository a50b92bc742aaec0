"""The templates of a key, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from keyfold.design.template import Slot, Template, template_text

T = TypeVar("T")


@dataclass(frozen=True)
class KeyTemplates:
    """The templates of a key: its partition and, if present, its sort attribute."""

    partition: Template
    sort: Template | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return self.partition.fields + (self.sort.fields if self.sort else ())

    @property
    def slots(self) -> Iterator[Slot]:
        yield from self.partition.slots
        yield from self.sort.slots if self.sort else ()

    @property
    def skeleton(self) -> tuple[str, ...]:
        """The fixed texts of the key, with a gap for each value."""
        return tuple(
            "".join("{}" if isinstance(part, Slot) else part.text for part in template.parts)
            for template in (self.partition, self.sort)
            if template is not None
        )

    @cached_property
    def sort_fields(self) -> tuple[str, ...]:
        """The fields that the sort key adds to the partition's, each once."""
        found = self.sort.fields if self.sort else ()
        known = {*self.partition.fields} - self.partition.buckets
        return tuple(dict.fromkeys(field for field in found if field not in known))

    def sorting(self, values: Mapping[str, T]) -> Mapping[str, T]:
        """The given values that the sort key contains; a bucket in the partition holds less."""
        hidden = self._hidden_fields
        if not hidden:
            return values
        return {name: value for name, value in values.items() if name not in hidden}

    @cached_property
    def _hidden_fields(self) -> frozenset[str]:
        return self.partition.buckets & {*self.sort_fields}

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """As a list of one or two texts."""
        texts = core_schema.list_schema(
            handler.generate_schema(Template), min_length=1, max_length=2
        )
        return core_schema.no_info_after_validator_function(
            lambda given: cls(*given),
            texts,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda key: [template_text(one) for one in (key.partition, key.sort) if one]
            ),
        )

    def __str__(self) -> str:
        return f"{self.partition} / {self.sort}" if self.sort else str(self.partition)
