"""How a design is to change, and what its document states about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from keyfold.design.source import NOWHERE, Place, Silence

StepAction = Choice[
    "create_table",
    "drop_table",
    "update_table",
    "change_key",
    "enable_ttl",
    "export",
    "import",
    "backfill",
    "dual_write",
    "verify",
    "switch",
    "rollback",
    "deploy",
]


@dataclass(frozen=True)
class PlannedStep:
    """One step of a migration, in the order in which it is to run."""

    name: str
    action: StepAction
    table: str = ""
    entities: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """Attribute definitions given to the table."""
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    """Attributes whose values it rewrites."""
    guarded: bool = False
    resumable: bool = False
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A statement of the document that can be held against the design."""

    says: str
    kind: Choice["count", "saving", "speed", "fact"] = "fact"
    about: str = ""
    """A count: tables, indexes, indexes of TABLE, index reads; otherwise any subject."""
    stage: Choice["before", "after"] = "after"
    value: str = ""
    basis: tuple[str, ...] = ()
    """The rates, sizes and cardinalities that it follows from."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class Retention:
    """How long the document says an entity is kept; no days means for ever."""

    entity: str
    days: float | None = None
    source: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
