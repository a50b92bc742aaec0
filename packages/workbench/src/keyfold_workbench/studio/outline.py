"""The plan of a write: what would be sent, what each item would be, and what it costs.

The write path itself makes the request, on a client that holds writes back. An engine in memory
with the items that are stored then carries it out, which gives the new items and the units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keyfold.design.schema import TableSchema
from keyfold.errors import AlreadyExists, ConditionFailed, TransactionCanceled, VersionConflict
from keyfold.runtime import Db, Design
from keyfold.runtime.intent import Intent
from keyfold.runtime.planned_write import PlannedWrite, plan_write, send_write
from keyfold_engine.clients import Client, connect
from keyfold_engine.clients.recorder import RecordedClient, SentRequest
from keyfold_engine.clock import ManualClock, SystemClock
from keyfold_workbench.studio.items import (
    Change,
    ItemReader,
    KnownItem,
    WireItem,
    differences,
    plain,
    value_text,
)
from keyfold_workbench.studio.system import StudioSystem

_PLACEHOLDER = re.compile(r"[#:]\w+")


@dataclass(frozen=True)
class OutlineStep:
    """One item of a write."""

    action: str
    table: TableSchema
    key: WireItem
    old: KnownItem | None
    new: KnownItem | None
    condition: str
    table_units: float
    index_units: float

    @property
    def units(self) -> float:
        return self.table_units + self.index_units

    @property
    def item(self) -> KnownItem | None:
        return self.new or self.old

    @property
    def changes(self) -> list[Change]:
        """Attributes with what they were and what they will be."""
        before, after = (one.wire if one else {} for one in (self.old, self.new))
        return differences(before, after, without=self.key)


@dataclass(frozen=True)
class WriteOutline:
    """Everything that one write would do."""

    planned: PlannedWrite
    steps: tuple[OutlineStep, ...] = ()
    at: float = 0.0
    """The time by which it was planned, in seconds since the epoch: what is sent says the same."""

    @property
    def table_units(self) -> float:
        return sum(step.table_units for step in self.steps)

    @property
    def index_units(self) -> float:
        return sum(step.index_units for step in self.steps)


def outline(
    system: StudioSystem, intents: Sequence[Intent], at: float | None = None
) -> WriteOutline:
    """What writing these would do, now or as it was planned. Nothing is sent."""
    client = RecordedClient(system.client)
    at = round(SystemClock().now(), 6) if at is None else at
    db = system.open(client, ManualClock(at))
    assert db is not None, "only a design that runs is written through"
    assert system.design is not None, "it has been opened"
    return replace(outline_on(db, client, system.design, system.reader, intents), at=at)


def outline_on(
    db: Db, client: RecordedClient, design: Design, reader: ItemReader, intents: Sequence[Intent]
) -> WriteOutline:
    """What writing these by a handle would do; `client` is the handle's, and holds writes back."""
    planned = plan_write(db, client, intents)
    held = planned.request
    steps = () if held is None else tuple(_steps(db, client, design, reader, held))
    return WriteOutline(planned, steps)


def _steps(
    db: Db, client: RecordedClient, design: Design, reader: ItemReader, held: SentRequest
) -> Iterator[OutlineStep]:
    context = db.context
    by_name = {context.physical(table): table for table in design.schema.tables}
    sandbox = connect(":memory:", clock=SystemClock())
    try:
        design.open(sandbox, table_prefix=context.table_prefix, table_names=context.table_names)
        for action, body in held.entries:
            table = by_name[body["TableName"]]
            held_key = body.get("Key") or body["Item"]
            key = {name: held_key[name] for name in table.key_attributes}
            where = {"TableName": body["TableName"], "Key": key, "ConsistentRead": True}
            old = client.call("GetItem", where).get("Item")
            request = {name: value for name, value in body.items() if name != "ReturnValues"}
            if held.operation == "TransactWriteItems":
                request = {"TransactItems": [{action: request}]}
            tried = SentRequest(held.operation, request)
            new, table_units, index_units = _tried(sandbox, tried, where, old)
            yield OutlineStep(
                action,
                table,
                key,
                None if old is None else reader.read(table, old),
                None if new is None else reader.read(table, new),
                _sentence(body, table),
                table_units,
                index_units,
            )
    finally:
        sandbox.close()


def _tried(
    sandbox: Client, tried: SentRequest, where: WireItem, old: WireItem | None
) -> tuple[WireItem | None, float, float]:
    """What the item becomes, and the units of table and indexes."""
    if old is not None:
        sandbox.call("PutItem", {"TableName": where["TableName"], "Item": old})
    try:
        answer = sandbox.call(
            tried.operation, {**tried.request, "ReturnConsumedCapacity": "INDEXES"}
        )
    except (ConditionFailed, TransactionCanceled):
        key = " ".join(value_text(plain(value)) for value in where["Key"].values())
        if tried.entries[0][0] == "Put":
            raise AlreadyExists(f"{key} exists already") from None
        raise VersionConflict(f"{key} is not what it was when it was read") from None
    table_units = index_units = 0.0
    consumed = answer.get("ConsumedCapacity", ())
    for one in consumed if isinstance(consumed, list) else [consumed]:
        table_units += float(one.get("Table", {}).get("CapacityUnits", 0.0))
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            index_units += sum(float(i["CapacityUnits"]) for i in one.get(kind, {}).values())
    return sandbox.call("GetItem", where).get("Item"), table_units, index_units


def _sentence(body: Mapping[str, Any], table: TableSchema) -> str:
    """A condition in words."""
    asked = body.get("ConditionExpression")
    if not asked:
        return ""
    names = body.get("ExpressionAttributeNames", {})
    values = body.get("ExpressionAttributeValues", {})

    def spelled(match: re.Match[str]) -> str:
        token = match[0]
        if token in names:
            return str(names[token])
        return value_text(plain(values[token])) if token in values else token

    parts = [_PLACEHOLDER.sub(spelled, part) for part in asked.split(" AND ")]
    there = f"attribute_exists({table.partition})"
    absent = f"attribute_not_exists({table.partition})"
    said = ["it exists" if part == there else part for part in parts]
    said = ["it is not there yet" if part == absent else part for part in said]
    if len(said) > 4:
        said = [*said[:2], f"and {len(said) - 2} values are as they were read"]
    return f"only if {', '.join(said)}"


def send(system: StudioSystem, made: WriteOutline) -> SentRequest:
    """Send what was shown, with the times that it showed."""
    client = RecordedClient(system.client, writes=True)
    db = system.open(client, ManualClock(made.at))
    assert db is not None, "only a design that runs is written through"
    sent = send_write(db, client, made.planned)
    system.survey.forget()
    return sent
