"""DeleteTable."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import describe, extensions, leftovers, streams
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import ValidationError, in_use


def delete_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        table = database.catalog.changeable(session, request["TableName"])
        if table.definition["DeletionProtectionEnabled"]:
            raise ValidationError(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        if any(index.status == "CREATING" for index in table.global_indexes):
            raise in_use(f"Table is being updated: {table.name}")
        for extension in extensions.every():
            extension.refuse_deletion(database, session, table)
        streams.stop(database, session, table)
        answer = describe.deleted(database, session, table)
        for extension in extensions.every():
            extension.drop(session, table)
        session.drop_table(table.id)
        database.catalog.drop(table)
        return {"TableDescription": answer}

    for extension in extensions.every():
        extension.leave(database, request["TableName"])
    answer = database.write(work)
    leftovers.clear(database)
    return answer
