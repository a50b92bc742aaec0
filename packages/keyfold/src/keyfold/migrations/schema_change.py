"""One difference between two schemas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from keyfold.design.schema import EntitySchema, Follows, Index, Schema, TableSchema, VectorSchema

ChangeKind = Literal[
    "table added",
    "table removed",
    "table key changed",
    "index added",
    "index removed",
    "index changed",
    "vector added",
    "vector removed",
    "vector changed",
    "ttl changed",
    "stream changed",
    "entity added",
    "entity removed",
    "entity renamed",
    "type name changed",
    "entity moved",
    "entity re-keyed",
    "attribute added",
    "attribute removed",
    "attribute changed",
    "states changed",
    "index keys changed",
    "unique added",
    "pointer added",
    "structure added",
    "structure changed",
    "structure removed",
]


Side = TableSchema | Index | VectorSchema | EntitySchema | Follows | None
MOVES: tuple[ChangeKind, ...] = ("entity moved", "entity re-keyed")
_OF_STRUCTURES: tuple[ChangeKind, ...] = (
    "unique added",
    "pointer added",
    "structure added",
    "structure changed",
    "structure removed",
)


@dataclass(frozen=True)
class SchemaChange:
    """One difference. `old` and `new` are the tables, indexes, entities or records concerned."""

    kind: ChangeKind
    subject: str
    words: str
    old: Side = None
    new: Side = None
    detail: str = ""

    def __str__(self) -> str:
        return self.words


def name_of(changes: Sequence[SchemaChange]) -> str:
    """A name for a plan of these changes: from a move, otherwise from the first change."""
    telling = next((change for change in changes if change.kind in MOVES), changes[0])
    named = telling.detail or getattr(telling.new or telling.old, "name", "")
    part = named if named != telling.subject else ""
    words = f"{telling.subject} {part} {telling.kind.rpartition(' ')[2]}"
    return re.sub(r"[^a-z0-9]+", "_", snake(words)).strip("_")[:60]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def restructures(changes: Sequence[SchemaChange], before: Schema) -> bool:
    """Whether what follows from writes changes, or is written by the migration too.

    A pointer that goes is an entity that goes. What follows from a re-keyed entity may be the same
    for both keys.
    """
    followed = {each.source for each in before.follows if each.fact in ("copy", "claim")}
    return any(
        change.kind in _OF_STRUCTURES
        or (change.kind == "entity removed" and change.detail)
        or (change.kind == "entity re-keyed" and change.subject in followed)
        for change in changes
    )
