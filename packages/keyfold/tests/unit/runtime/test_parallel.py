"""Requests that do not need each other's answers are on their way together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keyfold import Design, Entity, Id, Key, Merge, each, merge
from keyfold.runtime import design as opened
from keyfold.runtime.merged_partitions import CONCURRENCY
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("parallel")
table = design.table("parallel")
AUTHORS = [f"author {number}" for number in range(8)]
SECONDS = 10.0


class Post(Entity, table=table):
    author_id: Id
    post_id: Id
    key = Key("AUTHOR#{author_id}", "POST#{post_id}")


@design.pattern(requests=100)
def posts_of(author_ids: list[str], limit: int = 50) -> Merge[Post]:
    return merge(Post.key.query(author_id=each(author_ids))).limit(limit)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine, design.open(EmbeddedClient(engine)) as db:
        for number in range(3 * CONCURRENCY):
            author = f"author {number}"
            db.create(Post(author_id=author, post_id=f"p{number:03d}"))
        yield engine


class Meeting(EmbeddedClient):
    """Answers a query once so many of them are there; alone, a query fails."""

    def __init__(self, engine: Engine, size: int) -> None:
        super().__init__(engine)
        self._all_there = threading.Barrier(size, timeout=SECONDS)

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "Query":
            self._all_there.wait()
        return super().call(operation, request)

    def close(self) -> None:
        """The engine stays open for the next client of it."""


class AsyncMeeting(AsyncEmbeddedClient):
    """The same on an event loop; it also knows how many were there at most."""

    def __init__(self, engine: Engine, size: int) -> None:
        super().__init__(engine)
        self._all_there = asyncio.Barrier(size)
        self._under_way = 0
        self.most = 0

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation != "Query":
            return await super().call(operation, request)
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        async with asyncio.timeout(SECONDS):
            await self._all_there.wait()
        self._under_way -= 1
        return await super().call(operation, request)


def test_the_partitions_of_a_merge_are_read_in_parallel(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "connect", lambda _, clock: Meeting(engine, len(AUTHORS)))
    db = design.open("http://elsewhere:8000", create_tables=False)
    page = posts_of(db, AUTHORS)
    assert [post.post_id for post in page] == [f"p{number:03d}" for number in range(len(AUTHORS))]


async def test_the_partitions_of_a_merge_are_read_in_parallel_on_an_event_loop(
    engine: Engine,
) -> None:
    db = await design.open_async(AsyncMeeting(engine, len(AUTHORS)), create_tables=False)
    page = await posts_of(db, AUTHORS)
    assert [post.post_id for post in page] == [f"p{number:03d}" for number in range(len(AUTHORS))]


async def test_a_merge_of_many_partitions_has_a_bound(engine: Engine) -> None:
    client = AsyncMeeting(engine, CONCURRENCY)
    db = await design.open_async(client, create_tables=False)
    authors = [f"author {number}" for number in range(3 * CONCURRENCY)]
    assert len(await posts_of(db, authors, limit=len(authors))) == len(authors)
    assert client.most == CONCURRENCY
