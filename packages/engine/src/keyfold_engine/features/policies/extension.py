"""What resource policies add to the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.principal import Principal
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.features.policies import operations, store


class PoliciesExtension(Extension):
    """Policies of tables and streams."""

    def creating(
        self, database: Database, name: str, request: dict[str, Any]
    ) -> Callable[[Session, TableDefinition], None]:
        policy = operations.read(request["ResourcePolicy"], database.arn(f"table/{name}"))

        def finish(session: Session, table: TableDefinition) -> None:
            revision = str(int(database.clock.now() * 1000))
            store.keep(database, session, table.arn, policy, revision)

        return finish

    def drop(self, session: Session, table: TableDefinition) -> None:
        store.drop(session, table.arn)

    def authorize(
        self, database: Database, caller: Principal, operation: str, request: dict[str, Any]
    ) -> None:
        store.authorize(database, caller, operation, request)


EXTENSION = PoliciesExtension()
