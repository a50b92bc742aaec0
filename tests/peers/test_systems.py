"""The systems on other people's servers: the same calls get the same answers as on our engine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from keyfold.errors import TableNotFound, UnknownOperation
from keyfold.runtime.flow import run_by
from keyfold.runtime.tables import until_active
from keyfold_demo.systems import System, find_systems
from keyfold_engine.clients import AsyncClient, connect, connect_async

SYSTEMS = find_systems()
CALLS = 20
"""Most of them write up to a hundred items."""
MISSING = {"dynalite": {"TransactWriteItems", "TransactGetItems", "UpdateTimeToLive"}}
"""Operations a server does not know; what follows them cannot be compared."""

Call = tuple[str, dict[str, Any], dict[str, Any]]


class Enough(Exception):
    """As many calls as wanted were recorded."""


class Recorder:
    """An embedded client that remembers what it was asked and what it answered."""

    def __init__(self) -> None:
        self._client: AsyncClient = connect_async(":memory:")
        self.calls: list[Call] = []

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if len(self.calls) >= CALLS:
            raise Enough
        answer = await self._client.call(operation, request)
        self.calls.append((operation, dict(request), answer))
        return answer

    async def close(self) -> None:
        await self._client.close()


def comparable(value: Any) -> Any:
    """An answer without what servers may tell differently: the order in sets, empty members."""
    if isinstance(value, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") else comparable(member)
            for name, member in value.items()
            if member not in ({}, []) or name in ("L", "M")
        }
    if isinstance(value, list):
        return [comparable(member) for member in value]
    return value


async def recorded(system: System) -> list[Call]:
    """What filling a system begins with."""
    recorder = Recorder()
    with suppress(Enough):
        await system.fill(await system.design.open_async(recorder))
    await recorder.close()
    return recorder.calls


@pytest.mark.parametrize("system", SYSTEMS, ids=[system.name for system in SYSTEMS])
async def test_a_system_is_answered_as_by_our_engine(
    system: System, other_server: tuple[str, str]
) -> None:
    server, url = other_server
    client = connect(url)
    for operation, request, expected in await recorded(system):
        if operation in MISSING.get(server, ()):
            with pytest.raises(UnknownOperation):
                client.call(operation, request)
            break
        if operation == "DescribeTable":
            with suppress(TableNotFound):
                client.call(operation, request)
            continue
        answer = client.call(operation, request)
        if "ReturnConsumedCapacity" not in request:
            answer.pop("ConsumedCapacity", None)  # moto tells it of batches without being asked
        if operation == "CreateTable":
            run_by(client.call, until_active(request["TableName"]))
        else:
            assert comparable(answer) == comparable(expected), (operation, request)
    client.close()
