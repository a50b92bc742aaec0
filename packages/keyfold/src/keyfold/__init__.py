"""keyfold: your DynamoDB design document, running."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from keyfold_engine import expect_version

if TYPE_CHECKING:
    from keyfold.design import (
        AtMost,
        Collected,
        Collection,
        Count,
        Created,
        Entity,
        Exists,
        First,
        Fixed,
        Get,
        GetMany,
        GetTogether,
        Id,
        Index,
        InKey,
        Key,
        Merge,
        Name,
        Normalised,
        On,
        Page,
        Projected,
        Query,
        Ref,
        RefersTo,
        States,
        Stored,
        Table,
        Timestamp,
        Transient,
        Ttl,
        Unversioned,
        Updated,
        Version,
        collection,
        each,
        get,
        get_many,
        get_together,
        merge,
        new_ulid,
        new_uuid,
    )
    from keyfold.maintain import (
        Copied,
        Counter,
        Pointer,
        Unique,
    )
    from keyfold.runtime import (
        AsyncDb,
        Db,
        Design,
        add,
        append,
        check,
        clear,
        create,
        delete,
        put,
        remove,
        set_if_absent,
        update,
        upsert,
    )

__version__ = "0.1.0"

__all__ = [
    "AsyncDb",
    "AtMost",
    "Collected",
    "Collection",
    "Copied",
    "Count",
    "Counter",
    "Created",
    "Db",
    "Design",
    "Entity",
    "Exists",
    "First",
    "Fixed",
    "Get",
    "GetMany",
    "GetTogether",
    "Id",
    "InKey",
    "Index",
    "Key",
    "Merge",
    "Name",
    "Normalised",
    "On",
    "Page",
    "Pointer",
    "Projected",
    "Query",
    "Ref",
    "RefersTo",
    "States",
    "Stored",
    "Table",
    "Timestamp",
    "Transient",
    "Ttl",
    "Unique",
    "Unversioned",
    "Updated",
    "Version",
    "add",
    "append",
    "check",
    "clear",
    "collection",
    "create",
    "delete",
    "each",
    "get",
    "get_many",
    "get_together",
    "merge",
    "new_ulid",
    "new_uuid",
    "put",
    "remove",
    "set_if_absent",
    "update",
    "upsert",
]

# The parts are imported when they are first named, so that commands which need only one of them,
# such as `keyfold serve`, start at once; a design without structures never needs the last one.
_PARTS = ("keyfold.design", "keyfold.runtime", "keyfold.maintain")

MODULES = {
    "keyfold.conditions": [
        "at",
        "begins_with",
        "between",
        "contains",
        "exists",
        "missing",
        "not_",
        "one_of",
        "size",
    ],
    "keyfold.feeds": ["Feed", "Flag", "Threshold"],
    "keyfold.fields": ["Codec", "ReadsAlso", "one_spelling"],
    "keyfold.structures": [
        "Average",
        "Cascade",
        "Edge",
        "Extreme",
        "From",
        "Latest",
        "Mirror",
        "Sharded",
        "across_shards",
        "total",
    ],
    "keyfold.vectors": ["Nearest", "Neighbour", "Vector", "nearest"],
}
"""What a design takes from other modules; a table, for asking the modules would import them."""


def __getattr__(name: str) -> object:
    if name in __all__:
        expect_version("keyfold", __version__)
        for part in _PARTS:
            module = import_module(part)
            if hasattr(module, name):
                value: object = getattr(module, name)
                globals()[name] = value
                return value
    for home, names in MODULES.items():
        if name in names:
            raise AttributeError(f"{name} is in {home}: write from {home} import {name}")
    raise AttributeError(f"module 'keyfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
