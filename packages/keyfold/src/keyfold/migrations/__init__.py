"""Migrations of a running system without downtime: plans, phases, copying, and rollback."""

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.migrations.backend import Backend, backend_of
from keyfold.migrations.diff import diff
from keyfold.migrations.field_steps import derive, drop, rename
from keyfold.migrations.migration import PHASES, Migration, Phase
from keyfold.migrations.moves import (
    Derive,
    Move,
    Output,
    Restore,
    Route,
    move,
    rebuild,
    recount,
    restore,
)
from keyfold.migrations.plan_file import load
from keyfold.migrations.progress import Progress
from keyfold.migrations.rewrites import (
    Rewrite,
    fill_indexes,
    remove_markers,
    transform_attribute,
    undecided,
)
from keyfold.migrations.runner import Migrator
from keyfold.migrations.schema_change import SchemaChange
from keyfold.migrations.state_store import MigrationStatus
from keyfold.migrations.table_change import Stream, TableChange, TimeToLive, add, remove
from keyfold.migrations.table_scan import ScanPace

__all__ = [
    "PHASES",
    "Backend",
    "Derive",
    "Index",
    "Migration",
    "MigrationStatus",
    "Migrator",
    "Move",
    "Output",
    "Phase",
    "Progress",
    "Restore",
    "Rewrite",
    "Route",
    "ScanPace",
    "SchemaChange",
    "Stream",
    "TableChange",
    "TableSchema",
    "TimeToLive",
    "VectorSchema",
    "add",
    "backend_of",
    "derive",
    "diff",
    "drop",
    "fill_indexes",
    "load",
    "move",
    "rebuild",
    "recount",
    "remove",
    "remove_markers",
    "rename",
    "restore",
    "transform_attribute",
    "undecided",
]
