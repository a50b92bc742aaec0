"""Every system with half of what can expire over and not swept, and with indexes behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import cycle, islice
from typing import Any, Literal

import httpx
import pytest
from pydantic.alias_generators import to_snake

from keyfold.api import Identity
from keyfold.api.auth import DevelopmentTokens
from keyfold.api.dispatch import Dispatch
from keyfold.api.rest import rest_app
from keyfold.clients.protocol import AsyncClient
from keyfold.demo.systems import System, find_systems
from keyfold.testing import Sandbox

SYSTEMS = find_systems()
TRIES = 2


@pytest.fixture(params=SYSTEMS, ids=[one.name for one in SYSTEMS])
def system(request: pytest.FixtureRequest) -> System:
    chosen: System = request.param
    return chosen


@pytest.fixture(params=[None, 5.0], ids=["indexes up to date", "indexes behind"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    lag: Literal["held"] | float | None = request.param
    async with Sandbox(index_lag=lag) as opened:
        yield opened


async def expire_half(system: System, sandbox: Sandbox, client: AsyncClient) -> int:
    """Let the time of every second item that can expire be over; gives how many."""
    over = {"N": str(int(sandbox.clock.now()) - 1)}
    count = 0
    for table in system.design.tables.values():
        kinds = {e.__spec__.type_name for e in table.entities if e.__spec__.ttl is not None}
        named, ttl = table.schema.type_attribute or "", table.schema.ttl
        mortal = [i for i in sandbox.items(table.name) if i.get(named, {}).get("S") in kinds]
        for item in mortal[::2]:
            await client.call(
                "UpdateItem",
                {
                    "TableName": table.name,
                    "Key": {name: item[name] for name in table.schema.key_attributes},
                    "UpdateExpression": "SET #t = :t",
                    "ExpressionAttributeNames": {"#t": ttl},
                    "ExpressionAttributeValues": {":t": over},
                },
            )
            count += 1
    return count


def known_values(system: System, sandbox: Sandbox) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for table in system.design.tables:
        for item in sandbox.items(table):
            for name, value in item.items():
                if "S" in value:
                    found[to_snake(name)][value["S"]] = None
    return {name: list(values) for name, values in found.items()}


async def test_no_read_and_no_delete_fails(system: System, sandbox: Sandbox) -> None:
    db = await sandbox.open_async(system.design)
    await system.fill(db)
    sandbox.clock.advance(60)
    known = known_values(system, sandbox)
    expired = await expire_half(system, sandbox, db.client)
    tokens = DevelopmentTokens(clock=sandbox.clock)
    app = rest_app(Dispatch(system.serve(db)), tokens)
    callers = [*system.users[:4], Identity.of("root", "admin")]
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    statuses: dict[int, int] = defaultdict(int)
    async with httpx.AsyncClient(transport=transport, base_url="http://system") as web:
        paths: dict[str, Any] = (await web.get("/openapi.json")).json()["paths"]
        for method in ("get", "delete"):
            for path, operations in paths.items():
                if method not in operations:
                    continue
                for caller in callers:
                    for asked in _filled(path, {**known, "user_id": [caller.id]}):
                        token = tokens.issue(caller.id, *caller.groups)
                        headers = {"authorization": f"Bearer {token}"}
                        answer = await web.request(method, asked, headers=headers)
                        statuses[answer.status_code] += 1
                        assert answer.status_code < 500, (method, asked, answer.text)
    assert statuses[200], dict(statuses)
    assert expired or system.name == "inviter", "its table has no items that expire"


def _filled(path: str, known: dict[str, list[str]]) -> list[str]:
    """The path with ids that exist, a few times."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    values = {name: islice(cycle(known.get(to_snake(name), ["none"])), TRIES) for name in names}
    found = []
    for _ in range(TRIES if names else 1):
        asked = path
        for name in names:
            asked = asked.replace(f"{{{name}}}", next(values[name]))
        found.append(asked)
    return found
