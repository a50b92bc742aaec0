"""gg_core over a real socket: GraphQL with the document's names, REST, many users at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn

from keyfold_web.app import ApiSettings, create_app
from keyfold_web.auth import DevelopmentTokens
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.service import GgCore
from tests.systems.conftest import BACKENDS
from tests.systems.opening import LATER, opened

from .conftest import World

pytestmark = LATER
MUTATIONS_OF_THE_DOCUMENT = {
    "followUser",
    "unfollowUser",
    "joinGroup",
    "leaveGroup",
    "postActivity",
    "createQuest",
    "cancelQuest",
    "deleteQuest",
    "sendMessage",
}


class Person:
    """Somebody who asks over HTTP."""

    def __init__(self, http: httpx.AsyncClient, tokens: DevelopmentTokens, name: str) -> None:
        self.name = name
        self._http = http
        self._headers = {"authorization": f"Bearer {tokens.issue(name)}"}

    async def ask(self, query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        answer = await self._http.post("/graphql", json=body, headers=self._headers)
        assert "errors" not in answer.json(), answer.text
        return next(iter(answer.json()["data"].values()))

    async def code(self, query: str) -> str:
        """The code with which something is refused."""
        answer = await self._http.post("/graphql", json={"query": query}, headers=self._headers)
        return str(answer.json()["errors"][0]["extensions"]["code"])

    async def sign_up(self) -> None:
        profile = {
            "nickname": self.name,
            "email": f"{self.name}@x.org",
            "fullName": self.name.title(),
        }
        await self.ask(
            "mutation ($input: NewUserInput!) { createUser(input: $input) { id } }", input=profile
        )

    async def feed(self) -> list[str]:
        seen: list[str] = []
        cursor = None
        while True:
            page = await self.ask(
                "query ($me: String!, $after: String) { feed(userId: $me, first: 7, after: $after) "
                "{ nodes { previewText } pageInfo { endCursor hasNextPage } } }",
                me=self.name,
                after=cursor,
            )
            seen += [node["previewText"] for node in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return seen
            cursor = page["pageInfo"]["endCursor"]


@asynccontextmanager
async def served(service: GgCore, tokens: DevelopmentTokens) -> AsyncIterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = create_app([service], ApiSettings(development=True, tokens=tokens))
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


@pytest.fixture(params=BACKENDS)
async def people(
    request: pytest.FixtureRequest, sandbox: Sandbox
) -> AsyncIterator[dict[str, Person]]:
    """Users of a running server, with a consumer beside it."""
    tokens = DevelopmentTokens()
    async with opened(design, sandbox, request.param) as db:
        consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
        running = asyncio.create_task(consumer.run())
        async with (
            served(GgCore(db), tokens) as base,
            httpx.AsyncClient(base_url=base, timeout=30) as http,
        ):
            everybody = {f"p{number}": Person(http, tokens, f"p{number}") for number in range(8)}
            await asyncio.gather(*(one.sign_up() for one in everybody.values()))
            yield everybody
        consumer.stop()
        await running


def test_the_service_has_the_mutations_of_the_document(world: World) -> None:
    assert set(world.service.operations) >= MUTATIONS_OF_THE_DOCUMENT


async def test_many_users_at_once_from_the_first_follow_to_the_feed(
    people: dict[str, Person],
) -> None:
    follow = "mutation ($who: String!) { followUser(followeeId: $who) { createdAt } }"
    post = "mutation ($input: NewActivityInput!) { postActivity(input: $input) { activityId } }"
    names = sorted(people)

    async def live(number: int, me: Person) -> None:
        for step in (1, 2, 3):
            await me.ask(follow, who=names[(number + step) % len(names)])
        for turn in range(3):
            await me.ask(post, input={"previewText": f"{me.name} {turn}"})

    await asyncio.gather(*(live(number, people[name]) for number, name in enumerate(names)))
    for number, name in enumerate(names):
        followed = [names[(number + step) % len(names)] for step in (1, 2, 3)]
        expected = {f"{who} {turn}" for who in followed for turn in range(3)}
        # What is copied is as late as the consumer, and never there twice.
        async with asyncio.timeout(20):
            while len(seen := await people[name].feed()) < len(expected):
                await asyncio.sleep(0.02)
        assert len(seen) == len(expected)
        assert set(seen) == expected
    counts = "query ($who: String!) { counts(userId: $who) { followers following } }"
    exact = {"followers": 3, "following": 3}
    for name in names:
        async with asyncio.timeout(20):
            while await people[name].ask(counts, who=name) != exact:
                await asyncio.sleep(0.02)


async def test_a_feed_shows_names_without_asking_for_each(people: dict[str, Person]) -> None:
    ann, ben = people["p0"], people["p1"]
    await ann.ask('mutation { followUser(followeeId: "p1") { createdAt } }')
    group = await ben.ask('mutation { createGroup(input: {name: "Runners"}) { groupId } }')
    await ann.ask(f'mutation {{ joinGroup(groupId: "{group["groupId"]}") {{ role }} }}')
    post = "mutation ($input: NewActivityInput!) { postActivity(input: $input) { activityId } }"
    await ben.ask(post, input={"previewText": "Mine"})
    await ben.ask(post, input={"previewText": "Ours", "actorId": group["groupId"]})
    asked = '{ feed(userId: "p0") { nodes { previewText author { fullName } group { name } } } }'
    # Copies cost nothing for who has posted nothing yet, so a follow may get them from the start;
    # what is copied is as late as the consumer.
    async with asyncio.timeout(20):
        while len((feed := await ann.ask(asked))["nodes"]) < 2:
            await asyncio.sleep(0.02)
    assert sorted(feed["nodes"], key=lambda one: str(one["previewText"])) == [
        {"previewText": "Mine", "author": {"fullName": "P1"}, "group": None},
        {"previewText": "Ours", "author": {"fullName": "P1"}, "group": {"name": "Runners"}},
    ]


async def test_a_life_in_gg_core_in_graphql(people: dict[str, Person]) -> None:
    ann, ben = people["p0"], people["p1"]
    group = await ann.ask(
        'mutation { createGroup(input: {name: "Runners", isPersistent: false}) { groupId owners } }'
    )
    assert group["owners"] == 1
    await ben.ask(f'mutation {{ joinGroup(groupId: "{group["groupId"]}") {{ role }} }}')
    goal = await ann.ask('mutation { createGoal(input: {title: "Run"}) { goalId } }')
    task = await ann.ask(
        f'mutation {{ createTask(goalId: "{goal["goalId"]}", input: {{title: "Shoes"}}) '
        "{ taskId } }"
    )
    quest = await ann.ask(
        'mutation { createQuest(input: {title: "One", kind: "quantitative", targetCount: 1}) '
        "{ id status } }"
    )
    await ann.ask(
        f'mutation {{ completeTask(goalId: "{goal["goalId"]}", taskId: "{task["taskId"]}") '
        "{ completedAt } }"
    )
    async with asyncio.timeout(20):
        while (await ann.ask('{ user(userId: "p0") { xp } }'))["xp"] != 10:
            await asyncio.sleep(0.02)
    cancel = f'mutation {{ cancelQuest(questId: "{quest["id"]}") {{ status }} }}'
    assert await ann.code(cancel) == "COMPLETED"
    room = await ann.ask(
        'mutation { createRoom(input: {scope: "dm", members: ["p1"]}) { roomId } }'
    )
    await ben.ask(
        f'mutation {{ sendMessage(roomId: "{room["roomId"]}", text: "Hello") {{ messageId }} }}'
    )
    history = await ann.ask(f'{{ messages(roomId: "{room["roomId"]}") {{ nodes {{ text }} }} }}')
    assert history["nodes"] == [{"text": "Hello"}]
    assert await ben.ask(f'mutation {{ leaveGroup(groupId: "{group["groupId"]}") }}') is True
    assert await ann.code(f'mutation {{ leaveGroup(groupId: "{group["groupId"]}") }}') == (
        "LAST_OWNER"
    )


async def test_a_request_id_makes_a_mutation_happen_once(people: dict[str, Person]) -> None:
    ann = people["p0"]
    post = (
        'mutation {{ postActivity(input: {{previewText: "{text}"}}, requestId: "r") '
        "{{ activityId }} }}"
    )
    first = await ann.ask(post.format(text="Hello"))
    assert await ann.ask(post.format(text="Hello")) == first
    assert await ann.code(post.format(text="Other")) == "REQUEST_REUSED"
    other = await people["p1"].ask(post.format(text="Mine"))
    assert other != first
