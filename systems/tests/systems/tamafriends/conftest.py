"""TamaFriends on the embedded engine and over HTTP, with short ways to fill it.

With KEYFOLD_SYSTEMS_ADDRESS it is on that server instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest, passwords
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, letters
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends.addresses import comment_address, post_address
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Follow, Like, Post, UserProfile
from keyfold_systems.tamafriends.payloads import NewPost
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.conftest import BACKENDS
from tests.systems.opening import opened, stored

YUKI, OMAR, LENA = Identity.of("yuki"), Identity.of("omar"), Identity.of("lena")
STRANGER = Identity.of("stranger")
"""Somebody with a good token and no account."""
START = datetime(2031, 1, 1, tzinfo=UTC)
PAGE = PageRequest(limit=50, cursor=None)
COUNTS = ("Home", "Inbox")
QUICK = (2, 8, 1)
"""What a digest costs here."""


class Postbox:
    """Mail that is kept here."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    async def send(self, to: str, subject: str, text: str) -> None:
        assert subject
        self.sent.append((to, text))


async def enrol(db: AsyncDb, *people: Identity) -> None:
    """Give them profiles under their own names."""
    for one in people:
        await db.create(
            UserProfile(
                user_id=one.id,
                email=f"{one.id}@example.com",
                username=f"{one.id}.name",
                handle=one.id,
                display_name=one.id.title(),
            )
        )


@dataclass
class World:
    """A service in a sandbox, and what happens in it."""

    service: TamaFriends
    db: AsyncDb
    sandbox: Sandbox

    async def join(self, *people: Identity) -> None:
        await enrol(self.db, *people)

    async def post(self, who: Identity = YUKI, text: str = "Look!", **more: Any) -> Post:
        self.sandbox.clock.advance(1)
        shown = await self.service.create_post(NewPost(text=text, **more), caller=who)
        address = post_address(shown.post_id)
        assert address is not None
        return await self.db.get(address)

    async def like(self, who: Identity, post: Post) -> Like:
        self.sandbox.clock.advance(1)
        return await self.service.like(post.post_id, caller=who)

    async def comment(self, who: Identity, post: Post, text: str = "Nice.") -> Comment:
        self.sandbox.clock.advance(1)
        shown = await self.service.comment(post.post_id, text, caller=who)
        address = comment_address(post.post_id, shown.comment_id)
        assert address is not None
        return await self.db.get(address)

    async def follow(self, who: Identity, other: Identity) -> Follow:
        return await self.service.follow(who.id, other.id)

    async def settle(self) -> None:
        """Let the stream's consequences come about."""
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def drift(self) -> list[object]:
        """What does not fit together."""
        return list((await self.db.run(verification(self.db.context))).drifts)

    async def counts(self, who: Identity) -> tuple[int, int]:
        """Followers and following, as the profile says."""
        shown = await self.service.user(who.id, caller=who)
        return shown.followers, shown.following

    async def reactions(self, post: Post) -> tuple[int, int]:
        """Likes and comments, as the post says."""
        shown = await self.db.get(post.ref())
        return shown.likes, shown.comments

    async def items(self) -> list[dict[str, Any]]:
        """Everything the table holds, as it is stored."""
        return await stored(self.db, "tamafriends")

    async def kinds(self) -> Counter[str]:
        """How many items of each kind the table holds, without what the feed and inboxes count."""
        kinds = Counter(item["type"]["S"] for item in await self.items())
        return Counter({one: n for one, n in kinds.items() if not one.startswith(COUNTS)})


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests take a while on purpose, and tests sign many up."""
    monkeypatch.setattr(passwords, "COST", QUICK)


@pytest.fixture(params=BACKENDS)
async def world(request: pytest.FixtureRequest, sandbox: Sandbox) -> AsyncIterator[World]:
    async with opened(design, sandbox, request.param) as db:
        made = World(TamaFriends(db), db, sandbox)
        await made.join(YUKI, OMAR, LENA)
        yield made


@pytest.fixture
async def local(sandbox: Sandbox) -> World:
    """The same on the embedded engine, whose requests, time and lag are at hand."""
    db = await sandbox.open_async(design)
    made = World(TamaFriends(db), db, sandbox)
    await made.join(YUKI, OMAR, LENA)
    return made
