"""Growth: the cost of a request as the table or a partition grows, with a verdict for each row."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bench.cases.engine import plain_table
from bench.harness import Budget, Case, Outcome, Side, compare
from bench.items import PER_PARTITION, item, key
from keyfold_engine.engine import Engine

BATCHES_PER_COMMIT = 40
KEYS = 20_000
"""How many keys are asked for in turn, or all where there are fewer."""
WITHIN = 1.5
"""How far a measured growth may be from the one that it is called after."""


@dataclass(frozen=True)
class Curve:
    """Tables that differ only in how many items they hold; a page lies in one partition."""

    what: str
    sizes: list[int]
    key: Callable[[int], dict[str, Any]]
    page: int


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    more = [10**7] if budget.full else []
    table = Curve("the table", [10**3, 10**4, 10**5, 10**6, *more], key, PER_PARTITION)
    partition = Curve("one partition", [10, 10**3, 10**5, 10**6], _key_of_one_partition, 10)
    for curve in (table, partition):
        with ExitStack() as stack:
            yield from _measured(stack, budget, curve)


def verdict(sizes: list[int], times: list[float]) -> str:
    """How a time grows with the size, by the smallest and the largest one."""
    grown, size = times[-1] / times[0], sizes[-1] / sizes[0]
    if grown <= WITHIN:
        return "constant"
    if grown <= WITHIN * math.log(sizes[-1]) / math.log(sizes[0]):
        return "logarithmic"
    return "linear" if grown <= WITHIN * size else "worse"


def _measured(stack: ExitStack, budget: Budget, curve: Curve) -> Iterator[Outcome]:
    kinds: dict[str, list[Side]] = {"GetItem": [], "PutItem": [], f"Query of {curve.page}": []}
    for size in curve.sizes:
        engine = filled(stack, size, curve.key)
        numbers = random.Random(1).sample(range(size), min(size, KEYS))
        pages = [curve.key(n - n % curve.page) for n in numbers]
        for sides, operation, requests in zip(
            kinds.values(),
            ("GetItem", "PutItem", "Query"),
            (
                [_get(curve.key(n)) for n in numbers],
                [_put(_item(n, curve.key)) for n in numbers],
                [_query(first, curve.page) for first in pages],
            ),
            strict=True,
        ):
            bodies = itertools.cycle(list(map(orjson.dumps, requests)))
            sides.append(Side(f"keyfold, {size:,} items", _call(engine, operation, bodies)))
    for title, sides in kinds.items():
        outcome = compare(
            "growth", f"growth of {curve.what}, {title}", sides, budget, reference=sides[0].name
        )
        found = verdict(curve.sizes, [row.median for row in outcome.rows])
        outcome.figures["verdict"] = found
        outcome.goal, outcome.met = "constant or logarithmic", found in ("constant", "logarithmic")
        yield outcome


def _call(engine: Engine, operation: str, bodies: itertools.cycle[bytes]) -> Any:
    return lambda: engine.call_bytes(operation, next(bodies))


def filled(stack: ExitStack, size: int, key_of: Callable[[int], dict[str, Any]]) -> Engine:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    engine = stack.enter_context(Engine.open(str(folder / "growth.db"), durability="relaxed"))
    engine.call("CreateTable", plain_table())
    batches = (_batch(range(at, min(size, at + 25)), key_of) for at in range(0, size, 25))
    while together := list(itertools.islice(batches, BATCHES_PER_COMMIT)):
        engine.call_many_bytes(together)
    return engine


def _batch(numbers: range, key_of: Callable[[int], dict[str, Any]]) -> tuple[str, bytes]:
    puts = [{"PutRequest": {"Item": _item(n, key_of)}} for n in numbers]
    return "BatchWriteItem", orjson.dumps({"RequestItems": {"bench": puts}})


def _item(number: int, key_of: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    return {**item(number, 300, indexed=False), **key_of(number)}


def _key_of_one_partition(number: int) -> dict[str, Any]:
    return {"PK": {"S": "GROUP"}, "SK": {"S": f"ITEM#{number:08d}"}}


def _get(key: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "bench", "Key": key}


def _put(item: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "bench", "Item": item}


def _query(first: dict[str, Any], limit: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "KeyConditionExpression": "PK = :p AND SK >= :s",
        "ExpressionAttributeValues": {":p": first["PK"], ":s": first["SK"]},
        "Limit": limit,
    }


CASES = [Case("growth", "Growth", run)]
