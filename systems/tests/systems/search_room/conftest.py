"""A table of Search Room behind DynamoDB's API, the author's boto3 on it, and the service on it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from boto3.dynamodb.conditions import Key
from tests.systems.author import Author, Item, server
from tests.systems.conftest import INDEX_LAG

from keyfold import AsyncDb, new_ulid
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, letters
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.service import SearchRoom
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app


@pytest.fixture
def address() -> Iterator[str]:
    with server() as url:
        yield url


class RoomAuthor(Author):
    """The author of the document: its key conditions, as its tables write them."""

    def begins(self, pk: str, sk: str, **more: Any) -> list[Item]:
        condition = Key("PK").eq(pk) & Key("SK").begins_with(sk)
        return self._asked(KeyConditionExpression=condition, **more)

    def latest(self, pk: str, sk: str) -> Item:
        """Query (Limit 1, DESC)."""
        [found] = self.begins(pk, sk, Limit=1, ScanIndexForward=False)
        return found

    def by_status(self, room: str, status: str) -> list[Item]:
        condition = Key("GSI2PK").eq(f"ROOM#{room}") & Key("GSI2SK").begins_with(
            f"STATUS#{status}#"
        )
        return self._asked(IndexName="StatusIndex", KeyConditionExpression=condition)

    def by_external_id(self, source: str, external: str, room: str) -> list[Item]:
        condition = Key("GSI1PK").eq(f"SOURCE#{source}#{external}") & Key("GSI1SK").eq(
            f"ROOM#{room}"
        )
        return self._asked(IndexName="ExternalIdIndex", KeyConditionExpression=condition)

    def later(self, room: str, timestamp: str) -> list[Item]:
        condition = Key("PK").eq(f"ROOM#{room}") & Key("SK").gt(f"ACTIVITY#{timestamp}")
        return self._asked(KeyConditionExpression=condition)

    def create(self, items: list[Item]) -> None:
        """The table of the migration notes: two keys, no index, no TTL, no stream."""
        made = self.resource.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")
            ],
        )
        made.wait_until_exists()
        with made.batch_writer() as batch:
            for item in items:
                batch.put_item(item)

    def _asked(self, **request: Any) -> list[Item]:
        time.sleep(INDEX_LAG if "IndexName" in request else 0)
        found: list[Item] = self.table.query(**request)["Items"]
        return found


class Names:
    """Tokens that say who calls; what stands behind a colon is the token's group."""

    async def identity(self, token: str) -> Identity:
        name, *groups = token.split(":")
        return Identity.of(name, *groups)


class World:
    """The service on that table, over HTTP."""

    def __init__(self, db: AsyncDb, service: SearchRoom, web: httpx.AsyncClient) -> None:
        self.db, self.service, self.web = db, service, web

    async def call(
        self, who: str, method: str, path: str, json: Any = None, **headers: str
    ) -> httpx.Response:
        """Call an operation as a user; `""` is nobody."""
        if who:
            headers["authorization"] = f"Bearer {who}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.web.request(method, f"/search-room{path}", json=json, headers=sent)

    async def do(self, who: str, method: str, path: str, json: Any = None) -> Any:
        answer = await self.call(who, method, path, json)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def room(self, *people: str) -> str:
        """The path of a room of these people; the first owns it."""
        for one in people:
            await self.do(one, "PUT", f"/users/{one}", {"name": one.title()})
        new = {"name": "Ours", "searchType": "rent"}
        room = (await self.do(people[0], "POST", "/rooms", new))["roomId"]
        for one in people[1:]:
            await self.do(people[0], "POST", f"/rooms/{room}/members", {"userId": one})
        return f"/rooms/{room}"

    async def pin(self, who: str, room: str, title: str = "Loft", **more: Any) -> str:
        """A listing; returns its id."""
        new = {"sourceBrand": "homegate", "title": title, **more}
        return str((await self.do(who, "POST", f"{room}/listings", new))["listingId"])

    async def want(self, who: str, room: str, **criteria: Any) -> Any:
        return await self.do(who, "POST", f"{room}/criteria", {"criteria": criteria})

    async def settle(self) -> None:
        """Process the stream."""
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def drifts(self) -> list[Any]:
        return list((await self.db.run(verification(self.db.context))).drifts)


@asynccontextmanager
async def opened(address: str, prefix: str, *, create_tables: bool = True) -> AsyncIterator[World]:
    db = await design.open_async(address, table_prefix=prefix, create_tables=create_tables)
    service = SearchRoom(db)
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
def author(address: str, prefix: str) -> RoomAuthor:
    return RoomAuthor(address, f"{prefix}search-room")


@pytest.fixture
async def world(address: str, prefix: str) -> AsyncIterator[World]:
    async with opened(address, prefix) as made:
        yield made
