"""Pages of filtered queries: how much to request when a filter drops items.

A filter is applied after the limit, so a page of 10 can take any number of requests of 10. Here the
first request asks for slightly more than the page, the next for as many as the match rate so far
suggests, and the last for everything one request returns (1 MB). Items beyond the page are cut off,
and the cursor points behind the last item returned. A page that is still not full is returned
short, with a cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.design.schema import PAGE_REQUESTS
from keyfold.runtime.flow import Flow
from keyfold.runtime.walk import Walk

Item = dict[str, Any]

FIRST_READ = 25
"""Reading this many items costs about the same as reading a few."""


@dataclass
class QueryPage:
    """One page while it is being filled."""

    walk: Walk
    key: Sequence[str]
    """The attributes of a position: those of the index and of the table."""
    limit: int | None
    budget: int | None = None
    hidden: bool = False
    """Only expired items are filtered out; there are few where a sweep runs."""
    found: list[Item] = field(default_factory=list)
    looked_at: int = 0

    @property
    def filtered(self) -> bool:
        return "FilterExpression" in self.walk.request and self.limit is not None

    def fill(self) -> Flow[Item | None]:
        """Read until the page is full, the partition ends, or the requests are used up.

        Returns where the next page begins.
        """
        allowed = self.budget or PAGE_REQUESTS
        for turn in range(1, allowed + 1):
            yield from self.turn(self._size(turn, allowed))
            short = self.filtered or (self.walk.left_out and self.limit is not None)
            if self.walk.ended or self.is_full or not short:
                break
        while self.walk.left_out and not self.found and not self.walk.ended:
            yield from self.turn(self.limit, excused=True)
        if self.walk.left_out and self.found and not self.walk.ended:
            # A cursor names an item of this design: another's could be taken for one that was read.
            del self.found[self.limit or len(self.found) :]
            return {name: self.found[-1][name] for name in self.key}
        if self.limit is None or len(self.found) <= self.limit:
            return self.walk.position
        del self.found[self.limit :]
        return {name: self.found[-1][name] for name in self.key}

    def turn(self, size: int | None, *, excused: bool = False) -> Flow[None]:
        """One request."""
        answer = self.walk.take((yield self.walk.call(size, excused=excused)))
        self.found += answer["Items"]
        self.looked_at += answer.get("ScannedCount", len(answer["Items"]))

    @property
    def is_full(self) -> bool:
        return self.limit is not None and len(self.found) >= self.limit

    def _size(self, turn: int, allowed: int) -> int | None:
        if self.limit is None or not self.filtered:
            return self.limit
        if turn == 1 and (self.hidden or allowed > 1):
            some_more = self.limit + self.limit // 4 + 1
            return some_more if self.hidden else max(some_more, FIRST_READ)
        if turn == allowed:
            return None
        wanted, share = self.limit - len(self.found), len(self.found) / max(1, self.looked_at)
        return None if share == 0 else max(FIRST_READ, int(1.5 * wanted / share))
