"""Whether a plan still matches the tables it was made for."""

from __future__ import annotations

from keyfold.errors import Drifted
from keyfold.migrations.backend import Backend
from keyfold.migrations.migration import Migration
from keyfold.migrations.operations import CreateTable
from keyfold.migrations.snapshot import fingerprint


def refuse_other_tables(migration: Migration, backend: Backend) -> None:
    """Raise Drifted if a table is missing, different, or in the way."""
    for table, expected in migration.expects.items():
        found = backend.live(table)
        if found is None or fingerprint(found) != expected:
            what = "does not exist" if found is None else "is not as the plan expects"
            raise Drifted(
                f"{migration.name}: the table {backend.physical(table)} {what}; create the plan "
                "again (keyfold migrations plan)"
            )
    for step in migration.operations("expand"):
        if not isinstance(step, CreateTable):
            continue
        found = backend.live(step.table.name)
        if found is not None and found.key_attributes != step.table.key_attributes:
            raise Drifted(
                f"{migration.name}: a table {step.table.name} already exists, with the key "
                f"{' / '.join(found.key_attributes)}. A table's key cannot change: give the new "
                "table another name"
            )
