"""Partitions read from new to old, side by side, each only as far as the page needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.design.entity import EntitySpec
from keyfold.runtime.flow import Call, Flow, Parallel

Item = dict[str, Any]

CONCURRENCY = 16
MOST_AT_ONCE = 101


@dataclass
class Stream:
    """One partition; `request` reads it backwards."""

    spec: EntitySpec
    request: Item
    bound: str
    """All unread items are older than this."""
    size: int
    exhausted: bool = False
    waiting: list[Item] = field(default_factory=list)

    @property
    def sort(self) -> str:
        return self.spec.key.attributes[1].attribute

    def next_call(self) -> Call:
        return Call("Query", {**self.request, "Limit": self.size})

    def take(self, answer: Item) -> None:
        self.waiting += answer["Items"]
        last = answer.get("LastEvaluatedKey")
        self.exhausted = last is None
        self.size = min(self.size * 4, MOST_AT_ONCE)
        if last is not None:
            self.request = {**self.request, "ExclusiveStartKey": last}
            self.bound = last[self.sort]["S"]


@dataclass(frozen=True)
class Found:
    """An item in its place in time."""

    position: str
    stream: Stream
    item: Item


def next_newest(streams: Sequence[Stream], missing: int) -> Flow[list[Found]]:
    """The next items, newest first, that no unread one can come before; none at the end.

    A round of reads takes along all streams that will be asked for this page anyway: those whose
    bound is among the newest so many positions that are missing.
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
        answers = yield Parallel([stream.next_call() for stream in batch])
        for stream, answer in zip(batch, answers, strict=True):
            stream.take(answer)


def is_left(streams: Sequence[Stream]) -> bool:
    """Whether there may be anything else to read."""
    return any(stream.waiting or not stream.exhausted for stream in streams)


def _certain(stream: Stream, frontier: str) -> list[Found]:
    """Take what is at the frontier or newer."""
    sort, waiting = stream.sort, stream.waiting
    taken = [
        Found(item[sort]["S"], stream, item) for item in waiting if item[sort]["S"] >= frontier
    ]
    stream.waiting = waiting[len(taken) :]
    return taken


def _position_at(streams: Sequence[Stream], place: int) -> str:
    """The position at a place in the feed, as far as it is known."""
    positions: list[str] = [item[s.sort]["S"] for s in streams for item in s.waiting]
    positions += [s.bound for s in streams if not s.exhausted]
    return sorted(positions, reverse=True)[:place][-1]
