"""A migration's state, stored on the backend in the table `keyfold_migrations`.

One partition per migration: its state, stream and scan positions, items that could not be copied,
and the applications that follow it. Markers, one per item that changed during copying, are spread
over separate partitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from zlib import crc32

import orjson

from keyfold.errors import ConditionFailed, MigrationError, TableInUse, TableNotFound
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.migration import Phase, Side
from keyfold.runtime.flow import run_by
from keyfold.runtime.tables import DROPPED, MIGRATIONS, create_request
from keyfold.runtime.walk import Walk, pages, write_batches

SUPPORT: Final = MIGRATIONS
MARKER_PARTITIONS: Final = 16
CAUGHT_UP: Final = "caught-up"
_LONGEST: Final = 900
"""The byte limit of a text in a sort key, which allows 1024."""


class Overtaken(MigrationError):
    """The state was changed by another writer after it was read."""


@dataclass(frozen=True)
class State:
    """The item that following applications read; `epoch` grows with every change."""

    phase: Phase = "planned"
    epoch: int = 0
    writes: Side = "old"
    plan: str = ""
    contracting: bool = False
    """The irreversible part has begun."""
    returning: bool = False
    """The new side is being removed."""
    doubled: bool = False
    """Writes also go to the old side, before they return to it."""
    history: tuple[tuple[Phase, float], ...] = ()
    """The phases that it reached, and when."""

    @property
    def active(self) -> bool:
        return self.phase not in ("planned", "contract")

    @classmethod
    def read(cls, item: Item | None) -> State:
        if item is None:
            return cls()
        told = orjson.loads(item["state"]["S"])
        return cls(**{**told, "history": tuple((phase, at) for phase, at in told["history"])})


@dataclass(frozen=True)
class CopyFailure:
    """An item that could not be copied, and why."""

    table: str
    key: Item
    reason: str

    def __str__(self) -> str:
        return f"{place_text(self.table, self.key)}: {self.reason}"


@dataclass(frozen=True)
class Reporter:
    """A following application process, by its last report."""

    name: str
    epoch: int
    """It acts on this epoch or a later one."""
    until: float
    """When its report expires."""


@dataclass(frozen=True)
class PhaseChange:
    """A phase that a migration reached, and when."""

    phase: Phase
    at: float

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.at, UTC).isoformat(sep=" ", timespec="seconds")
        return f"{moment}  {self.phase if self.phase != 'planned' else 'rolled back'}"


@dataclass(frozen=True)
class ForeignWrite:
    """A write of an application that does not follow the migration."""

    table: str
    key: Item
    at: float

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds")
        return f"{place_text(self.table, self.key)} at {moment}"


def place_text(table: str, key: Mapping[str, Any]) -> str:
    """An item's address in words."""
    return f"{table} {', '.join(f'{n}={next(iter(v.values()))}' for n, v in key.items())}"


def key_text(key: Mapping[str, Any]) -> str:
    return orjson.dumps(key, option=orjson.OPT_SORT_KEYS).decode()


def spread(text: str) -> int:
    return crc32(text.encode()) % MARKER_PARTITIONS


def part_text(prefix: str, text: str) -> str:
    """A key part, replaced by its digest if a sort key cannot hold it."""
    if len(text.encode()) > _LONGEST:
        text = hashlib.blake2b(text.encode(), digest_size=32).hexdigest()
    return f"{prefix}{text}"


@dataclass(frozen=True)
class CopyMarker:
    """What is known about one item's copies."""

    sequence: str | None = None
    """The sequence number of the last copied change."""
    touches: int = 0
    """Writes of following applications to both sides."""
    followed: int = 0
    """Changes copied since."""

    @classmethod
    def read(cls, item: Item) -> CopyMarker:
        return cls(
            item["sequence"]["S"] if "sequence" in item else None,
            int(item["touches"]["N"]) if "touches" in item else 0,
            int(item["followed"]["N"]) if "followed" in item else 0,
        )


def marker_key(name: str, towards: Side, table: str, key: Mapping[str, Any]) -> Item:
    text = f"{table}:{key_text(key)}"
    partition = f"{name}:{towards}:{spread(text)}"
    return {"migration": {"S": partition}, "part": {"S": part_text("", text)}}


def part_key(name: str, part: str) -> Item:
    return {"migration": {"S": name}, "part": {"S": part}}


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
