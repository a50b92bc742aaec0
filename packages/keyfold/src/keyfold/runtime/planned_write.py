"""A write that is shown before it is sent, and then sent exactly as it was shown.

The write path itself makes the request, on a client that holds writes back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyfold.design.design import Declarations
from keyfold.errors import KeyfoldError
from keyfold.runtime.db import Db
from keyfold.runtime.intent import Delete, Intent, Put, Update
from keyfold_engine.clients.recorder import RecordedClient, SentRequest, WriteHeldBack
from keyfold_engine.operations import WRITES

_PLACEHOLDER: Final = re.compile(r"[#:]\w+")
PlannedItem = tuple[str, str, str, str]
"""What a write does to an item: action, table, key and condition."""


@dataclass(frozen=True)
class PlannedWrite:
    """What a write would send."""

    intents: tuple[Intent, ...]
    request: SentRequest | None
    """None if nothing would change."""
    items: tuple[PlannedItem, ...]
    later: tuple[tuple[str, str], ...]
    """What the stream's consumer does afterwards: the kind and name of each effect."""
    read_units: float

    @property
    def digest(self) -> str:
        """Equal as long as the same is written to the same items under the same conditions."""
        return hashlib.sha256(repr(self.items).encode()).hexdigest()[:24]


def plan_write(db: Db, client: RecordedClient, intents: Sequence[Intent]) -> PlannedWrite:
    """What writing these would send; `client` is the handle's, and holds writes back."""
    held = None
    try:
        db.transact(*intents)
    except WriteHeldBack:
        held = client.requests[-1]
    design = db.context.design
    items = () if held is None else tuple(_items(db, held))
    later = tuple(dict.fromkeys(_later(design, intents)))
    return PlannedWrite(tuple(intents), held, items, later, client.units)


def send_write(db: Db, client: RecordedClient, planned: PlannedWrite) -> SentRequest:
    """Send a planned write; `client` is the handle's, and lets writes through."""

    def approve(sent: SentRequest) -> None:
        if tuple(_items(db, sent)) != planned.items:
            raise KeyfoldError(
                "nothing was sent: the items have changed since the plan; plan it again"
            )

    client.approve = approve
    db.transact(*planned.intents)
    written = [one for one in client.requests if one.operation in WRITES]
    if not written:
        raise KeyfoldError("nothing was sent: the item has these values already")
    return written[-1]


def _items(db: Db, sent: SentRequest) -> Iterator[PlannedItem]:
    """The items of a write, without times and tokens, which change by themselves."""
    tables = {db.context.physical(t.schema): t.schema for t in db.context.design.tables.values()}
    for action, body in sent.entries:
        name, key = tables[body["TableName"]].address(body.get("Key") or body["Item"])
        yield action, name, key, _condition(body)


def _condition(body: Mapping[str, Any]) -> str:
    """A condition with its values in place of placeholders."""
    words = {**body.get("ExpressionAttributeNames", {})}
    words |= body.get("ExpressionAttributeValues", {})
    return _PLACEHOLDER.sub(lambda found: str(words[found[0]]), body.get("ConditionExpression", ""))


def _later(design: Declarations, intents: Sequence[Intent]) -> Iterator[tuple[str, str]]:
    for intent in intents:
        match intent:
            case Put():
                entity, fields, kind = type(intent.new), None, "insert"
            case Update():
                entity, fields, kind = intent.ref.entity, intent.changes.keys(), "modify"
            case Delete():
                entity, fields, kind = intent.ref.entity, None, "remove"
            case _:
                continue
        for one in design.maintainers:
            concerned = fields is None or not fields.isdisjoint(one.fields)
            if one.source is entity and one.sync == "stream" and concerned:
                yield one.follows.kind, one.follows.name
        for processor in design.processors:
            if processor.entity is entity and kind in processor.kinds:
                yield "processor", processor.name
