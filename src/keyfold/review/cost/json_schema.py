"""A JSON Schema of workload files, with the names of a design if one is given.

It describes which words are allowed where and the type of each number. The reader of workload files
checks whether the numbers make sense together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keyfold.design.schema import Schema
from keyfold.prices import regions
from keyfold.review.cost.workload_file import PRICE_NAMES

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
NUMBER: Json = {"type": "number"}
AMOUNT: Json = {"type": "number", "minimum": 0}
POSITIVE: Json = {"type": "number", "exclusiveMinimum": 0}
BYTES: Json = {"type": "integer", "minimum": 1}
SIZES: Json = {
    "type": "object",
    "patternProperties": {r"^p\d+(\.\d+)?$": BYTES},
    "additionalProperties": False,
    "minProperties": 1,
    "description": "bytes by quantiles: {p50: 300, p90: 2000, p99: 12000}",
}
SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
HOUR: Json = {"type": "number", "minimum": 0, "exclusiveMaximum": 24}
RATE: Json = {"type": ["number", "string"], "description": "20 (a second), 300/hour, 5 a minute"}
NAMES: Json = {"type": "array", "items": TEXT}
_AT: Json = {"rate": RATE, "peak": RATE}


def workload_file_schema(schema: Schema | None = None) -> Json:
    """The JSON Schema of a workload file, of any design or of one."""
    patterns = schema.by_pattern if schema else None
    feeds = [feed.name for feed in schema.feeds] if schema else None
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keyfold workload file",
        **_record(
            {
                "$schema": TEXT,
                "design": {"const": schema.name} if schema and schema.name else TEXT,
                "region": {"enum": list(regions())},
                "prices": _record(dict.fromkeys(PRICE_NAMES, AMOUNT)),
                "stale_read": AMOUNT,
                "peak_factor": AMOUNT,
                "recovery": FLAG,
                "backups": AMOUNT,
                "stream": _record({"workers": AMOUNT, "shards": AMOUNT, "poll": POSITIVE}),
                "entities": _under_names(_entity(), schema.by_entity if schema else None),
                "patterns": _under_names(_pattern(), patterns),
                "writes": _under_names(_record({**_AT, "each": AMOUNT, "once": FLAG})),
                "consumers": _under_names(_consumer(patterns)),
                "feeds": _under_names(_feed(), feeds),
                "views": _under_names(_record({**_AT, "reads": _list(patterns)})),
                "users": POSITIVE,
                "arrival": _arrival(),
            }
        ),
    }


def _entity() -> Json:
    return _record(
        {
            "items": AMOUNT,
            "bytes": BYTES,
            "sizes": SIZES,
            "growth": NUMBER,
            "copies": AMOUNT,
            "attributes": _under_names(AMOUNT),
            "distinct": _under_names(AMOUNT),
            "hottest": _under_names(SHARE),
            "share": _under_names(SHARE),
        }
    )


def _pattern() -> Json:
    return _record({**_AT, "page": AMOUNT, "partitions": AMOUNT, "needs": NAMES})


def _consumer(patterns: Iterable[str] | None) -> Json:
    return _record({"reads": _list(patterns), "writes": NAMES, "events": AMOUNT, "share": SHARE})


def _feed() -> Json:
    amounts = dict.fromkeys(("page", "sources", "followers"), AMOUNT)
    return _record({**_AT, **amounts, "pushed": SHARE})


def _arrival() -> Json:
    burst = _record(
        {
            "calls": NAMES,
            "factor": POSITIVE,
            "seconds": POSITIVE,
            "day": AMOUNT,
            "hour": HOUR,
            "focus": SHARE,
            "on": NAMES,
        }
    )
    return _record(
        {
            "peak_hour": HOUR,
            "trough": SHARE,
            "zones": POSITIVE,
            "growth": NUMBER,
            "largest": SHARE,
            "zipf": _under_names(AMOUNT),
            "bursts": _under_names(burst),
        }
    )


def _record(words: Json) -> Json:
    return {"type": "object", "additionalProperties": False, "properties": words}


def _under_names(inner: Json, names: Iterable[str] | None = None) -> Json:
    """What stands under names: any, or those of a design."""
    if names is None:
        return {"type": "object", "additionalProperties": inner}
    return _record(dict.fromkeys(names, inner))


def _list(names: Iterable[str] | None) -> Json:
    return NAMES if names is None else {"type": "array", "items": {"enum": list(names)}}
