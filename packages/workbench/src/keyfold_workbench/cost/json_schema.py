"""A JSON Schema of workload files, with the names of a design if one is given.

It describes which words are allowed where and the type of each number. The reader of workload files
checks whether the numbers make sense together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keyfold.design.schema import Schema
from keyfold.prices import regions
from keyfold_workbench.cost import workload_words as words
from keyfold_workbench.cost.workload_words import schemas

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
AMOUNT, SHARE = words.AMOUNT.schema, words.SHARE.schema
NAMES: Json = {"type": "array", "items": TEXT}


def workload_file_schema(schema: Schema | None = None) -> Json:
    """The JSON Schema of a workload file, of any design or of one."""
    patterns = schema.by_pattern if schema else None
    feeds = [feed.name for feed in schema.feeds] if schema else None
    by_name = dict.fromkeys(("attributes", "distinct"), _under_names(AMOUNT))
    by_name |= dict.fromkeys(("hottest", "share"), _under_names(SHARE))
    entity = _record({**schemas(words.ENTITY), **by_name})
    pattern = _record({**schemas(words.PATTERN), "needs": NAMES})
    consumer = {"reads": _list(patterns), "writes": NAMES, **schemas(words.CONSUMER)}
    burst = _record({"calls": NAMES, **schemas(words.BURST), "on": NAMES})
    popular = {"zipf": _under_names(AMOUNT), "bursts": _under_names(burst)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keyfold workload file",
        **_record(
            {
                "$schema": TEXT,
                "design": {"const": schema.name} if schema and schema.name else TEXT,
                "region": {"enum": list(regions())},
                "prices": _record(dict.fromkeys(words.PRICES, AMOUNT)),
                **schemas(words.COSTS),
                "stream": _record(schemas(words.STREAM)),
                "entities": _under_names(entity, schema.by_entity if schema else None),
                "patterns": _under_names(pattern, patterns),
                "writes": _under_names(_record(schemas(words.WRITE))),
                "consumers": _under_names(_record(consumer)),
                "feeds": _under_names(_record(schemas(words.FEED)), feeds),
                "users": words.POSITIVE.schema,
                "arrival": _record({**schemas(words.ARRIVAL), **popular}),
            }
        ),
    }


def _record(words: Json) -> Json:
    return {"type": "object", "additionalProperties": False, "properties": words}


def _under_names(inner: Json, names: Iterable[str] | None = None) -> Json:
    """The values under names: any, or those of a design."""
    if names is None:
        return {"type": "object", "additionalProperties": inner}
    return _record(dict.fromkeys(names, inner))


def _list(names: Iterable[str] | None) -> Json:
    return NAMES if names is None else {"type": "array", "items": {"enum": list(names)}}
