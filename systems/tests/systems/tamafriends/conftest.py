"""A table of TamaFriends behind DynamoDB's API, the author's boto3 on it, and the service on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from tests.systems.author import Author, server

from keyfold import AsyncDb, new_ulid
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, letters
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app


@pytest.fixture
def address() -> Iterator[str]:
    with server() as url:
        yield url


class Names:
    """Tokens that say who calls; "root" is an administrator."""

    async def identity(self, token: str) -> Identity:
        return Identity.of(token, *(["admin"] if token == "root" else []))


class World:
    """The service on that table, over HTTP."""

    def __init__(self, db: AsyncDb, service: TamaFriends, web: httpx.AsyncClient) -> None:
        self.db, self.service, self.web = db, service, web

    async def call(
        self, who: str, method: str, path: str, json: Any = None, **headers: str
    ) -> httpx.Response:
        """Call an operation as a user; `""` is nobody."""
        if who:
            headers["authorization"] = f"Bearer {who}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.web.request(method, f"/tama-friends{path}", json=json, headers=sent)

    async def do(self, who: str, method: str, path: str, json: Any = None) -> Any:
        answer = await self.call(who, method, path, json)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def join(self, *names: str) -> None:
        for one in names:
            await self.do(one, "POST", "/profiles", account(one))

    async def settle(self) -> None:
        """Process the stream."""
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def drifts(self) -> list[Any]:
        return list((await self.db.run(verification(self.db.context))).drifts)


def account(name: str) -> dict[str, Any]:
    own = {"email": f"{name}@example.com", "username": f"{name}.name", "handle": name}
    return {**own, "displayName": name.title()}


@asynccontextmanager
async def opened(address: str, prefix: str) -> AsyncIterator[World]:
    db = await design.open_async(address, table_prefix=prefix, create_tables=True)
    service = TamaFriends(db)
    app = create_app([service], ApiSettings(tokens=Names(), on_loop="raise"))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        yield World(db, service, web)
    await db.close()


@pytest.fixture
def prefix() -> str:
    """Of all names of tables: each test has its own, also on a server that remembers."""
    return f"{new_ulid()}-"


@pytest.fixture
def author(address: str, prefix: str) -> Author:
    return Author(address, f"{prefix}tamafriends")


@pytest.fixture
async def world(address: str, prefix: str) -> AsyncIterator[World]:
    async with opened(address, prefix) as made:
        yield made
