"""Where a migration's state is stored: the table `keyfold_migrations` of the backend.

One partition per migration: its state, stream and scan positions, items that could not be copied,
and the applications that follow it. Markers, one per item that changed during copying, are spread
over separate partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from keyfold.errors import ConditionFailed, TableInUse, TableNotFound
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.migration import Side
from keyfold.migrations.state import (
    CAUGHT_UP,
    SUPPORT,
    CopyFailure,
    CopyMarker,
    ForeignWrite,
    Overtaken,
    PhaseChange,
    Reporter,
    State,
    key_text,
    marker_key,
    part_key,
    part_text,
)
from keyfold.runtime.flow import run_by
from keyfold.runtime.tables import DROPPED, create_request
from keyfold.runtime.walk import Walk, pages, write_batches


class StateStore:
    """Reads and writes everything stored about one migration."""

    def __init__(self, backend: Backend, name: str) -> None:
        self.backend, self.name = backend, name
        self.table = backend.physical(SUPPORT.name)
        self._known: State | None = None
        self._problems: set[str] | None = None
        """Where problems are listed, as far as known."""

    def prepare(self) -> None:
        try:
            self.backend.wait_until_active(SUPPORT.name)
        except TableNotFound:
            # Another migrator may be creating it at this moment.
            with suppress(TableInUse):
                self.backend.call("CreateTable", create_request(SUPPORT, self.table))
            self.backend.wait_until_active(SUPPORT.name)

    def exists(self) -> bool:
        return self.backend.describe(SUPPORT.name, now=True) is not None

    def load(self) -> State:
        self._known = State.read(self._get("state"))
        return self._known

    @property
    def last(self) -> State:
        """The state that was read or written last."""
        return self._known or self.load()

    def change(self, before: State, **changes: Any) -> State:
        """The next state; refused if another process changed it."""
        after = replace(before, epoch=before.epoch + 1, **changes)
        if after.phase != before.phase:
            reached = (after.phase, self.backend.clock.now())
            after = replace(after, history=(*before.history, reached))
        request: Item = {
            "TableName": self.table,
            "Item": {**self._key("state"), **state_attributes(after)},
            "ConditionExpression": "attribute_not_exists(migration) OR epoch = :before",
            "ExpressionAttributeValues": {":before": {"N": str(before.epoch)}},
        }
        try:
            self.backend.call("PutItem", request)
        except ConditionFailed:
            if self.load() == after:
                return self.last  # It was written; only the answer was lost.
            raise Overtaken(
                f"the migration {self.name} was changed by another process in the meantime; "
                "check its status and try again"
            ) from None
        self._known = after
        return after

    def caught_up(self, moment: float) -> None:
        """Record that every change before this moment is copied; no new epoch."""
        self._put(CAUGHT_UP, {"at": {"N": repr(moment)}})

    def caught_up_at(self) -> float:
        item = self._get(CAUGHT_UP)
        return float(item["at"]["N"]) if item else 0.0

    def position(self, towards: Side, table: str, shard: str) -> str | None:
        item = self._get(f"position:{towards}:{table}:{shard}")
        return item["sequence"]["S"] if item else None

    def set_position(self, towards: Side, table: str, shard: str, sequence: str) -> None:
        self._put(f"position:{towards}:{table}:{shard}", {"sequence": {"S": sequence}})

    def forget_positions(self) -> None:
        """Read the streams from their beginning; markers know what was copied."""
        for item in list(self.all_of(self.name, "position:")):
            key = {name: item[name] for name in SUPPORT.key_attributes}
            self.backend.delete(SUPPORT.name, key)

    def note_begun(self, step: str) -> None:
        """Record a step before it is done."""
        self._put(f"begun:{step}", {})

    def begun(self) -> set[str]:
        """The steps that this migration did or may have done, by their words."""
        return {item["part"]["S"].partition(":")[2] for item in self.all_of(self.name, "begun:")}

    def note_dropped(self, table: str) -> None:
        """Record that a table was dropped, so that it is not created again by accident."""
        item = {**self._dropped_key(table), "by": {"S": self.name}}
        self.backend.call("PutItem", {"TableName": self.table, "Item": item})

    def forget_dropped(self, table: str) -> None:
        self.backend.delete(SUPPORT.name, self._dropped_key(table))

    def _dropped_key(self, table: str) -> Item:
        return part_key(DROPPED, self.backend.physical(table))

    def note_opened(self, table: str) -> None:
        """Record that this migration enabled a table's stream."""
        self._put(f"opened:{table}", {})

    def opened(self) -> list[str]:
        return [item["part"]["S"].partition(":")[2] for item in self.all_of(self.name, "opened:")]

    def segment(self, job: str, number: int) -> Item | None:
        item = self._get(f"segment:{job}:{number:04d}")
        return orjson.loads(item["progress"]["S"]) if item else None

    def set_segment(self, job: str, number: int, progress: Mapping[str, Any]) -> None:
        text = orjson.dumps(progress).decode()
        self._put(f"segment:{job}:{number:04d}", {"progress": {"S": text}})

    def segments(self) -> dict[str, Item]:
        return {
            item["part"]["S"]: orjson.loads(item["progress"]["S"])
            for item in self.all_of(self.name, "segment:")
        }

    def add_problem(self, problem: CopyFailure) -> None:
        part = part_text(f"problem:{problem.table}:", key_text(problem.key))
        self._put(part, {"reason": {"S": problem.reason[:2000]}, "key": {"M": problem.key}})
        if self._problems is not None:
            self._problems.add(part)

    def clear_problem(self, table: str, key: Item) -> None:
        """An item is copied now, whether or not it was listed."""
        if self._problems is None:
            self.problems()
        part = part_text(f"problem:{table}:", key_text(key))
        if self._problems and part in self._problems:
            self.backend.delete(SUPPORT.name, self._key(part))
            self._problems.discard(part)

    def problems(self) -> list[CopyFailure]:
        items = list(self.all_of(self.name, "problem:"))
        self._problems = {item["part"]["S"] for item in items}
        return [
            CopyFailure(item["part"]["S"].split(":", 2)[1], item["key"]["M"], item["reason"]["S"])
            for item in items
        ]

    def routers(self, now: float) -> list[Reporter]:
        """The current followers."""
        found = [
            Reporter(item["part"]["S"], int(item["epoch"]["N"]), float(item["until"]["N"]))
            for item in self.all_of(self.name, "router:")
        ]
        return [one for one in found if one.until > now]

    def note_foreign(self, write: ForeignWrite) -> None:
        """Record the last write of an application that does not follow."""
        told = {"table": write.table, "key": write.key, "at": write.at}
        self._put("foreign", {"write": {"S": orjson.dumps(told).decode()}})

    def foreign(self) -> ForeignWrite | None:
        item = self._get("foreign")
        return ForeignWrite(**orjson.loads(item["write"]["S"])) if item else None

    def marker_key(self, towards: Side, table: str, key: Mapping[str, Any]) -> Item:
        return marker_key(self.name, towards, table, key)

    def marker(self, towards: Side, table: str, key: Mapping[str, Any]) -> CopyMarker:
        """An item's copied changes, and its writes to both sides."""
        place = self.marker_key(towards, table, key)
        return CopyMarker.read(self.backend.item(SUPPORT.name, place) or {})

    def forget(self) -> None:
        """Remove what only a running migration needs."""
        own = (item for item in self.all_of(self.name, "") if item["part"]["S"] != "state")
        deletes = (
            (self.table, {"DeleteRequest": {"Key": {n: item[n] for n in SUPPORT.key_attributes}}})
            for item in [*own, *self.spread_items()]
        )
        run_by(self.backend.call, write_batches(deletes))

    def spread_items(self, kind: str = "") -> Iterator[Item]:
        """Markers and undo records of all partitions, by one scan."""
        request: Item = {
            "TableName": self.table,
            "FilterExpression": "begins_with(migration, :m)",
            "ExpressionAttributeValues": {":m": {"S": f"{self.name}:{kind}"}},
            "ConsistentRead": True,
        }
        for page in pages(self.backend.call, Walk("Scan", request)):
            yield from page["Items"]

    def _key(self, part: str) -> Item:
        return part_key(self.name, part)

    def _get(self, part: str) -> Item | None:
        return self.backend.item(SUPPORT.name, self._key(part))

    def _put(self, part: str, attributes: Item) -> None:
        item = {**self._key(part), **attributes}
        self.backend.call("PutItem", {"TableName": self.table, "Item": item})

    def all_of(self, partition: str, prefix: str) -> Iterator[Item]:
        request: Item = {
            "TableName": self.table,
            "KeyConditionExpression": "migration = :m",
            "ExpressionAttributeValues": {":m": {"S": partition}},
            "ConsistentRead": True,
        }
        if prefix:
            request["KeyConditionExpression"] += " AND begins_with(part, :p)"
            request["ExpressionAttributeValues"][":p"] = {"S": prefix}
        for page in pages(self.backend.call, Walk("Query", request)):
            yield from page["Items"]


def state_attributes(state: State) -> Item:
    body = {name: getattr(state, name) for name in state.__dataclass_fields__}
    return {"state": {"S": orjson.dumps(body).decode()}, "epoch": {"N": str(state.epoch)}}


@dataclass(frozen=True)
class MigrationStatus:
    """The state of a migration."""

    name: str
    state: State
    lag: float | None
    segments: dict[str, Item] = field(default_factory=dict)
    problems: list[CopyFailure] = field(default_factory=list)
    routers: int = 0

    @property
    def history(self) -> list[PhaseChange]:
        return [PhaseChange(phase, at) for phase, at in self.state.history]

    @classmethod
    def read(cls, store: StateStore) -> MigrationStatus:
        if not store.exists():
            return cls(store.name, State(), None)
        state, at, now = store.load(), store.caught_up_at(), store.backend.clock.now()
        return cls(
            store.name,
            state,
            max(now - at, 0.0) if at and state.active else None,
            store.segments(),
            store.problems(),
            len(store.routers(now)),
        )
