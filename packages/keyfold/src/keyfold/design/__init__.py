"""Declarations: designs, tables, entities, keys, indexes and access patterns."""

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.ids import new_ulid, new_uuid
from keyfold.design.item_collection import Collected, Collection, collection
from keyfold.design.keys import Key
from keyfold.design.markers import (
    AtMost,
    Created,
    Fixed,
    From,
    Id,
    InKey,
    Name,
    Normalised,
    RefersTo,
    Stored,
    Timestamp,
    Transient,
    Ttl,
    Unversioned,
    Updated,
    Version,
)
from keyfold.design.nearest import Nearest, Neighbour, nearest
from keyfold.design.pattern import Pattern
from keyfold.design.placement import On
from keyfold.design.query import Count, Exists, First, Projected, Query
from keyfold.design.query_merge import Merge, merge
from keyfold.design.read import (
    Get,
    GetMany,
    GetTogether,
    Page,
    Read,
    each,
    get,
    get_many,
    get_together,
)
from keyfold.design.recorder import (
    begins_with,
    between,
    contains,
    exists,
    missing,
    not_,
    one_of,
    size,
)
from keyfold.design.schema import Index
from keyfold.design.states import States
from keyfold.design.table import Table
from keyfold.design.vector import Vector

__all__ = [
    "AtMost",
    "Collected",
    "Collection",
    "Count",
    "Created",
    "Entity",
    "Exists",
    "First",
    "Fixed",
    "From",
    "Get",
    "GetMany",
    "GetTogether",
    "Id",
    "InKey",
    "Index",
    "Key",
    "Merge",
    "Name",
    "Nearest",
    "Neighbour",
    "Normalised",
    "On",
    "Page",
    "Pattern",
    "Projected",
    "Query",
    "Read",
    "Ref",
    "RefersTo",
    "States",
    "Stored",
    "Table",
    "Timestamp",
    "Transient",
    "Ttl",
    "Unversioned",
    "Updated",
    "Vector",
    "Version",
    "begins_with",
    "between",
    "collection",
    "contains",
    "each",
    "exists",
    "get",
    "get_many",
    "get_together",
    "merge",
    "missing",
    "nearest",
    "new_ulid",
    "new_uuid",
    "not_",
    "one_of",
    "size",
]
