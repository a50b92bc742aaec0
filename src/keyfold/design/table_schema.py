"""Tables and their indexes, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as Choice

from keyfold.design.replication import Replication
from keyfold.design.source import NOWHERE, Intent, Place, Silence
from keyfold.design.vector_index import VectorSchema

KeyType = Choice["S", "N", "B"]
Billing = Choice["PAY_PER_REQUEST", "PROVISIONED"]


@dataclass(frozen=True)
class Index:
    """A secondary index of a table."""

    name: str
    partition: str
    sort: str | None = None
    partition_type: KeyType = "S"
    sort_type: KeyType = "S"
    projection: Choice["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    included: tuple[str, ...] = ()
    local: bool = False
    sparse: bool | None = None
    """What the document claims; None where it claims nothing."""
    purpose: str = ""
    holds: str = ""
    """The allocation rule of this index: identifier, owner, alternative, ... or nothing."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()


@dataclass(frozen=True)
class TableSchema:
    """A table with its key attributes and indexes."""

    name: str
    partition: str = "PK"
    sort: str | None = "SK"
    partition_type: KeyType = "S"
    sort_type: KeyType = "S"
    indexes: tuple[Index, ...] = ()
    vectors: tuple[VectorSchema, ...] = ()
    replication: Replication | None = None
    ttl: str | None = None
    stream: str | None = None
    billing: Billing = "PAY_PER_REQUEST"
    type_attribute: str | None = "type"
    name_variable: str = ""
    """The environment variable that overrides the name."""
    prefixes: tuple[str, ...] = ()
    """The document's own list of key prefixes, where it has one."""
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

    @cached_property
    def key_attributes(self) -> tuple[str, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)
