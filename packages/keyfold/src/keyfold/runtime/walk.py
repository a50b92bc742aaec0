"""Going through a table: pages, unprocessed rests of batches, conflicting transactions.

Only this module looks at `LastEvaluatedKey` and unprocessed items, or resends a refused
transaction. Code with a client uses `pages`; flows use the rest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeVar

from keyfold.design.home import Home
from keyfold.errors import Throttled, TransactionCanceled, TransactionConflict
from keyfold.runtime.flow import Answer, Call, Flow, Pause, Send, run_by
from keyfold_engine.limits import BATCH_GET_ITEMS, BATCH_WRITE_ITEMS

T = TypeVar("T")
Item = dict[str, Any]

PASSING: Final = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
"""Cancellation reasons that a retry may not meet again."""

_ATTEMPTS: Final = 10
_LONGEST_PAUSE: Final = 5.0
_REFILLING: Final = 0.02
"""The first pause while capacity refills."""


@dataclass
class Walk:
    """A query or scan, page by page from a position."""

    operation: Literal["Query", "Scan"]
    request: Mapping[str, Any]
    position: Item | None = None
    """Where to continue; None at the beginning and at the end."""
    ended: bool = False
    mine: Callable[[Item], bool] | None = None
    """Which items count; others are a migration's copies of them."""
    left_out: int = 0

    def call(self, limit: int | None = None, *, excused: bool = False) -> Call:
        """The request for the next page."""
        request = dict(self.request)
        if limit is not None:
            request["Limit"] = limit
        if self.position is not None:
            request["ExclusiveStartKey"] = self.position
        return Call(self.operation, request, excused)

    def take(self, answer: Answer) -> Answer:
        """Record where the page that arrived ends."""
        self.position = position_of(answer)
        self.ended = self.position is None
        if self.mine is None:
            return answer
        items = list(filter(self.mine, answer["Items"]))
        self.left_out += len(answer["Items"]) - len(items)
        return {**answer, "Items": items}

    def next(self, limit: int | None = None) -> Flow[Answer]:
        return self.take((yield self.call(limit)))


def position_of(answer: Answer) -> Item | None:
    """Where the next page begins; None after the last one."""
    position: Item | None = answer.get("LastEvaluatedKey")
    return position


def walk_query(request: Mapping[str, Any], home: Home, position: Item | None = None) -> Walk:
    """A query of items whose primary key says which design wrote them."""
    return Walk("Query", request, position, mine=home.holds)


def all_items(request: Mapping[str, Any], most: int | None = None) -> Flow[list[Item]]:
    """The items of a query to its end, or up to a limit."""
    walk, found = Walk("Query", request), list[Item]()
    while not walk.ended and (most is None or len(found) < most):
        answer = yield from walk.next(None if most is None else most - len(found))
        found += answer["Items"]
    return found


def rest(walk: Walk, answer: Answer) -> Flow[list[Item]]:
    """The items of a page that arrived, and of the pages after it."""
    found: list[Item] = list(walk.take(answer)["Items"])
    while not walk.ended:
        found += (yield from walk.next())["Items"]
    return found


def count_items(request: Mapping[str, Any]) -> Flow[int]:
    """The number of items a query matches, without fetching them."""
    walk, found = Walk("Query", {**request, "Select": "COUNT"}), 0
    while not walk.ended:
        answer = yield from walk.next()
        found += int(answer["Count"])
    return found


def pages(send: Send, walk: Walk) -> Iterator[Answer]:
    """The pages, for code that has a client and no flow."""
    while not walk.ended:
        yield run_by(send, walk.next())


def get_batches(
    keys: Iterable[tuple[str, Item]], *, keys_alone: bool = False
) -> Flow[list[tuple[str, Item]]]:
    """The items at these keys, read consistently, unordered; missing items are left out."""
    found: list[tuple[str, Item]] = []
    for chunk in in_chunks(keys, BATCH_GET_ITEMS):
        requested: dict[str, Any] = {}
        for table, key in chunk:
            if table not in requested:
                requested[table] = {"Keys": [], "ConsistentRead": True}
                if keys_alone:
                    requested[table] |= _key_projection(list(key))
            requested[table]["Keys"].append(key)
        for answer in (yield from _until_processed("BatchGetItem", requested, "UnprocessedKeys")):
            for table, items in answer["Responses"].items():
                found += [(table, item) for item in items]
    return found


def write_batches(
    writes: Iterable[tuple[str, Item]], progress: Callable[[int], None] | None = None
) -> Flow[int]:
    """Puts and deletes in batches; returns how many."""
    done = 0
    for chunk in in_chunks(writes, BATCH_WRITE_ITEMS):
        requested: dict[str, list[Item]] = {}
        for table, write in chunk:
            requested.setdefault(table, []).append(write)
        yield from _until_processed("BatchWriteItem", requested, "UnprocessedItems")
        done += len(chunk)
        if progress is not None:
            progress(done)
    return done


def transact(operation: str, request: Mapping[str, Any]) -> Flow[Answer]:
    """A transaction, retried while it only conflicts with others in flight."""

    def once() -> Flow[Answer]:
        try:
            answer: Answer = yield Call(operation, request)
        except TransactionCanceled as cancelled:
            if is_passing(cancelled):
                raise TransactionConflict(cancelled.message) from cancelled
            raise
        return answer

    return retrying(once, TransactionConflict)


def is_passing(cancelled: TransactionCanceled) -> bool:
    """Whether only transactions in flight refused it."""
    return {reason.code for reason in cancelled.reasons} <= {"None", *PASSING}


def again_after(attempt: int, first: float = 0.002) -> Pause:
    """The pause before retry `attempt`: random, up to a bound that doubles."""
    return Pause(random.uniform(0, min(_LONGEST_PAUSE, first * 2**attempt)))


def retrying(
    start: Callable[[], Flow[T]],
    *problems: type[Exception],
    attempts: int = _ATTEMPTS,
    pause: Callable[[int], Pause] = again_after,
) -> Flow[T]:
    """Start a flow again while one of these problems ends it; the last attempt raises it."""
    for attempt in range(attempts - 1):
        try:
            return (yield from start())
        except problems:
            yield pause(attempt)
    return (yield from start())


def in_chunks(things: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(things)
    while chunk := list(islice(left, size)):
        yield chunk


def all_written() -> Answer:
    """BatchWriteItem's answer when nothing is left to send."""
    return {"UnprocessedItems": {}}


def _key_projection(key: Sequence[str]) -> Item:
    names = {f"#{place}": name for place, name in enumerate(key)}
    return {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}


def _until_processed(operation: str, requested: Item, unprocessed: str) -> Flow[list[Answer]]:
    """Resend the rest, with growing pauses, until nothing is left or nothing progresses."""
    answers: list[Answer] = []
    stuck, left = 0, _size(requested)
    while True:
        answer = yield Call(operation, {"RequestItems": requested})
        answers.append(answer)
        requested = answer.get(unprocessed) or {}
        if not requested:
            return answers
        stuck = stuck + 1 if _size(requested) >= left else 0
        left = _size(requested)
        if stuck == _ATTEMPTS:
            raise Throttled(f"{operation}: items were still unprocessed after {_ATTEMPTS} attempts")
        yield again_after(stuck, _REFILLING)


def _size(requested: Item) -> int:
    return sum(len(one["Keys"] if isinstance(one, dict) else one) for one in requested.values())
