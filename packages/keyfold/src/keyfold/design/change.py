"""Planned changes of a design, and figures that its document states."""

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
    """One step of a migration, in execution order."""

    name: str
    action: StepAction
    table: str = ""
    entities: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """Attribute definitions added to the table."""
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    """Attributes whose values the step rewrites."""
    guarded: bool = False
    resumable: bool = False
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A figure that the document states: `indexes: 6`, `query costs: 15 to 25% lower`."""

    about: str
    """The subject: tables, entities, indexes, indexes of TABLE, or what should improve."""
    value: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()

    @property
    def name(self) -> str:
        return self.about


@dataclass(frozen=True)
class Retention:
    """How long the document says an entity is kept; no days means for ever."""

    entity: str
    days: float | None = None
    source: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()

    @property
    def name(self) -> str:
        return self.entity
