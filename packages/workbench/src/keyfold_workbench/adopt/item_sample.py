"""Samples items from the whole table within a budget of read units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import orjson

from keyfold_workbench.adopt.value_format import Item
from keyfold_engine.clients.protocol import Client
from keyfold.errors import KeyfoldError
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import Walk, pages
from keyfold_engine.values.size import item_size

PAGE = 25
"""Items per segment and visit, so that one large partition does not fill the sample."""
MOST_SEGMENTS = 200
UNIT_BYTES = 8192
"""The bytes of one eventually consistent read unit."""


@dataclass
class Sample:
    """The items read, and where each segment stopped."""

    table: str
    segments: int = 1
    items: list[Item] = field(default_factory=list)
    starts: dict[int, Any] = field(default_factory=dict)
    """Unfinished segments, each with the key to continue after."""
    units: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether the sample contains all items of the table."""
        return not self.starts

    def save(self, path: Path) -> None:
        """Save the sample, to be continued with `--more`."""
        told = {"table": self.table, "segments": self.segments, "units": self.units}
        starts = {str(segment): start for segment, start in self.starts.items()}
        lines = [orjson.dumps({**told, "starts": starts}), *map(orjson.dumps, self.items)]
        path.write_bytes(b"\n".join(lines) + b"\n")


def load(path: Path) -> Sample:
    """Load a saved sample."""
    try:
        head, *rows = path.read_bytes().splitlines()
        told = orjson.loads(head)
        starts = {int(segment): start for segment, start in told["starts"].items()}
        items = [orjson.loads(row) for row in rows]
        return Sample(told["table"], told["segments"], items, starts, told["units"])
    except FileNotFoundError:
        raise KeyfoldError(
            f"Not found: sample {path}. Run keyfold inspect with --sample-file first."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise KeyfoldError(f"{path} is not a sample file of keyfold inspect") from None


def begin(table: str, wanted: int) -> Sample:
    """An empty sample, with as many segments as the requested number of items needs."""
    segments = max(1, min(MOST_SEGMENTS, wanted // PAGE))
    return Sample(table, segments, starts=dict.fromkeys(range(segments)))


def read(
    client: Client,
    sample: Sample,
    wanted: int,
    *,
    units: float | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Sample:
    """Add up to `wanted` items, for at most about `units` read units.

    Segments are visited in random order, one page per visit, until all are read.
    """
    random = Random(seed)
    most = len(sample.items) + wanted
    spent_before = sample.units
    while sample.starts and len(sample.items) < most:
        order = list(sample.starts)
        random.shuffle(order)
        for segment in order:
            room = most - len(sample.items)
            if room <= 0 or (units is not None and sample.units - spent_before >= units):
                return sample
            _visit(client, sample, segment, min(PAGE, room))
            if progress is not None:
                progress(len(sample.items))
    return sample


def _visit(client: Client, sample: Sample, segment: int, limit: int) -> None:
    request: dict[str, Any] = {
        "TableName": sample.table,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if sample.segments > 1:
        request |= {"Segment": segment, "TotalSegments": sample.segments}
    walk = Walk("Scan", request, sample.starts[segment])
    answer = run_by(client.call, walk.next(limit))
    found = answer["Items"]
    sample.items += found
    consumed = answer.get("ConsumedCapacity", {}).get("CapacityUnits")
    sample.units += consumed if consumed is not None else sum(map(item_size, found)) / UNIT_BYTES
    if walk.ended:
        del sample.starts[segment]
    else:
        sample.starts[segment] = walk.position


def every(
    client: Client, table: str, progress: Callable[[int], None] | None = None
) -> Iterator[Item]:
    """All items of a table, page by page."""
    count = 0
    for page in pages(client.call, Walk("Scan", {"TableName": table})):
        yield from page["Items"]
        count += len(page["Items"])
        if progress is not None:
            progress(count)
