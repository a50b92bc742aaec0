"""What backups, point-in-time recovery and restores add to the core."""

from __future__ import annotations

from functools import partial

from keyfold_engine.engine import steps
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import Prepared
from keyfold_engine.errors import in_use
from keyfold_engine.features.backups import copies, restores, storage


def precede(_database: Database, session: Session, prepared: Prepared) -> None:
    """Save what a write replaces in the backups in progress."""
    write = prepared.write
    for number in copies.kept_by(write.table):
        storage.keep_in_backup(session, number, write.place, prepared.stored)


def follow(database: Database, session: Session, prepared: Prepared, _row: int) -> None:
    """Remember what a change replaced."""
    write = prepared.write
    at = database.moments.of(session)
    storage.remember_past(session, write.table.id, at, write.place, prepared.stored)


class BackupsExtension(Extension):
    """Backups, the history of changes, and restores."""

    def attach(self, table: TableDefinition) -> None:
        if copies.kept_by(table):
            table.before.append(precede)
        if copies.keeps_history(table):
            table.after.append(follow)

    def refuse_deletion(self, database: Database, session: Session, table: TableDefinition) -> None:
        if copies.kept_by(table):
            raise in_use(f"Table is being backed up or exported: {table.name}")

    def drop(self, session: Session, table: TableDefinition) -> None:
        if copies.keeps_history(table):
            storage.forget_history(session, table.id)

    def resume(self, database: Database) -> None:
        with database.read() as session:
            documents = copies.every(session)
        for arn in [each["Arn"] for each in documents if copies.is_unfinished(each)]:
            part = partial(copies.advance, database, arn)
            database.backfills.run(f"backup {arn}", partial(steps.take, database, part))

    def resume_table(self, database: Database, table: TableDefinition) -> None:
        if table.restored_from is not None:
            step = partial(restores.advance, database, table.name)
            database.backfills.run(f"restore {table.name}", lambda: database.write(step))

    def trim(self, database: Database, session: Session, table: TableDefinition) -> bool:
        return copies.trim(database, session, table)


EXTENSION = BackupsExtension()
