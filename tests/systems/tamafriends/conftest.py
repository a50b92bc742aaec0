"""TamaFriends on the embedded engine and over HTTP, with short ways to fill it.

With KEYFOLD_SYSTEMS_ADDRESS it is on that server instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from keyfold import AsyncDb, new_ulid
from keyfold.maintain import verification
from keyfold.serve import Identity, PageRequest
from keyfold.serve.dynamodb import BackgroundServer
from keyfold.streams import AsyncConsumer, letters
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends.design import Comment, Follow, Like, Post, UserProfile, design
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.conftest import ADDRESS

YUKI, OMAR, LENA = Identity.of("yuki"), Identity.of("omar"), Identity.of("lena")
STRANGER = Identity.of("stranger")
"""Somebody with a good token and no account."""
PAGE = PageRequest(limit=50, cursor=None)
LATER = pytest.mark.sandbox(start=datetime(2031, 1, 1, tzinfo=UTC))
"""Servers with a clock of their own delete what is over by it, so tests are in the future."""


@dataclass
class World:
    """A service in a sandbox, and what happens in it."""

    service: TamaFriends
    db: AsyncDb
    sandbox: Sandbox
    prefix: str = ""
    """What the tables' names begin with."""

    async def join(self, *people: Identity) -> None:
        for one in people:
            await self.db.create(
                UserProfile(
                    user_id=one.id,
                    email=f"{one.id}@example.com",
                    username=f"{one.id}.name",
                    handle=one.id,
                    display_name=one.id.title(),
                )
            )

    async def post(self, who: Identity = YUKI, text: str = "Look!", **more: Any) -> Post:
        self.sandbox.clock.advance(1)
        return await self.service.create_post(text, caller=who, **more)

    async def like(self, who: Identity, post: Post) -> Like:
        self.sandbox.clock.advance(1)
        return await self.service.like(post.post_id, caller=who)

    async def comment(self, who: Identity, post: Post, text: str = "Nice.") -> Comment:
        self.sandbox.clock.advance(1)
        return await self.service.comment(post.post_id, text, caller=who)

    async def follow(self, who: Identity, other: Identity) -> Follow:
        return await self.service.follow(who.id, other.id)

    async def settle(self) -> None:
        """Let the stream's consequences come about."""
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def forget_progress(self) -> None:
        """Lose the consumer's checkpoints: every record of the stream is delivered again."""
        for item in await self.items("keyfold_streams"):
            if item["PK"]["S"].startswith("SHARDS#"):
                key = {name: item[name] for name in ("PK", "SK")}
                request = {"TableName": f"{self.prefix}keyfold_streams", "Key": key}
                await self.db.client.call("DeleteItem", request)

    async def drift(self) -> list[object]:
        """What does not fit together."""
        return list((await self.db.run(verification(self.db.context))).drifts)

    async def counts(self, who: Identity) -> tuple[int, int]:
        """Followers and following, as the profile says."""
        shown = await self.service.user(who.id)
        return shown.followers, shown.following

    async def reactions(self, post: Post) -> tuple[int, int]:
        """Likes and comments, as the post says."""
        shown = await self.db.get(post.ref())
        return shown.likes, shown.comments

    async def items(self, table: str = "tamafriends") -> list[dict[str, Any]]:
        """Everything a table holds, as it is stored."""
        request = {"TableName": f"{self.prefix}{table}"}
        return list((await self.db.client.call("Scan", request))["Items"])

    async def kinds(self) -> Counter[str]:
        """How many items of each kind the table holds."""
        return Counter(item["type"]["S"] for item in await self.items())


@pytest.fixture(params=["embedded", "http"] if ADDRESS is None else ["address"])
async def world(request: pytest.FixtureRequest, sandbox: Sandbox) -> AsyncIterator[World]:
    # A server remembers the streams of deleted tables, so each test there has its own names.
    prefix = f"{new_ulid()}-" if ADDRESS is not None else ""
    with ExitStack() as stack:
        if request.param == "embedded":
            db = await sandbox.open_async(design)
        else:
            url = ADDRESS or stack.enter_context(BackgroundServer(sandbox.engine)).url
            db = await design.open_async(
                url, clock=sandbox.clock, table_prefix=prefix, create_tables=True
            )
        made = World(TamaFriends(db), db, sandbox, prefix)
        await made.join(YUKI, OMAR, LENA)
        yield made
        await db.close()


@pytest.fixture
async def local(sandbox: Sandbox) -> World:
    """The same on the embedded engine, whose requests, time and lag are at hand."""
    db = await sandbox.open_async(design)
    made = World(TamaFriends(db), db, sandbox)
    await made.join(YUKI, OMAR, LENA)
    return made
