"""Declaring: designs, tables, entities, keys, indexes, access patterns."""

from keyfold.design.design import Design
from keyfold.design.entity import Entity
from keyfold.design.ids import new_ulid, new_uuid
from keyfold.design.keys import Key, On, Ref
from keyfold.design.markers import (
    AtMost,
    Created,
    Id,
    Name,
    Normalised,
    Stored,
    Timestamp,
    Transient,
    Ttl,
    Updated,
    Version,
)
from keyfold.design.pattern import Pattern
from keyfold.design.read import (
    Collected,
    Collection,
    Count,
    Exists,
    First,
    Get,
    Merge,
    Page,
    Projected,
    Query,
    Read,
    collection,
    each,
    get,
    merge,
)
from keyfold.design.recorder import (
    begins_with,
    between,
    contains,
    exists,
    missing,
    not_,
    one_of,
)
from keyfold.design.schema import Index
from keyfold.design.table import Table

__all__ = [
    "AtMost",
    "Collected",
    "Collection",
    "Count",
    "Created",
    "Design",
    "Entity",
    "Exists",
    "First",
    "Get",
    "Id",
    "Index",
    "Key",
    "Merge",
    "Name",
    "Normalised",
    "On",
    "Page",
    "Pattern",
    "Projected",
    "Query",
    "Read",
    "Ref",
    "Stored",
    "Table",
    "Timestamp",
    "Transient",
    "Ttl",
    "Updated",
    "Version",
    "begins_with",
    "between",
    "collection",
    "contains",
    "each",
    "exists",
    "get",
    "merge",
    "missing",
    "new_ulid",
    "new_uuid",
    "not_",
    "one_of",
]
