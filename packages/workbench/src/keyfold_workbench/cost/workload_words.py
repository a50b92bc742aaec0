"""The words of a workload file: how each is read, and what a JSON Schema says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from keyfold.design.nodes import Node
from keyfold.prices import Prices
from keyfold_workbench.cost import numbers

Json = dict[str, Any]


@dataclass(frozen=True)
class WordKind:
    """The value of a word."""

    read: Callable[[Node], Any]
    schema: Json


FLAG = WordKind(numbers.flag, {"type": "boolean"})
NUMBER = WordKind(numbers.number, {"type": "number"})
AMOUNT = WordKind(numbers.amount, {"type": "number", "minimum": 0})
POSITIVE = WordKind(numbers.positive, {"type": "number", "exclusiveMinimum": 0})
BYTES = WordKind(numbers.whole, {"type": "integer", "minimum": 1})
SHARE = WordKind(numbers.share, {"type": "number", "minimum": 0, "maximum": 1})
HOUR = WordKind(numbers.hour, {"type": "number", "minimum": 0, "exclusiveMaximum": 24})
RATE = WordKind(
    numbers.rate,
    {"type": ["number", "string"], "description": "20 (a second), 300/hour, 5 a minute"},
)
SIZES = WordKind(
    numbers.sizes,
    {
        "type": "object",
        "patternProperties": {r"^p\d+(\.\d+)?$": BYTES.schema},
        "additionalProperties": False,
        "minProperties": 1,
        "description": "bytes by quantiles: {p50: 300, p90: 2000, p99: 12000}",
    },
)

Kinds = Mapping[str, WordKind]
CALLS: Kinds = {"rate": RATE, "peak": RATE}
COSTS: Kinds = {"stale_read": AMOUNT, "peak_factor": AMOUNT, "recovery": FLAG, "backups": AMOUNT}
STREAM: Kinds = {"workers": AMOUNT, "shards": AMOUNT, "poll": POSITIVE}
ENTITY: Kinds = {
    "items": AMOUNT,
    "bytes": BYTES,
    "sizes": SIZES,
    "growth": NUMBER,
    "copies": AMOUNT,
}
PATTERN: Kinds = {**CALLS, "page": AMOUNT, "partitions": AMOUNT}
WRITE: Kinds = {**CALLS, "each": AMOUNT, "once": FLAG}
CONSUMER: Kinds = {"events": AMOUNT, "share": SHARE}
FEED: Kinds = {**CALLS, "page": AMOUNT, "sources": AMOUNT, "followers": AMOUNT, "pushed": SHARE}
ARRIVAL: Kinds = {
    "peak_hour": HOUR,
    "trough": SHARE,
    "zones": POSITIVE,
    "growth": NUMBER,
}
BURST: Kinds = {
    "factor": POSITIVE,
    "seconds": POSITIVE,
    "day": AMOUNT,
    "hour": HOUR,
    "focus": SHARE,
}
PRICES = tuple(f.name for f in fields(Prices) if f.name not in ("region", "as_of"))


def readers(kinds: Kinds) -> numbers.Words:
    return {word: kind.read for word, kind in kinds.items()}


def schemas(kinds: Kinds) -> Json:
    return {word: kind.schema for word, kind in kinds.items()}
