"""TamaFriends on the embedded engine and over HTTP, with short ways to fill it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold.maintain import verification
from keyfold.serve import Identity, PageRequest
from keyfold.serve.dynamodb import BackgroundServer
from keyfold.streams import AsyncConsumer, letters
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends.design import Comment, Follow, Like, Post, UserProfile, design
from keyfold_systems.tamafriends.service import TamaFriends

YUKI, OMAR, LENA = Identity.of("yuki"), Identity.of("omar"), Identity.of("lena")
STRANGER = Identity.of("stranger")
"""Somebody with a good token and no account."""
PAGE = PageRequest(limit=50, cursor=None)


@dataclass
class World:
    """A service in a sandbox, and what happens in it."""

    service: TamaFriends
    db: AsyncDb
    sandbox: Sandbox

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

    def forget_progress(self) -> None:
        """Lose the consumer's checkpoints: every record of the stream is delivered again."""
        for item in self.sandbox.items("keyfold_streams"):
            if item["PK"]["S"].startswith("SHARDS#"):
                key = {name: item[name] for name in ("PK", "SK")}
                self.sandbox.engine.call("DeleteItem", {"TableName": "keyfold_streams", "Key": key})

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

    def kinds(self) -> Counter[str]:
        """How many items of each kind the table holds."""
        return Counter(item["type"]["S"] for item in self.sandbox.items("tamafriends"))


@pytest.fixture(params=["embedded", "http"])
async def world(request: pytest.FixtureRequest, sandbox: Sandbox) -> AsyncIterator[World]:
    with ExitStack() as stack:
        if request.param == "http":
            server = stack.enter_context(BackgroundServer(sandbox.engine))
            db = await design.open_async(server.url, clock=sandbox.clock, create_tables=True)
        else:
            db = await sandbox.open_async(design)
        made = World(TamaFriends(db), db, sandbox)
        await made.join(YUKI, OMAR, LENA)
        yield made
        await db.close()
