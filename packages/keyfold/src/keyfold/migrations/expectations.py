"""Whether a plan still matches the tables it was made for."""

from __future__ import annotations

from keyfold.design.schema import TableSchema
from keyfold.errors import Drifted
from keyfold.migrations.backend import Backend
from keyfold.migrations.migration import Migration
from keyfold.migrations.snapshot import fingerprint


def refuse_other_tables(migration: Migration, backend: Backend) -> None:
    """Raise Drifted if a table is missing, different, or in the way."""
    for table, expected in migration.expects.items():
        found = backend.live(table, ttl=False)
        if found is None or fingerprint(found) != expected:
            what = "does not exist" if found is None else "is not as the plan expects"
            raise Drifted(
                f"{migration.name}: the table {backend.physical(table)} {what}; create the plan "
                "again (keyfold migrations plan)"
            )
    for step in migration.changes:
        if not step.makes_table or not isinstance(step.part, TableSchema):
            continue
        found = backend.live(step.table, ttl=False)
        if found is not None and found.key_attributes != step.part.key_attributes:
            raise Drifted(
                f"{migration.name}: a table {step.table} already exists, with the key "
                f"{' / '.join(found.key_attributes)}. A table's key cannot change: give the new "
                "table another name"
            )
