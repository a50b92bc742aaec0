"""What bulk operations add to the core."""

from __future__ import annotations

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.features.transfer import bulk


class TransferExtension(Extension):
    """Bulk operations on tables."""

    def refuse_deletion(self, database: Database, session: Session, table: TableDefinition) -> None:
        bulk.refuse_running(session, table.name)

    def resume(self, database: Database) -> None:
        with database.read() as session:
            operations = bulk.every(session)
        for state in operations:
            if state["Description"]["BulkOperationStatus"] in bulk.RUNNING:
                bulk.start(database, state["Description"]["BulkOperationArn"])


EXTENSION = TransferExtension()
