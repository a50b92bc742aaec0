"""Every system with half of what can expire over and not swept, and with indexes behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import cycle, islice
from typing import Any, Literal

import httpx
import pytest
from pydantic.alias_generators import to_snake

from keyfold import AsyncDb
from keyfold.testing import Sandbox
from keyfold_demo.systems import System, find_systems
from keyfold_engine.clients.protocol import AsyncClient
from keyfold_web import Identity
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app

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


async def sweep(system: System, sandbox: Sandbox) -> int:
    """Delete by hand what is over, as the sweep does in the end; gives how many."""
    now, count = int(sandbox.clock.now()), 0
    for table in system.design.tables.values():
        ttl = table.schema.ttl
        for item in sandbox.items(table.name):
            if ttl is not None and int(item.get(ttl, {}).get("N", now + 1)) <= now:
                key = {name: item[name] for name in table.schema.key_attributes}
                sandbox.engine.call("DeleteItem", {"TableName": table.name, "Key": key})
                count += 1
    return count


class Reader:
    """Asks for everything that can be asked for, as several callers."""

    def __init__(self, system: System, sandbox: Sandbox, db: AsyncDb) -> None:
        self.tokens = DevelopmentTokens(clock=sandbox.clock)
        self.app = rest_app(Dispatch(system.serve(db)), self.tokens)
        self.known = known_values(system, sandbox)
        self.callers = [*system.users[:2], Identity.of("root", "admin")]

    async def answers(self) -> dict[tuple[str, str], list[tuple[int, Any]]]:
        """The answers by caller and path, all pages of each."""
        found: dict[tuple[str, str], list[tuple[int, Any]]] = {}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://system") as web:
            paths: dict[str, Any] = (await web.get("/openapi.json")).json()["paths"]
            for caller in self.callers:
                token = self.tokens.issue(caller.id, *caller.groups)
                web.headers["authorization"] = f"Bearer {token}"
                values = {**self.known, "user_id": [caller.id]}
                for path in (path for path, operations in paths.items() if "get" in operations):
                    for asked in _filled(path, values):
                        found[caller.id, asked] = await _pages(web, asked)
        return found


async def _pages(web: httpx.AsyncClient, asked: str) -> list[tuple[int, Any]]:
    """The whole list page by page, its elements together; or the one answer."""
    status, body = await _answer(web, asked)
    if not isinstance(body, dict) or not isinstance(body.get("items"), list):
        return [(status, body)]
    elements, cursor = body["items"], body.get("cursor")
    while cursor is not None:
        _, more = await _answer(web, asked, cursor=cursor)
        elements, cursor = elements + more["items"], more.get("cursor")
    return [(status, elements)]


async def _answer(web: httpx.AsyncClient, asked: str, **params: str) -> tuple[int, Any]:
    answer = await web.get(asked, params=params)
    text = answer.headers.get("content-type", "").split(";")[0]
    return answer.status_code, answer.json() if text.endswith("json") else text


async def test_reads_answer_as_they_do_after_the_sweep(system: System) -> None:
    async with Sandbox() as sandbox:
        db = await sandbox.open_async(system.design)
        await system.fill(db)
        sandbox.clock.advance(60)
        reader = Reader(system, sandbox, db)
        untouched = await reader.answers()
        expired = await expire_half(system, sandbox, db.client)
        before = await reader.answers()
        assert await sweep(system, sandbox) >= expired
        after = await reader.answers()
        assert {asked for asked in before if before[asked] != after[asked]} == set()
        assert (untouched == after) == (expired == 0), "what has expired was to be seen"


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
    # The demo of Sellers has no open invitation, its one kind of item that expires.
    assert expired or system.name in ("inviter", "sellers", "tamafriends"), (
        "its table has no items that expire"
    )


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
