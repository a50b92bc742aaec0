"""Migrations of a running system without downtime: plans, phases, copying, and rollback."""

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.migrations.backend import Backend, backend_of
from keyfold.migrations.diff import diff
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
    rekey,
    restore,
)
from keyfold.migrations.operations import (
    CreateIndex,
    CreateTable,
    CreateVector,
    DisableStream,
    DisableTtl,
    DropIndex,
    DropTable,
    DropVector,
    EnableStream,
    EnableTtl,
)
from keyfold.migrations.plan import frozen, load
from keyfold.migrations.progress import Progress
from keyfold.migrations.rewrites import (
    Rewrite,
    add_attribute,
    drop_attribute,
    fill_indexes,
    remove_items,
    remove_markers,
    rename_attribute,
    transform_attribute,
    undecided,
)
from keyfold.migrations.runner import Migrator
from keyfold.migrations.schema_change import SchemaChange
from keyfold.migrations.status import MigrationStatus
from keyfold.migrations.table_scan import ScanPace
from keyfold.migrations.words import derive, drop, rename

__all__ = [
    "PHASES",
    "Backend",
    "CreateIndex",
    "CreateTable",
    "CreateVector",
    "Derive",
    "DisableStream",
    "DisableTtl",
    "DropIndex",
    "DropTable",
    "DropVector",
    "EnableStream",
    "EnableTtl",
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
    "TableSchema",
    "VectorSchema",
    "add_attribute",
    "backend_of",
    "derive",
    "diff",
    "drop",
    "drop_attribute",
    "fill_indexes",
    "frozen",
    "load",
    "move",
    "rebuild",
    "recount",
    "rekey",
    "remove_items",
    "remove_markers",
    "rename",
    "rename_attribute",
    "restore",
    "transform_attribute",
    "undecided",
]
