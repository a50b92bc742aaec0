"""Changing a running system without downtime: plans, phases, copying, and the way back."""

from keyfold.design.schema import Index, Table
from keyfold.migrations.backend import Backend, backend_of
from keyfold.migrations.diff import Change, diff
from keyfold.migrations.migration import PHASES, Migration, Phase, Side
from keyfold.migrations.moves import (
    Derive,
    Move,
    Output,
    Recount,
    Route,
    move,
    rebuild,
    recount,
    rekey,
)
from keyfold.migrations.operations import (
    CreateIndex,
    CreateTable,
    DisableStream,
    DisableTtl,
    DropIndex,
    DropTable,
    EnableStream,
    EnableTtl,
)
from keyfold.migrations.progress import Progress
from keyfold.migrations.rewrites import (
    Rewrite,
    add_attribute,
    drop_attribute,
    fill_indexes,
    rename_attribute,
    transform_attribute,
    undecided,
)
from keyfold.migrations.router import Router, SyncRouter
from keyfold.migrations.runner import Migrator, Status
from keyfold.migrations.scanning import Pace

__all__ = [
    "PHASES",
    "Backend",
    "Change",
    "CreateIndex",
    "CreateTable",
    "Derive",
    "DisableStream",
    "DisableTtl",
    "DropIndex",
    "DropTable",
    "EnableStream",
    "EnableTtl",
    "Index",
    "Migration",
    "Migrator",
    "Move",
    "Output",
    "Pace",
    "Phase",
    "Progress",
    "Recount",
    "Rewrite",
    "Route",
    "Router",
    "Side",
    "Status",
    "SyncRouter",
    "Table",
    "add_attribute",
    "backend_of",
    "diff",
    "drop_attribute",
    "fill_indexes",
    "move",
    "rebuild",
    "recount",
    "rekey",
    "rename_attribute",
    "transform_attribute",
    "undecided",
]
