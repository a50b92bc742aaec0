"""Dead letters: records whose effect failed permanently, kept with the reason until replayed.

A letter and the record's processed marker are written together, and a replay deletes the letter
together with the effect. So the effect happens at most once.
"""

from __future__ import annotations

import base64
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from keyfold.errors import AlreadyProcessed, NotFound, TableNotFound
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Marker
from keyfold.runtime.writes import commit
from keyfold.streams import support_table
from keyfold.streams.marker import marker
from keyfold_engine.limits import KB

DECODING: Final = "decoding"
"""The effect name for a record that could not be decoded."""

_RECORD_BYTES: Final = 300 * KB
_TRACEBACK_CHARACTERS: Final = 20_000


@dataclass(frozen=True)
class DeadLetter:
    """One record and one effect that failed."""

    id: str
    table: str
    effect: str
    event_id: str
    reason: str
    trace: str
    attempts: int
    at: float
    record: Mapping[str, Any] | None
    """The wire record; None if it was too large to keep."""


def _partition(context: Context) -> str:
    return f"DEAD#{context.design.name}"


@dataclass(frozen=True)
class Failure:
    """What failed, and why."""

    table: str
    wire: Mapping[str, Any]
    event_id: str
    effect: str
    problem: BaseException
    attempts: int = 1


def keep_failure(context: Context, failed: Failure) -> Flow[None]:
    """Store a failed record as a dead letter."""
    now = context.clock.now()
    packed = zlib.compress(orjson.dumps(failed.wire, default=str))
    sort = f"{int(now * 1000):013d}#{failed.event_id}#{failed.effect}"
    reason = f"{type(failed.problem).__name__}: {failed.problem}"
    item: dict[str, Any] = {
        **support_table.key(_partition(context), sort),
        "table": {"S": failed.table},
        "effect": {"S": failed.effect},
        "eventId": {"S": failed.event_id},
        "reason": {"S": reason[:_TRACEBACK_CHARACTERS]},
        "trace": {"S": _trace(failed.problem)},
        "attempts": {"N": str(failed.attempts)},
        "at": {"N": repr(now)},
    }
    if len(packed) <= _RECORD_BYTES:
        item["record"] = {"B": base64.b64encode(packed).decode()}
    letter = Marker(support_table.table_of(context.design), "Put", {"Item": item})
    try:
        done = marker(context, failed.event_id, failed.effect)
        yield from commit(context, [letter, done])
    except AlreadyProcessed:
        return


def letters(context: Context, limit: int | None = None) -> Flow[list[DeadLetter]]:
    """All dead letters, oldest first."""
    try:
        items = yield from support_table.partition(context, _partition(context), limit=limit)
    except TableNotFound:
        # No consumer has run yet.
        return []
    return [_read(item) for item in items]


def count(context: Context) -> Flow[int]:
    """The number of dead letters."""
    return (yield from support_table.count(context, _partition(context)))


def letter(context: Context, id: str) -> Flow[DeadLetter]:
    """One dead letter by its id."""
    try:
        item = yield from support_table.find(context, support_table.key(_partition(context), id))
    except TableNotFound:
        item = None
    if item is None:
        raise NotFound(f"dead letter {id} not found; `keyfold streams letters` shows all")
    return _read(item)


def drop(context: Context, id: str) -> Flow[bool]:
    """Delete a letter; returns False if it did not exist."""
    return (yield from support_table.delete(context, support_table.key(_partition(context), id)))


def removal(context: Context, id: str) -> Marker:
    """The deletion of the letter, for its effect's transaction."""
    return Marker(
        support_table.table_of(context.design),
        "Delete",
        {
            "Key": support_table.key(_partition(context), id),
            "ConditionExpression": "attribute_exists(PK)",
        },
        lambda _: AlreadyProcessed(f"the dead letter {id} was replayed or dropped in the meantime"),
    )


def _trace(problem: BaseException) -> str:
    text = "".join(traceback.format_exception(problem))
    return text[-_TRACEBACK_CHARACTERS:]


def _read(item: Mapping[str, Any]) -> DeadLetter:
    packed = item.get("record")
    return DeadLetter(
        id=item["SK"]["S"],
        table=item["table"]["S"],
        effect=item["effect"]["S"],
        event_id=item["eventId"]["S"],
        reason=item["reason"]["S"],
        trace=item["trace"]["S"],
        attempts=int(item["attempts"]["N"]),
        at=float(item["at"]["N"]),
        record=orjson.loads(zlib.decompress(base64.b64decode(packed["B"]))) if packed else None,
    )
