"""Partitions read from new to old, side by side, each only as far as the page needs it.

`runtime.merged_partitions` is separate on purpose. Here a partition is a range of the table's sort
key. Its bounds are known before it is read and shrink while others are read, and they decide which
partitions are read at all. There a partition is any query: on an index, filtered, in either
direction, with sort values that may repeat. It resumes from a key, and has no bounds to shrink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.design.entity_spec import EntitySpec
from keyfold.design.template import HIGHEST
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow, Parallel
from keyfold.runtime.walk import position_of

Item = dict[str, Any]

CONCURRENCY = 16
MOST_AT_ONCE = 101


def backwards(context: Context, spec: EntitySpec) -> Item:
    """What reads of all partitions of an entity, newest first, have in common.

    They are eventually consistent, for half the price: what is a moment old is as good as a stream.
    """
    return {
        "TableName": context.physical(spec.table.schema),
        "KeyConditionExpression": "#p = :p AND #s BETWEEN :low AND :high",
        "ExpressionAttributeNames": {
            "#p": spec.table.schema.partition,
            "#s": spec.table.schema.sort,
        },
        "ScanIndexForward": False,
    }


@dataclass
class PartitionRead:
    """One partition, read from `bound` down to `oldest`, and at first no further than `floor`."""

    spec: EntitySpec
    request: Item
    partition: Item
    bound: str
    """All unread items are older than this."""
    floor: str
    oldest: str
    size: int
    exhausted: bool = False
    waiting: list[Item] = field(default_factory=list)

    @property
    def sort(self) -> str:
        return self.spec.key.attributes[1].attribute

    def next_call(self) -> Call:
        values = {
            ":p": self.partition,
            ":low": {"S": self.floor},
            ":high": {"S": _just_older(self.bound)},
        }
        request = {**self.request, "ExpressionAttributeValues": values, "Limit": self.size}
        return Call("Query", request)

    def take(self, answer: Item) -> None:
        self.waiting += filter(self.spec.home.holds, answer["Items"])
        last = position_of(answer)
        self.bound = self.floor if last is None else last[self.sort]["S"]
        if last is not None:
            self.size = min(self.size * 4, MOST_AT_ONCE)
        if self.bound <= self.floor:
            self.exhausted = self.bound <= self.oldest
            self.floor = self.oldest


@dataclass(frozen=True)
class PlacedItem:
    """An item with its position in time."""

    position: str
    stream: PartitionRead
    item: Item


def next_newest(streams: Sequence[PartitionRead], missing: int) -> Flow[list[PlacedItem]]:
    """The next items, newest first, that no unread item can precede; none at the end.

    A round of reads includes all partitions that this page needs anyway: those whose bound is among
    the newest missing positions.
    """
    while True:
        unread = [stream for stream in streams if not stream.exhausted]
        frontier = max((stream.bound for stream in unread), default="")
        found = [found for stream in streams for found in _certain(stream, frontier)]
        if found or not unread:
            return sorted(found, key=lambda one: one.position, reverse=True)
        cut = _position_at(streams, missing)
        batch = sorted((s for s in unread if s.bound >= cut), key=lambda s: s.bound, reverse=True)
        batch = batch[:CONCURRENCY]
        end = _end(streams, missing)
        for stream in batch:
            if end < stream.bound:
                stream.floor = max(stream.floor, end)
        answers = yield Parallel([stream.next_call() for stream in batch])
        for stream, answer in zip(batch, answers, strict=True):
            stream.take(answer)


def is_left(streams: Sequence[PartitionRead]) -> bool:
    """Whether there may be more to read."""
    return any(stream.waiting or not stream.exhausted for stream in streams)


def _certain(stream: PartitionRead, frontier: str) -> list[PlacedItem]:
    """Take what is at the frontier or newer."""
    sort, waiting = stream.sort, stream.waiting
    taken = [
        PlacedItem(item[sort]["S"], stream, item) for item in waiting if item[sort]["S"] >= frontier
    ]
    stream.waiting = waiting[len(taken) :]
    return taken


def _just_older(position: str) -> str:
    """The newest text that is older than a position."""
    return f"{position[:-1]}{chr(ord(position[-1]) - 1)}{HIGHEST}"


def _end(streams: Sequence[PartitionRead], missing: int) -> str:
    """The position where the page ends at the latest, by what is known; empty if unknown."""
    positions: list[str] = [item[s.sort]["S"] for s in streams for item in s.waiting]
    return sorted(positions, reverse=True)[missing - 1] if len(positions) >= missing else ""


def _position_at(streams: Sequence[PartitionRead], place: int) -> str:
    """The position at an index of the feed, as far as it is known."""
    positions: list[str] = [item[s.sort]["S"] for s in streams for item in s.waiting]
    positions += [s.bound for s in streams if not s.exhausted]
    return sorted(positions, reverse=True)[:place][-1]
