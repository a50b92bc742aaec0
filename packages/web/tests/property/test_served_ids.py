"""Odd ids through the whole way: HTTP, operation, keys, engine and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import ClassVar
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyfold import Design, Entity, Key, Page
from keyfold_web import Identity, PageRequest, Service, authenticated, mutation, query
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app

design = Design("served-ids")
table = design.table("ServedIds")


class Box(Entity, table=table):
    user_id: str
    box_id: str
    text: str
    key = Key("USER#{user_id}", "BOX#{box_id}")


class Boxes(Service):
    design: ClassVar[Design] = design

    @mutation("/boxes/{box_id}", method="PUT", allow=authenticated)
    async def fill(self, box_id: str, text: str, caller: Identity) -> Box:
        return await self.db.put(Box(user_id=caller.id, box_id=box_id, text=text))

    @query("/boxes/{box_id}", allow=authenticated)
    async def box(self, box_id: str, caller: Identity) -> Box:
        return await self.db.get(Box.key(user_id=caller.id, box_id=box_id))

    @query("/boxes", allow=authenticated)
    async def boxes(self, page: PageRequest, caller: Identity) -> Page[Box]:
        wanted = Box.key.query(user_id=caller.id)
        return await self.db.read(wanted, cursor=page.cursor, limit=page.limit)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[httpx.AsyncClient, DevelopmentTokens]]:
    tokens = DevelopmentTokens()
    async with await design.open_async(":memory:") as db:
        transport = httpx.ASGITransport(rest_app(Dispatch(Boxes(db)), tokens))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client, tokens


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


# Pieces of keys, so that generated ids try to be each other's.
pieces = st.sampled_from(["#", "BOX#", "USER#", "a", "b", "%23", "\\", "é", "\U0001f600", " ", "."])
ids = st.one_of(
    st.lists(pieces, min_size=1, max_size=5).map("".join),
    st.text(min_size=1, max_size=10),
    st.sampled_from([1000, 1020, 1025, 1200]).map("x".__mul__),
)
# URLs have no way to name a segment that is only dots: clients resolve it before they send.
ids = ids.filter(lambda text: text not in (".", ".."))
writes = st.lists(st.tuples(ids, ids), min_size=1, max_size=8)


@given(writes=writes)
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_written_under_odd_ids_is_found_there_and_nowhere_else(
    runner: asyncio.Runner, writes: list[tuple[str, str]]
) -> None:
    async def check() -> None:
        model: dict[tuple[str, str], str] = {}
        async with served() as (client, tokens):

            def headers(user: str) -> dict[str, str]:
                return {"authorization": f"Bearer {tokens.issue(user)}"}

            for number, (user, box) in enumerate(writes):
                url = f"/boxes/{quote(box, safe='')}"
                answer = await client.put(url, json={"text": str(number)}, headers=headers(user))
                assert answer.status_code in (200, 404, 422), answer.text
                if answer.status_code == 200:
                    model[user, box] = str(number)
            for user, box in writes:
                answer = await client.get(f"/boxes/{quote(box, safe='')}", headers=headers(user))
                found = answer.json()["text"] if answer.status_code == 200 else None
                assert found == model.get((user, box))
                listed = await client.get("/boxes", headers=headers(user))
                if listed.status_code == 200:
                    assert {one["boxId"] for one in listed.json()["items"]} == {
                        b for u, b in model if u == user
                    }

    runner.run(check())
