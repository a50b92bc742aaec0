"""A migration's state, and what is known of the items that it copies; `state_store` keeps both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from zlib import crc32

import orjson

from keyfold.errors import MigrationError
from keyfold.migrations.backend import Item
from keyfold.migrations.migration import Phase, Side
from keyfold.runtime.tables import MIGRATIONS

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
