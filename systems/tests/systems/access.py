"""Who may do what: a table for each system, with a row for each operation and a column for each
kind of caller.

A cell is `yes`, or the status that the caller is refused with. Where that depends on what is asked
for, an operation has several rows: `deleteGroup` and `deleteGroup/lasting`. Every cell is a request
to the system's REST API about things that are there, so who may do something also can. A token that
somebody else signed gets nobody in, and whoever is refused has changed nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx
from tests.systems.conftest import recording
from tests.systems.opening import stored
from tests.systems.repeats import filled

from keyfold import AsyncDb, Design
from keyfold_engine.clock import ManualClock
from keyfold_web import ANONYMOUS, Identity, Service
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.parameters import Operation
from keyfold_web.rest import rest_app


@dataclass(frozen=True)
class Scene:
    """A system with something in it; what is there, by the names that operations have for it."""

    service: Service
    there: Mapping[str, str]

    async def everything(self) -> dict[str, list[dict[str, Any]]]:
        """All that is stored, in whichever tables."""
        db, prefix = self.service.db, self.service.db.context.table_prefix
        names = (await db.client.call("ListTables", {}))["TableNames"]
        tables = [one.removeprefix(prefix) for one in names if one.startswith(prefix)]
        return {table: await stored(db, table) for table in tables}


Setting = Callable[[], AbstractAsyncContextManager[Scene]]
"""Sets a scene, the same each time."""


@dataclass
class Matrix:
    """The table, who stands in its columns, and what is sent beside what is there."""

    table: str
    callers: Mapping[str, Identity]
    sent: Mapping[str, Mapping[str, Any]]
    rows: dict[str, dict[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        lines = [line.split() for line in self.table.splitlines() if line.strip()]
        (_, *columns), *rows = lines
        assert columns == list(self.callers)
        self.rows = {name: dict(zip(columns, cells, strict=True)) for name, *cells in rows}

    def check_complete(self, service: type[Service]) -> None:
        """A new operation needs a row."""
        assert {_operation(row) for row in self.rows} == set(service.operations)
        assert set(self.sent) <= set(self.rows)

    async def check(self, name: str, setting: Setting) -> None:
        """One row. What may change something has a scene of its own for each who may."""
        row = self.rows[name]
        asked = Asked(_operation(name), self.sent.get(name, {}))
        async with setting() as scene:
            alone = scene.service.operations[asked.operation].kind == "mutation"
            together = [who for who in row if not (alone and row[who] == "yes")]
            before = await scene.everything()
            found = {who: await asked.by(self.callers[who], scene) for who in together}
            assert found == {who: row[who] for who in together}
            *_, mightiest = self.callers.values()
            assert await asked.by(mightiest, scene, forged=True) == "401"
            assert await scene.everything() == before
        for who in row.keys() - found.keys():
            async with setting() as scene:
                assert {who: await asked.by(self.callers[who], scene)} == {who: row[who]}


@dataclass(frozen=True)
class Asked:
    """A request for an operation."""

    operation: str
    sent: Mapping[str, Any]

    async def by(self, caller: Identity, scene: Scene, *, forged: bool = False) -> str:
        """What the caller is answered."""
        tokens = DevelopmentTokens()
        signing = DevelopmentTokens() if forged else tokens
        headers = {}
        if caller is not ANONYMOUS or forged:
            token = signing.issue(caller.id or "somebody", *caller.groups)
            headers["authorization"] = f"Bearer {token}"
        transport = httpx.ASGITransport(rest_app(Dispatch(scene.service), tokens))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            request = self._request(scene.service.operations[self.operation], scene.there)
            answer = await http.request(**request, headers=headers)
        return "yes" if answer.is_success else str(answer.status_code)

    def _request(self, operation: Operation, there: Mapping[str, str]) -> dict[str, Any]:
        given = {**there, **filled(dict(self.sent), dict(there))}
        path = {one: quote(str(value), safe="") for one, value in given.items()}
        request: dict[str, Any] = {"method": operation.verb, "url": operation.path.format(**path)}
        named = {
            place: {
                one.public: given[one.public]
                for one in operation.parameters
                if one.place == place and one.public in given
            }
            for place in ("query", "body")
        }
        if named["query"]:
            request["params"] = named["query"]
        if operation.body_parameter is not None:
            (request["json"],) = named["body"].values()
        elif operation.in_body:
            request["json"] = named["body"]
        return request


def _operation(row: str) -> str:
    return row.partition("/")[0]


@asynccontextmanager
async def fresh(design: Design, now: datetime) -> AsyncIterator[AsyncDb]:
    """The design's tables, empty, at a moment that stands still."""
    clock = ManualClock(now.timestamp())
    async with recording("", clock) as client:
        opening = design.open_async(client, clock=clock, table_prefix=client.prefix)
        async with await opening as db:
            yield db
