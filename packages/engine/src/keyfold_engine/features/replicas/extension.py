"""What replicas in other regions add to the core."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import Prepared
from keyfold_engine.features.replicas import changes, members
from keyfold_engine.features.replicas.replicated_table import described, replicas_of


def follow(database: Database, session: Session, prepared: Prepared, _row: int) -> None:
    """Record a change for the other regions."""
    if database.regions is not None:
        changes.note(database, session, prepared)


class ReplicasExtension(Extension):
    """Global tables."""

    def attach(self, table: TableDefinition) -> None:
        if replicas_of(table):
            table.after.append(follow)
            table.describers.append(described)

    def update_alone(self, database: Database, request: dict[str, Any]) -> dict[str, Any] | None:
        return members.update(database, request)

    def leave(self, database: Database, name: str) -> None:
        members.leave(database, name)


EXTENSION = ReplicasExtension()
