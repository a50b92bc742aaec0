"""keyfold: your DynamoDB design document, running."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
        From,
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
        States,
        Stored,
        Table,
        Timestamp,
        Transient,
        Ttl,
        Updated,
        Version,
        begins_with,
        between,
        collection,
        contains,
        each,
        exists,
        get,
        get_many,
        get_together,
        merge,
        missing,
        new_ulid,
        new_uuid,
        not_,
        one_of,
    )
    from keyfold.maintain import (
        Average,
        Cascade,
        Copied,
        Counter,
        Edge,
        Extreme,
        Feed,
        Latest,
        Mirror,
        Pointer,
        Sharded,
        Unique,
        across_shards,
        total,
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
    )

__version__ = "0.1.0"

__all__ = [
    "AsyncDb",
    "AtMost",
    "Average",
    "Cascade",
    "Collected",
    "Collection",
    "Copied",
    "Count",
    "Counter",
    "Created",
    "Db",
    "Design",
    "Edge",
    "Entity",
    "Exists",
    "Extreme",
    "Feed",
    "First",
    "From",
    "Get",
    "GetMany",
    "GetTogether",
    "Id",
    "InKey",
    "Index",
    "Key",
    "Latest",
    "Merge",
    "Mirror",
    "Name",
    "Normalised",
    "On",
    "Page",
    "Pointer",
    "Projected",
    "Query",
    "Ref",
    "Sharded",
    "States",
    "Stored",
    "Table",
    "Timestamp",
    "Transient",
    "Ttl",
    "Unique",
    "Updated",
    "Version",
    "across_shards",
    "add",
    "append",
    "begins_with",
    "between",
    "check",
    "clear",
    "collection",
    "contains",
    "create",
    "delete",
    "each",
    "exists",
    "get",
    "get_many",
    "get_together",
    "merge",
    "missing",
    "new_ulid",
    "new_uuid",
    "not_",
    "one_of",
    "put",
    "remove",
    "set_if_absent",
    "total",
    "update",
]

# The parts are imported when they are first named, so that commands which need only one of them,
# such as `keyfold serve`, start at once.
_PARTS = ("keyfold.design", "keyfold.maintain", "keyfold.runtime")


def __getattr__(name: str) -> object:
    if name in __all__:
        for part in reversed(_PARTS):
            module = import_module(part)
            if name in module.__all__:
                value: object = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'keyfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
