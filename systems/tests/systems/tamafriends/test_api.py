"""TamaFriends over a real socket: REST and GraphQL, many users at once, from sign-up to leaving."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from keyfold_web.app import ApiSettings, create_app
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends import demo
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.service import TamaFriends

PEOPLE = 8
README = Path(demo.__file__).parent / "README.md"
PASSWORD = "correct horse"


class Person:
    """Somebody with a browser."""

    def __init__(self, http: httpx.AsyncClient, name: str) -> None:
        self.http, self.name = http, name
        self.id = ""
        self.headers: dict[str, str] = {}

    async def rest(self, method: str, path: str, body: Any = None) -> httpx.Response:
        request = {"json": body} if body is not None else {}
        return await self.http.request(method, path, headers=self.headers, **request)

    async def ask(self, query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        answer = await self.http.post("/graphql", json=body, headers=self.headers)
        assert "errors" not in answer.json(), answer.text
        return next(iter(answer.json()["data"].values()))

    async def sign_up(self) -> None:
        account = {
            "email": f"{self.name}@Example.com",
            "username": self.name,
            "handle": self.name,
            "displayName": self.name.title(),
            "password": PASSWORD,
        }
        made = await self.rest("POST", "/accounts", account)
        assert made.status_code == 201, made.text
        self.id = made.json()["userId"]

    async def sign_in(self) -> None:
        login = {"login": f"{self.name}@example.com", "password": PASSWORD}
        signed = await self.rest("POST", "/sessions", login)
        assert signed.status_code == 201, signed.text
        self.headers = {"authorization": f"Bearer {signed.json()['token']}"}


@asynccontextmanager
async def served(service: TamaFriends) -> AsyncIterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = create_app([service], ApiSettings(development=True))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=3)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/{service.name}"
    finally:
        server.should_exit = True
        await task


@pytest.fixture
async def people(sandbox: Sandbox) -> AsyncIterator[list[Person]]:
    """Users of a running server, with a consumer beside it."""
    db = await sandbox.open_async(design)
    consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
    running = asyncio.create_task(consumer.run())
    async with (
        served(TamaFriends(db)) as base,
        httpx.AsyncClient(base_url=base, timeout=30) as http,
    ):
        everybody = [Person(http, f"person{number}") for number in range(PEOPLE)]
        await asyncio.gather(*(one.sign_up() for one in everybody))
        await asyncio.gather(*(one.sign_in() for one in everybody))
        yield everybody
    consumer.stop()
    await running
    assert (await db.run(verification(db.context))).clean


async def eventually(person: Person, query: str, expected: Any) -> None:
    async with asyncio.timeout(30):
        while await person.ask(query) != expected:
            await asyncio.sleep(0.02)


async def test_many_users_at_once_from_signing_up_to_leaving(people: list[Person]) -> None:
    follow = (
        "mutation ($me: String!, $who: String!) { follow(userId: $me, followeeId: $who) "
        "{ createdAt } }"
    )
    share = "mutation ($text: String!) { createPost(input: {text: $text}) { postId } }"
    like = "mutation ($post: String!) { like(postId: $post) { createdAt } }"
    say = 'mutation ($post: String!) { comment(postId: $post, text: "Nice.") { commentId } }'
    star, *fans = people
    post = (await star.ask(share, text="Look!"))["postId"]

    async def admire(fan: Person) -> None:
        await fan.ask(follow, me=fan.id, who=star.id)
        await fan.ask(like, post=post)
        await fan.ask(say, post=post)

    await asyncio.gather(*(admire(fan) for fan in fans))
    many = len(fans)
    await eventually(
        star,
        f'{{ post(postId: "{post}") {{ likes comments }} }}',
        {"likes": many, "comments": many},
    )
    counts = f'{{ user(userId: "{star.id}") {{ followers following }} }}'
    await eventually(star, counts, {"followers": many, "following": 0})

    answer = await star.rest("GET", f"/users/{star.id}/followers?limit=5")
    assert len(answer.json()["items"]) == 5

    leaving, staying = fans[: many // 2], fans[many // 2 :]
    gone = await asyncio.gather(*(one.rest("DELETE", f"/users/{one.id}") for one in leaving))
    assert {one.status_code for one in gone} == {204}
    await eventually(
        star,
        f'{{ post(postId: "{post}") {{ likes comments }} }}',
        {"likes": len(staying), "comments": len(staying)},
    )
    await eventually(star, counts, {"followers": len(staying), "following": 0})
    late = await leaving[0].rest("POST", f"/posts/{post}/likes")
    assert late.status_code == 401

    assert (await star.rest("DELETE", f"/posts/{post}")).status_code == 204
    nothing = f'{{ likes(userId: "{staying[0].id}") {{ nodes {{ since }} }} }}'
    await eventually(staying[0], nothing, {"nodes": []})
    assert (await star.rest("GET", f"/posts/{post}")).status_code == 404


async def test_a_taken_name_is_a_conflict_that_names_the_field(people: list[Person]) -> None:
    one, other = people[:2]
    answer = await one.rest("PATCH", f"/users/{one.id}", {"handle": other.name.upper()})
    assert answer.status_code == 409
    assert answer.json()["errors"] == [{"path": "handle", "message": "is taken"}]


async def test_an_idempotency_key_makes_one_post(people: list[Person]) -> None:
    one = people[0]
    one.headers["idempotency-key"] = "k"
    first, second = [await one.rest("POST", "/posts", {"text": "Hi"}) for _ in range(2)]
    assert first.json() == second.json()
    reused = await one.rest("POST", "/posts", {"text": "Other"})
    assert (reused.status_code, reused.json()["code"]) == (422, "REQUEST_REUSED")


async def test_the_demo_is_a_network_with_a_few_stars(sandbox: Sandbox) -> None:
    db = await sandbox.open_async(design)
    await demo.fill(db)
    await AsyncConsumer(db).drain()
    counts = sorted([one.followers async for one in db.scan(UserProfile)], reverse=True)
    assert f"a network of {len(counts)} users" in README.read_text("utf-8")
    assert counts[0] > 5 * counts[len(counts) // 2] > 0
    assert sum(counts[: len(counts) // 5]) > sum(counts) / 3
    assert (await db.run(verification(db.context))).clean
