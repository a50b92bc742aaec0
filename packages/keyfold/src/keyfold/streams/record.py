"""Stream records: what changed, in the terms of the design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.table import Table
from keyfold.errors import Undecodable
from keyfold.streams.shard import moment

WireItem = Mapping[str, Any]
E = TypeVar("E", bound=Entity)
TTL_PRINCIPAL = "dynamodb.amazonaws.com"


@dataclass(frozen=True)
class Record:
    """One record of a table's stream, as it came."""

    table: Table
    event_id: str
    sequence: str
    keys: WireItem
    old_image: WireItem | None
    new_image: WireItem | None
    at: datetime
    expired: bool
    """Removed by the service because its time to live ended."""
    wire: Mapping[str, Any]

    @property
    def address(self) -> str:
        """The item's identity: records with the same address stay in order."""
        return f"{self.table.name} {sorted((k, repr(v)) for k, v in self.keys.items())}"


@dataclass(frozen=True)
class Change(Generic[E]):
    """One entity's item before and after."""

    spec: EntitySpec
    old: E | None
    new: E | None

    @property
    def kind(self) -> str:
        if self.old is None:
            return "insert"
        return "remove" if self.new is None else "modify"


def parse(table: Table, wire: Mapping[str, Any]) -> Record:
    """Parse a wire record; raises Undecodable if required members are missing."""
    try:
        body = wire["dynamodb"]
        sequence = str(body["SequenceNumber"])
        identity = wire.get("userIdentity") or {}
        principal = identity.get("principalId") or identity.get("PrincipalId")
        return Record(
            table=table,
            event_id=str(wire.get("eventID") or sequence),
            sequence=sequence,
            keys=body["Keys"],
            old_image=body.get("OldImage"),
            new_image=body.get("NewImage"),
            at=moment(body.get("ApproximateCreationDateTime", 0)),
            expired=wire.get("eventName") == "REMOVE" and principal == TTL_PRINCIPAL,
            wire=wire,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise Undecodable(
            f"a record of {table.name}'s stream is malformed: {type(problem).__name__} {problem}"
        ) from problem


def changes(record: Record, entities: Iterable[type[Entity]]) -> Iterator[Change[Entity]]:
    """The changes by entity; an item that changed its type is removed as one and added as
    another.
    """
    for entity in entities:
        spec = entity.__spec__
        if spec.table is not record.table:
            continue
        old = _decode(spec, record.old_image)
        new = _decode(spec, record.new_image)
        if old is not None or new is not None:
            yield Change(spec, old, new)


def _decode(spec: EntitySpec, image: WireItem | None) -> Entity | None:
    if image is None or not spec.recognises(dict(image)):
        return None
    decoded: Entity = spec.decode(dict(image))
    return decoded
