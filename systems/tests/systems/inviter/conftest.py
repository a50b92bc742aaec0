"""A table of Inviter behind DynamoDB's API, the author's boto3 on it, and the service on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from boto3.dynamodb.conditions import Key
from tests.systems.author import Author, Item, server

from keyfold import AsyncDb, new_ulid
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, letters
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.service import Inviter
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app

SOON = datetime(2100, 8, 9, 12, tzinfo=UTC)
"""Upcoming, on whichever server's clock."""


@pytest.fixture
def address() -> Iterator[str]:
    with server() as url:
        yield url


class InviterAuthor(Author):
    """The author of the guide: its queries, as it writes them."""

    def create(self, items: list[Item]) -> None:
        """The guide's table, made and filled by the author's own code."""
        attributes = {"PK": "S", "SK": "S", "gsi1pk": "S", "gsi1sk": "S", "startTimestamp": "N"}
        keys = {"": ("PK", "SK"), "UserGroupIndex": ("gsi1pk", "gsi1sk")}
        keys["EntityTimeIndex"] = ("gsi1pk", "startTimestamp")
        schemas = {
            name: [
                {"AttributeName": hash_, "KeyType": "HASH"},
                {"AttributeName": sort, "KeyType": "RANGE"},
            ]
            for name, (hash_, sort) in keys.items()
        }
        table = schemas.pop("")
        made = self.resource.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=table,
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": kind} for name, kind in attributes.items()
            ],
            GlobalSecondaryIndexes=[
                {"IndexName": name, "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
                for name, schema in schemas.items()
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        made.wait_until_exists()
        with made.batch_writer() as batch:
            for item in items:
                batch.put_item(item)

    def feed(self, group_id: str, **more: Any) -> list[Item]:
        condition = Key("PK").eq(f"GROUP#{group_id}") & Key("SK").begins_with("HANGOUT#")
        return self._asked(KeyConditionExpression=condition, **more)

    def groups(self, user_id: str) -> list[Item]:
        condition = Key("gsi1pk").eq(f"USER#{user_id}")
        return self._asked(IndexName="UserGroupIndex", KeyConditionExpression=condition)

    def upcoming(self, entity: str, current_timestamp: int | None = None) -> list[Item]:
        now = int(datetime.now(UTC).timestamp() * 1000)
        since = now if current_timestamp is None else current_timestamp
        condition = Key("gsi1pk").eq(entity) & Key("startTimestamp").gt(since)
        return self._asked(IndexName="EntityTimeIndex", KeyConditionExpression=condition)

    def _asked(self, **request: Any) -> list[Item]:
        found: list[Item] = self.table.query(**request)["Items"]
        return found


class Names:
    """Tokens that say who calls."""

    async def identity(self, token: str) -> Identity:
        return Identity.of(token)


class World:
    """The service on that table, over HTTP."""

    def __init__(self, db: AsyncDb, service: Inviter, web: httpx.AsyncClient) -> None:
        self.db, self.service, self.web = db, service, web

    async def call(
        self, who: str, method: str, path: str, json: Any = None, **headers: str
    ) -> httpx.Response:
        """Call an operation as a user; `""` is nobody."""
        if who:
            headers["authorization"] = f"Bearer {who}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.web.request(method, f"/inviter{path}", json=json, headers=sent)

    async def do(self, who: str, method: str, path: str, json: Any = None) -> Any:
        answer = await self.call(who, method, path, json)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def join(self, *names: str) -> None:
        for one in names:
            await self.do(one, "PUT", f"/users/{one}", {"name": one.title()})

    async def group(self, name: str, *members: str) -> str:
        """A group of users; the first creates it."""
        first, *others = members
        made = await self.do(first, "POST", "/groups", {"name": name})
        for one in others:
            await self.do(one, "POST", f"/groups/{made['groupId']}/members")
        return str(made["groupId"])

    async def plan(self, host: str, title: str, hours: int = 0, **more: Any) -> str:
        """A hangout; returns its id."""
        input = {"title": title, "startTimestamp": at(hours), **more}
        made = await self.do(host, "POST", "/hangouts", input)
        return str(made["hangoutId"])

    async def titles(self, who: str, path: str) -> list[str]:
        return [one["title"] for one in (await self.do(who, "GET", path))["items"]]

    async def settle(self) -> None:
        """Process the stream."""
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def drifts(self) -> list[Any]:
        return list((await self.db.run(verification(self.db.context))).drifts)


def at(hours: int) -> str:
    return (SOON + timedelta(hours=hours)).isoformat()


@asynccontextmanager
async def opened(address: str, prefix: str) -> AsyncIterator[World]:
    db = await design.open_async(address, table_prefix=prefix, create_tables=True)
    service = Inviter(db)
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
def author(address: str, prefix: str) -> InviterAuthor:
    return InviterAuthor(address, f"{prefix}InviterTable")


@pytest.fixture
async def world(address: str, prefix: str) -> AsyncIterator[World]:
    async with opened(address, prefix) as made:
        yield made
