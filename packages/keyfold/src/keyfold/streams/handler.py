"""AWS Lambda: stream events, processed by the same code as in the local consumer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from keyfold.design.table import Table
from keyfold.errors import PlanError
from keyfold.runtime.db import Db
from keyfold.streams import outbox, support_table
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.lease import Renewals
from keyfold.streams.policy import TRANSIENT, Policy
from keyfold.streams.record_batch import process
from keyfold.streams.sinks import Sink
from keyfold.streams.turn import Turns

_TURN_SECONDS: Final = 30.0

Event = Mapping[str, Any]
Handler = Callable[[Event, object], dict[str, Any]]


def stream_handler(db: Db, policy: Policy | None = None, *, sinks: Sequence[Sink] = ()) -> Handler:
    """A handler for an event source mapping with `ReportBatchItemFailures`.

    The mapping keeps the stream position; markers, dead letters and events are in the support
    table, which an exported stack contains. Records that fail permanently become dead letters;
    those that failed because of the backend are reported, so that Lambda retries from there.
    Emitted events go to the sinks after each batch.
    """
    db.run(support_table.ensure(db.context), "streams")
    run = ReactionContext(db.context, db, policy or Policy())
    effects = Effects(db.context.design)
    turns = Turns(db.context, f"lambda-{uuid4().hex}", _TURN_SECONDS, Renewals(db.context.clock))
    by_name = {db.context.physical(t.schema): t for t in db.context.design.tables.values()}

    def handler(event: Event, _: object) -> dict[str, Any]:
        records: dict[str, list[Mapping[str, Any]]] = {}
        for record in _records(event):
            records.setdefault(_table_name(record), []).append(record)
        failed: set[str] = set()
        for name, batch in records.items():
            outcome = db.run(process(run, effects, _table(by_name, name), batch), "streams")
            failed.update(outcome.unresolved)
        _send(turns, db, sinks, run.policy)
        return {
            "batchItemFailures": [
                {"itemIdentifier": record["dynamodb"]["SequenceNumber"]}
                for record in event["Records"]
                if record.get("dynamodb", {}).get("SequenceNumber") in failed
            ]
        }

    return handler


def _send(turns: Turns, db: Db, sinks: Sequence[Sink], policy: Policy) -> None:
    """Empty the outbox; what a sink refuses now is sent with the next batch."""
    sent = len(sinks)
    try:
        while sent:
            sent = db.run(outbox.deliver(turns, sinks, policy), "streams").sent
    except TRANSIENT:
        return


def _records(event: Event) -> Sequence[Mapping[str, Any]]:
    found = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(found, list):
        held = ", ".join(event) if isinstance(event, Mapping) else type(event).__name__
        raise PlanError(f"this event is not from a DynamoDB stream (a list of Records): {held}")
    return found


def _table_name(record: Mapping[str, Any]) -> str:
    """`arn:aws:dynamodb:region:account:table/NAME/stream/LABEL`."""
    arn = str(record.get("eventSourceARN", ""))
    _, found, rest = arn.partition(":table/")
    if not found:
        raise PlanError(f"a record names no table in its eventSourceARN {arn!r}")
    return rest.partition("/")[0]


def _table(by_name: Mapping[str, Table], name: str) -> Table:
    found = by_name.get(name)
    if found is None:
        raise PlanError(
            f"records came from the table {name}, which the design does not have; it has "
            f"{', '.join(by_name)}"
        )
    return found
