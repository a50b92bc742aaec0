"""Tables and their indexes, as data."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from typing import Literal as Choice

from keyfold.design.key_templates import KeyTemplates
from keyfold.design.source import NOWHERE, Intent, Place, Silence
from keyfold.design.template import Template, apart
from keyfold.design.vector_index import VectorSchema

KeyType = Choice["S", "N", "B"]
Billing = Choice["PAY_PER_REQUEST", "PROVISIONED"]
StreamView = Choice["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"]


KeyNames = str | tuple[str, ...]
KeyTypes = KeyType | tuple[KeyType, ...]


class Keyed(ABC):
    """Something with a key: a partition key and possibly a sort key, of one or more attributes."""

    @property
    @abstractmethod
    def partition_types(self) -> dict[str, KeyType]:
        """The attributes of the partition key, each with its type."""

    @property
    @abstractmethod
    def sort_types(self) -> dict[str, KeyType]:
        """The attributes of the sort key, each with its type."""

    @cached_property
    def key_types(self) -> dict[str, KeyType]:
        return self.partition_types | self.sort_types

    @cached_property
    def key_attributes(self) -> tuple[str, ...]:
        return tuple(self.key_types)

    @property
    def partition_text(self) -> str:
        return ", ".join(self.partition_types)

    @property
    def sort_text(self) -> str:
        return ", ".join(self.sort_types)

    @property
    def key_text(self) -> str:
        """`country, city / opened, rent`."""
        return " / ".join(filter(None, (self.partition_text, self.sort_text)))

    def key_of(self, templates: Mapping[str, Template]) -> KeyTemplates:
        """The key made of these templates."""
        sides = ([templates[n] for n in names] for names in (self.partition_types, self.sort_types))
        return KeyTemplates(*(apart(side) for side in sides if side))

    def templates(self, key: KeyTemplates) -> Iterator[tuple[str, KeyType, Template]]:
        """Each key attribute that has a template, with its type."""
        sides = ((self.partition_types, key.partition), (self.sort_types, key.sort))
        for types, template in sides:
            given = template.attributes if template is not None else ()
            yield from ((name, types[name], one) for name, one in zip(types, given, strict=False))


@dataclass(frozen=True)
class Index(Keyed):
    """A secondary index of a table.

    A global index may have several partition and sort attributes: `Index("ByPlace", ("country",
    "city"), ("opened", "rent"), sort_type=("S", "N"))`.
    """

    name: str
    partition: KeyNames
    sort: KeyNames | None = None
    partition_type: KeyTypes = "S"
    sort_type: KeyTypes = "S"
    projection: Choice["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    included: tuple[str, ...] = ()
    local: bool = False
    sparse: bool | None = None
    """What the document claims; None if it claims nothing."""
    purpose: str = ""
    holds: str = ""
    """The allocation rule of this index: identifier, owner, alternative, ... or empty."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()

    def __post_init__(self) -> None:
        for name in ("partition", "sort", "partition_type", "sort_type"):
            given = getattr(self, name)
            if isinstance(given, list | tuple):
                same = len(given) == 1 or (name.endswith("type") and len(set(given)) == 1)
                object.__setattr__(self, name, given[0] if same else tuple(given))

    @cached_property
    def partition_types(self) -> dict[str, KeyType]:
        return _types(self.partition, self.partition_type)

    @cached_property
    def sort_types(self) -> dict[str, KeyType]:
        return {} if self.sort is None else _types(self.sort, self.sort_type)

    def entry(
        self, table_key: Iterable[str], item: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        """An item's entry, if it has one."""
        if item is None or not self.key_types.keys() <= item.keys():
            return None
        shown = {*table_key, *self.key_attributes, *self.included}
        return {n: v for n, v in item.items() if self.projection == "ALL" or n in shown}

    @property
    def has_several(self) -> bool:
        """Whether its partition or sort key has several attributes."""
        return isinstance(self.partition, tuple) or isinstance(self.sort, tuple)


def _types(names: KeyNames, types: KeyTypes) -> dict[str, KeyType]:
    several = (names,) if isinstance(names, str) else names
    kinds = (types,) * len(several) if isinstance(types, str) else types
    return dict(zip(several, kinds, strict=False))


@dataclass(frozen=True)
class TableSchema(Keyed):
    """A table with its key attributes and indexes."""

    name: str
    partition: str = "PK"
    sort: str | None = "SK"
    partition_type: KeyType = "S"
    sort_type: KeyType = "S"
    indexes: tuple[Index, ...] = ()
    vectors: tuple[VectorSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    billing: Billing = "PAY_PER_REQUEST"
    type_attribute: str | None = "type"
    name_variable: str = ""
    """The environment variable that overrides the name."""
    prefixes: tuple[str, ...] = ()
    """The document's own list of key prefixes, if it has one."""
    needs: tuple[str, ...] = ()
    """Locks, markers or records that the document names for this table."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()

    def index(self, name: str) -> Index | None:
        return next((index for index in self.indexes if index.name == name), None)

    def vector(self, name: str) -> VectorSchema | None:
        return next((vector for vector in self.vectors if vector.name == name), None)

    def physical_name(self, prefix: str, names: Mapping[str, str]) -> str:
        """The entry in `names`, the environment variable, or the table's name with the prefix."""
        override = names.get(self.name)
        if override is None and self.name_variable:
            override = os.environ.get(self.name_variable)
        return override or f"{prefix}{self.name}"

    def address(self, item: Mapping[str, Any]) -> tuple[str, str]:
        """Where a stored item or its key lies: two spellings of one key are one address."""
        return self.name, repr([item[name] for name in self.key_attributes])

    @property
    def partition_types(self) -> dict[str, KeyType]:
        return {self.partition: self.partition_type}

    @property
    def sort_types(self) -> dict[str, KeyType]:
        return {} if self.sort is None else {self.sort: self.sort_type}
