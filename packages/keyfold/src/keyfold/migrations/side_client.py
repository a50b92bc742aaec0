"""A client that sees only the new side of tables that hold both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.migrations.sides import Sides
from keyfold_engine.clients.protocol import Client

_READS: Final = ("Scan", "Query")


class NewSideClient:
    """Leaves out items that were moved to another key of their table: they are there twice."""

    def __init__(self, client: Client, old: Sides) -> None:
        self.client, self.old = client, old
        self.tables = {
            old.backend.physical(route.source): route.source
            for route in old.routes
            if route.source == route.target
        }

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.client.call(operation, request)
        table = self.tables.get(request["TableName"]) if operation in _READS else None
        if table is None:
            return answer
        items = [item for item in answer["Items"] if not self.old.concerns(table, item)]
        return {**answer, "Items": items, "Count": len(items)}

    def close(self) -> None:
        """Leaves the client open for its owner."""
