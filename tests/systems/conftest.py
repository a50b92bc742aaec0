"""Where the systems' tests run: on our engine, or on the server that an address names.

`KEYFOLD_SYSTEMS_ADDRESS=http://127.0.0.1:8000 pytest tests/systems/inviter` runs them there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from keyfold.clients import AsyncClient, connect_async
from keyfold.clients.embedded import AsyncEmbeddedClient
from keyfold.clock import ManualClock
from keyfold.engine import Engine

ADDRESS = os.environ.get("KEYFOLD_SYSTEMS_ADDRESS")


class Recorder:
    """A client that keeps every request."""

    def __init__(self, client: AsyncClient, table: str) -> None:
        self._client, self._table = client, table
        self.requests: list[tuple[str, Mapping[str, Any]]] = []

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.requests.append((operation, request))
        return await self._client.call(operation, request)

    async def close(self) -> None:
        await self._client.close()

    async def items(self) -> list[dict[str, Any]]:
        """All that is in the system's table."""
        found: list[dict[str, Any]] = []
        request: dict[str, Any] = {"TableName": self._table}
        while True:
            answer = await self._client.call("Scan", request)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


async def recorder(table: str, clock: ManualClock) -> Recorder:
    """A recorder on an empty backend."""
    if ADDRESS is None:
        engine = Engine.open(":memory:", clock=clock)
        return Recorder(AsyncEmbeddedClient(engine), table)
    client = connect_async(ADDRESS)
    for name in (await client.call("ListTables", {}))["TableNames"]:
        await client.call("DeleteTable", {"TableName": name})
    return Recorder(client, table)
