"""Samples items from random places of the whole table, within a budget of read units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import orjson

from keyfold.errors import KeyfoldError
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import Walk, pages
from keyfold_engine.clients.protocol import Client
from keyfold_engine.values.size import item_size
from keyfold_workbench.adopt.value_format import Item

PAGE = 25
"""Items of one visit's page, so that one large partition does not fill the sample."""
JUMPS = 3
"""Pages further on in a partition that filled the first one."""
PATIENCE = 20
"""Visits in a row that find nothing new before a table counts as exhausted."""
LAST = "\U0010ffff"
"""No text begins with a higher character."""
_FIRST_WORD = re.compile(r"[A-Za-z]+[^A-Za-z0-9]")
UNIT_BYTES = 8192
"""The bytes of one eventually consistent read unit."""


@dataclass
class Sample:
    """The items read, and how.

    A table that the sample can hold is read from its beginning; a larger one from random keys.
    """

    table: str
    items: list[Item] = field(default_factory=list)
    visits: list[int] = field(default_factory=list)
    """The items that each visit to a random key found."""
    start: Any = None
    """Where reading from the beginning continues."""
    complete: bool = False
    """Whether the sample contains all items of the table."""
    units: float = 0.0

    def save(self, path: Path) -> None:
        """Save the sample, to be continued with `--more`."""
        told = {
            name: getattr(self, name) for name in ("table", "visits", "start", "complete", "units")
        }
        lines = [orjson.dumps({**told, "sample": FORMAT}), *map(orjson.dumps, self.items)]
        path.write_bytes(b"\n".join(lines) + b"\n")


FORMAT = 2


def is_saved(first_line: str) -> bool:
    """Whether a file that begins with this line is a saved sample."""
    return first_line.startswith('{"table":') and '"sample":' in first_line


def load(path: Path) -> Sample:
    """Load a saved sample."""
    try:
        head, *rows = path.read_bytes().splitlines()
        told = orjson.loads(head)
        if told.pop("sample") != FORMAT:
            raise ValueError(path)
        return Sample(**told, items=[orjson.loads(row) for row in rows])
    except FileNotFoundError:
        raise KeyfoldError(
            f"Not found: sample {path}. Run keyfold inspect with --sample-file first."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise KeyfoldError(f"{path} is not a sample file of keyfold inspect") from None


def read(
    client: Client,
    sample: Sample,
    wanted: int,
    *,
    units: float | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Sample:
    """Add up to `wanted` items, for at most about `units` read units."""
    described = client.call("DescribeTable", {"TableName": sample.table})["Table"]
    most = len(sample.items) + wanted
    reader = _Reader(client, sample, described, most, units, progress)
    if described.get("ItemCount", 0) <= most:
        reader.from_the_beginning()
    else:
        reader.from_random_keys(Random(f"{seed} {len(sample.items)}"))
    return sample


class _Reader:
    def __init__(
        self,
        client: Client,
        sample: Sample,
        described: Mapping[str, Any],
        most: int,
        units: float | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.client, self.sample, self.most, self.progress = client, sample, most, progress
        self.most_units = None if units is None else sample.units + units
        types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
        self.key = {one["AttributeName"]: types[one["AttributeName"]] for one in _keys(described)}
        self.partition, *sorts = self.key
        self.sort = sorts[0] if sorts else None
        self.known = {self._key_of(item) for item in sample.items}

    def _key_of(self, item: Item) -> str:
        return repr([item[name] for name in self.key])

    @property
    def is_done(self) -> bool:
        spent = self.most_units is not None and self.sample.units >= self.most_units
        return spent or len(self.sample.items) >= self.most

    def from_the_beginning(self) -> None:
        sample = self.sample
        while not sample.complete and not self.is_done:
            _, sample.start = self._page(sample.start)
            sample.complete = sample.start is None
        if sample.complete:
            sample.visits.clear()

    def from_random_keys(self, random: Random) -> None:
        """Every key is as likely as any other to be where a visit begins."""
        vain = 0
        while not self.is_done and vain < PATIENCE:
            new = self._visit(random)
            vain = 0 if new else vain + 1

    def _visit(self, random: Random) -> int:
        start: dict[str, Any] | None = self._random_key(random)
        new = 0
        for _ in range(1 + JUMPS):
            before = len(self.sample.items)
            found, position = self._page(start)
            new += len(self.sample.items) - before
            fills = found and found[0][self.partition] == found[-1][self.partition]
            if position is None or not fills or self.sort is None or self.is_done:
                break
            start = self._further(found[-1], random)
            if start is None:
                break
        self.sample.visits.append(new)
        return new

    def _random_key(self, random: Random) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, kind in self.key.items():
            number = random.getrandbits(120)
            made[name] = {kind: str(number)} if kind == "N" else {kind: _random_text(number)}
        return made

    def _further(self, last: Item, random: Random) -> dict[str, Any] | None:
        """A place further on in the partition: after all sort keys that begin alike, or after one
        that another partition has.
        """
        assert self.sort is not None
        kind = self.key[self.sort]
        end = str(last[self.sort][kind])
        known = [
            given
            for item in self.sample.items
            if _follows(given := str(item[self.sort][kind]), end, kind)
        ]
        word = _FIRST_WORD.match(end) if kind == "S" else None
        if word is not None and (not known or random.random() < 0.5):
            return {self.partition: last[self.partition], self.sort: {kind: f"{word[0]}{LAST}"}}
        if not known:
            return None
        return {self.partition: last[self.partition], self.sort: {kind: random.choice(known)}}

    def _page(self, start: dict[str, Any] | None) -> tuple[list[Item], dict[str, Any] | None]:
        """One page of items, the new ones kept, and where it ended."""
        sample = self.sample
        request = {"TableName": sample.table, "ReturnConsumedCapacity": "TOTAL"}
        walk = Walk("Scan", request, start)
        answer = run_by(self.client.call, walk.next(min(PAGE, self.most - len(sample.items))))
        found = answer["Items"]
        for item in found:
            if (key := self._key_of(item)) not in self.known:
                self.known.add(key)
                sample.items.append(item)
        consumed = answer.get("ConsumedCapacity", {}).get("CapacityUnits")
        read = sum(map(item_size, found)) / UNIT_BYTES
        sample.units += read if consumed is None else consumed
        if self.progress is not None:
            self.progress(len(sample.items))
        return found, walk.position


def _keys(described: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(described["KeySchema"], key=lambda one: one["KeyType"] != "HASH")


def _random_text(number: int) -> str:
    """Text that is base64 of bytes as well."""
    return f"{number:032x}"


def _follows(given: str, end: str, kind: str) -> bool:
    return Decimal(given) > Decimal(end) if kind == "N" else given > end


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
