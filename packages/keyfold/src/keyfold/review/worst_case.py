"""The maximum number of requests of one call of an access pattern, and of bytes of an item."""

from __future__ import annotations

from keyfold.design.schema import PAGE_REQUESTS, PatternSchema, Schema

ASSUMED_BYTES = 1024
"""The assumed size of an item if the design gives none."""


def item_bytes(schema: Schema, names: tuple[str, ...]) -> int:
    """The bytes of the largest of these items."""
    sizes = [e.bytes or ASSUMED_BYTES for n in names if (e := schema.by_entity.get(n))]
    return max(sizes, default=ASSUMED_BYTES)


def most_requests(schema: Schema, pattern: PatternSchema) -> int | None:
    """The number; None if it is unbounded."""
    if pattern.kind == "get":
        return None if pattern.at_once == "batch" else 1
    if pattern.kind in ("count", "scan"):
        return None
    if pattern.kind in ("latest", "exists"):
        # Expired items are skipped, and do not count against the budget.
        return None if pattern.filter is not None else 1
    if pattern.kind == "merge":
        return None if pattern.filter is not None else partitions(pattern)
    sized = pattern.limit is not None or bool(pattern.limit_parameter)
    if sized and (pattern.filter is not None or _expires(schema, pattern)):
        return pattern.requests or PAGE_REQUESTS
    return 1


def partitions(pattern: PatternSchema) -> int | None:
    """How many partitions a merge reads at most."""
    return pattern.max_partitions if pattern.partitions else 1 + len(pattern.other_partitions)


def worst_case_sentence(schema: Schema, pattern: PatternSchema) -> str:
    """The worst case as a sentence."""
    most = most_requests(schema, pattern)
    if most == 1:
        return "One request a call."
    if most is not None:
        short = " A page that is not full by then is short." if pattern.kind != "merge" else ""
        return f"At most {most} requests a call.{short}"
    reason = {
        "get": "one for every 100 items",
        "count": "one for every megabyte of its partition",
        "scan": "one for every megabyte of the table",
        "merge": "one or more for every partition",
    }
    found = reason.get(pattern.kind, "until one passes the filter, at worst the whole partition")
    return f"No number of requests holds for every call: {found}."


def _expires(schema: Schema, pattern: PatternSchema) -> bool:
    found = (schema.by_entity.get(name) for name in pattern.entities)
    return pattern.kind == "query" and any(one is not None and one.ttl for one in found)
