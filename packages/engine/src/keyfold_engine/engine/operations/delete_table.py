"""DeleteTable."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import bulk, describe, leftovers, streams
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.policies import store
from keyfold_engine.engine.replication import members
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.vectors import updates as vectors
from keyfold_engine.errors import TableInUse, ValidationError


def delete_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        table = database.catalog.changeable(session, request["TableName"])
        if table.definition["DeletionProtectionEnabled"]:
            raise ValidationError(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        if any(index.status == "CREATING" for index in table.global_indexes):
            raise TableInUse(
                "Attempt to change a resource which is still in use: "
                f"Table is being updated: {table.name}"
            )
        if bulk.is_running_on(session, table.name):
            raise TableInUse(
                "Attempt to change a resource which is still in use: "
                f"Table is being updated by a bulk operation: {table.name}"
            )
        if table.backups:
            raise TableInUse(
                "Attempt to change a resource which is still in use: "
                f"Table is being backed up or exported: {table.name}"
            )
        making = vectors.phase(database, table)
        if making == "allocating":
            raise TableInUse(
                "Attempt to change a resource which is still in use: "
                f"Table is being updated: {table.name}"
            )
        if making is not None:
            raise TableInUse(
                "Attempt to change a resource which is still in use: Cannot delete table while "
                "indexes are being created, updated, or deleted."
            )
        streams.stop(database, session, table)
        answer = describe.deleted(database, session, table)
        store.drop(session, table.arn)
        session.drop_table(table.id)
        database.catalog.drop(table)
        return {"TableDescription": answer}

    members.leave(database, request["TableName"])
    answer = database.write(work)
    leftovers.clear(database)
    return answer
