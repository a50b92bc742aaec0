"""Subscriptions over real HTTP and real WebSockets, fed by the stream of a real table."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from keyfold import AsyncDb, Design, Entity, Key
from keyfold.errors import DeclarationError
from keyfold.streams import Change
from keyfold_web import (
    Arguments,
    Identity,
    Payload,
    Service,
    anyone,
    authenticated,
    mutation,
    related,
    rule,
    subscription,
)
from keyfold_web import watchers as watching
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.connections import BoundedConnection
from keyfold_web.development import DevelopmentTokens
from keyfold_web.graphql import socket as socket_module

design = Design("rooms")
table = design.table("Rooms", stream="NEW_AND_OLD_IMAGES")


class Message(Entity, table=table):
    room_id: str
    message_id: str
    author_id: str
    text: str
    key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")


class Seat(Entity, table=table):
    room_id: str
    user_id: str
    key = Key("ROOM#{room_id}", "SEAT#{user_id}")


class Author(Payload):
    user_id: str


@rule
async def seated(service: Rooms, caller: Identity, arguments: Arguments) -> bool:
    seat = Seat.key(room_id=arguments["room_id"], user_id=caller.id)
    return await service.db.find(seat) is not None


class Rooms(Service):
    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db
        self.loads: list[int] = []

    @mutation("/rooms/{room_id}/messages/{message_id}", method="PUT", allow=authenticated)
    async def say(self, room_id: str, message_id: str, text: str, caller: Identity) -> Message:
        return await self.db.put(
            Message(room_id=room_id, message_id=message_id, author_id=caller.id, text=text)
        )

    @subscription(Message, allow=seated)
    async def said(self, change: Change[Message], room_id: str, words: str = "") -> Message | None:
        """What is said in a room, or what has some words in it."""
        return change.new if change.new is not None and words in change.new.text else None

    @subscription(Message, Seat, allow=anyone, name="happened")
    async def anything(self, change: Change[Entity], room_id: str) -> str:
        """Everything that happens in a room."""
        return f"{change.kind} {change.spec.name}"

    @related(Message)
    async def author(self, parents: list[Message]) -> list[Author | None]:
        self.loads.append(len(parents))
        return [Author(user_id=one.author_id) for one in parents]


@dataclass
class Site:
    url: str
    db: AsyncDb
    service: Rooms
    tokens: DevelopmentTokens
    server: uvicorn.Server

    @property
    def socket_url(self) -> str:
        return f"{self.url.replace('http', 'ws')}/rooms/graphql"

    def header(self, who: str, seconds: int = 600) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens.issue(who, seconds=seconds)}"}

    async def open_subscriptions(self) -> float:
        async with httpx.AsyncClient() as client:
            text = (await client.get(f"{self.url}/metrics")).text
        counts = dict.fromkeys(("begun", "ended"), 0.0)
        for line in text.splitlines():
            for kind in counts:
                if line.startswith(f"keyfold_subscriptions_{kind}_total{{"):
                    counts[kind] += float(line.rpartition(" ")[2])
        return counts["begun"] - counts["ended"]

    async def say(self, text: str, room: str = "hall", id: str = "m1") -> None:
        message = Message(room_id=room, message_id=id, author_id="mia", text=text)
        await self.db.put(message)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    listener = socket.create_server(("127.0.0.1", 0))
    tokens = DevelopmentTokens()
    async with await design.open_async(":memory:") as db:
        service = Rooms(db)
        app = create_app([service], ApiSettings(development=True, tokens=tokens))
        config = uvicorn.Config(
            app, log_level="error", http=BoundedConnection, timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        await db.put(Seat(room_id="hall", user_id="mia"))
        url = f"http://localhost:{listener.getsockname()[1]}"
        yield Site(url, db, service, tokens, server)
        server.should_exit = True
        await serving


SAID = 'subscription { said(roomId: "hall") { text } }'


class Talk:
    """A client of graphql-transport-ws."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def next(self) -> dict[str, Any]:
        text = await asyncio.wait_for(self.connection.recv(), 5)
        message: dict[str, Any] = json.loads(text)
        return message

    async def subscribe(self, query: str, id: str = "1", **variables: Any) -> None:
        """Until it has begun: the pong to a ping behind it."""
        await self.send(id=id, type="subscribe", payload={"query": query, "variables": variables})
        await self.send(type="ping", payload={"behind": id})

    async def begun(self) -> None:
        assert (await self.next())["type"] == "pong"

    async def closed(self) -> int:
        try:
            while True:
                await self.next()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd is not None else 0


@asynccontextmanager
async def talking(site: Site, who: str | None = "mia", **options: Any) -> AsyncIterator[Talk]:
    async with connect(site.socket_url, subprotocols=["graphql-transport-ws"], **options) as made:  # type: ignore[list-item]
        talk = Talk(made)
        await talk.send(type="connection_init", payload=site.header(who) if who else {})
        assert await talk.next() == {"type": "connection_ack"}
        yield talk


async def test_what_is_written_is_heard_over_a_socket_by_who_may(site: Site) -> None:
    async with talking(site) as talk:
        await talk.subscribe(SAID)
        await talk.begun()
        await site.say("of another room", room="yard")
        await site.say("hello")
        heard = {"id": "1", "type": "next", "payload": {"data": {"said": {"text": "hello"}}}}
        assert await talk.next() == heard
        await talk.send(id="1", type="complete")
        await site.say("after the end")
        await talk.send(type="ping")
        assert await talk.next() == {"type": "pong"}
    while await site.open_subscriptions():
        await asyncio.sleep(0.01)


async def test_events_are_streamed_over_http_and_begin_when_the_answer_does(site: Site) -> None:
    headers = {"accept": "text/event-stream", **site.header("mia")}
    async with (
        httpx.AsyncClient() as client,
        client.stream(
            "POST", f"{site.url}/rooms/graphql", json={"query": SAID}, headers=headers
        ) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        assert await anext(lines) == ":"
        await site.say("hello")
        heard = [await anext(lines) for _ in range(3)]
    assert heard == ["", "event: next", 'data: {"data":{"said":{"text":"hello"}}}']


async def test_a_query_over_either_has_one_answer_and_its_end(site: Site) -> None:
    query = "{ service }"
    async with talking(site) as talk:
        await talk.send(id="q", type="subscribe", payload={"query": query})
        assert (await talk.next())["payload"] == {"data": {"service": "rooms"}}
        assert await talk.next() == {"id": "q", "type": "complete"}
    headers = {"accept": "text/event-stream"}
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{site.url}/rooms/graphql", json={"query": query}, headers=headers
        )
    assert answer.text.endswith("event: complete\ndata: \n\n")


async def test_a_plain_post_of_a_subscription_is_told_where_to_go(site: Site) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{site.url}/rooms/graphql", json={"query": SAID})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["extensions"]["code"] == "SUBSCRIPTION"


@pytest.mark.parametrize(("who", "code"), [(None, "NOT_AUTHENTICATED"), ("eve", "NOT_ALLOWED")])
async def test_who_may_not_hear_is_refused(site: Site, who: str | None, code: str) -> None:
    async with talking(site, who) as talk:
        await talk.send(id="1", type="subscribe", payload={"query": SAID})
        refused = await talk.next()
        assert refused["payload"]["errors"][0]["extensions"]["code"] == code
        assert await talk.next() == {"id": "1", "type": "complete"}
    assert await site.open_subscriptions() == 0


async def test_who_loses_the_right_hears_nothing_more(site: Site) -> None:
    async with talking(site) as talk:
        await talk.subscribe(SAID)
        await talk.begun()
        await site.db.delete(Seat.key(room_id="hall", user_id="mia"))
        await site.say("not for mia")
        refused = await talk.next()
        assert refused["payload"]["errors"][0]["extensions"]["code"] == "NOT_ALLOWED"
        assert "not for mia" not in json.dumps(refused)


async def test_a_subscription_ends_with_its_token(site: Site) -> None:
    async with connect(site.socket_url, subprotocols=["graphql-transport-ws"]) as made:  # type: ignore[list-item]
        talk = Talk(made)
        await talk.send(type="connection_init", payload=site.header("mia", seconds=1))
        await talk.next()
        await talk.subscribe(SAID)
        await talk.begun()
        over = await talk.next()
        assert over["payload"]["errors"][0]["extensions"]["code"] == "TOKEN_EXPIRED"


async def test_an_expired_token_does_nothing_more_over_a_socket(site: Site) -> None:
    written = """mutation { say(roomId: "hall", messageId: "m1", text: "late") { text } }"""
    async with connect(site.socket_url, subprotocols=["graphql-transport-ws"]) as made:  # type: ignore[list-item]
        talk = Talk(made)
        await talk.send(type="connection_init", payload=site.header("mia", seconds=1))
        await talk.next()
        await talk.subscribe(SAID)
        await talk.begun()
        await talk.next()
        await talk.send(id="2", type="subscribe", payload={"query": written})
        assert await talk.closed() == 4403
    assert await site.db.find(Message.key(room_id="hall", message_id="m1")) is None


async def test_one_subscription_hears_of_several_entities_and_of_removals(site: Site) -> None:
    async with talking(site, None) as talk:
        await talk.subscribe('subscription { happened(roomId: "hall") }')
        await talk.begun()
        await site.say("hello")
        await site.say("hello again")
        await site.db.delete(Seat.key(room_id="hall", user_id="mia"))
        heard = [(await talk.next())["payload"]["data"]["happened"] for _ in range(3)]
    assert heard == ["insert Message", "modify Message", "remove Seat"]


async def test_each_event_loads_its_relations_anew(site: Site) -> None:
    async with talking(site) as talk:
        query = 'subscription { said(roomId: "hall", words: "!") { text author { userId } } }'
        await talk.subscribe(query)
        await talk.begun()
        await site.say("one")
        for text in ("two!", "three!"):
            await site.say(text)
            heard = (await talk.next())["payload"]["data"]["said"]
            assert heard == {"text": text, "author": {"userId": "mia"}}
    assert site.service.loads == [1, 1]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([{"type": "subscribe", "id": "1", "payload": {"query": SAID}}], 4401),
        ([{"type": "connection_init"}, {"type": "connection_init"}], 4429),
        ([{"type": "connection_init", "payload": {"authorization": "Bearer x"}}], 4403),
        ([{"type": "connection_init", "payload": {"authorization": 3}}], 4400),
        ([{"type": "connection_init"}, {"type": "what"}], 4400),
        ([{"type": "connection_init"}, {"type": "subscribe", "id": "1", "payload": {}}], 4400),
        ([["no", "message"]], 4400),
    ],
)
async def test_what_breaks_the_protocol_is_closed_with_its_code(
    site: Site, messages: list[Any], code: int
) -> None:
    async with connect(site.socket_url, subprotocols=["graphql-transport-ws"]) as made:  # type: ignore[list-item]
        for message in messages:
            await made.send(json.dumps(message))
        assert await Talk(made).closed() == code


async def test_an_id_in_use_and_too_many_operations_close_the_socket(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(site) as talk:
        await talk.subscribe(SAID)
        await talk.subscribe(SAID)
        assert await talk.closed() == 4409
    monkeypatch.setattr(socket_module, "OPERATIONS", 1)
    async with talking(site) as talk:
        await talk.subscribe(SAID)
        await talk.subscribe(SAID, id="2")
        assert await talk.closed() == 4429


async def test_a_page_of_another_site_cannot_open_a_socket(site: Site) -> None:
    protocols: Any = ["graphql-transport-ws"]
    with pytest.raises(InvalidStatus):
        await connect(
            site.socket_url, subprotocols=protocols, origin=Origin("https://evil.example")
        )
    port = int(site.url.rpartition(":")[2])
    led_here = site.socket_url.replace("localhost", "evil.example")
    with pytest.raises(InvalidStatus):
        await connect(led_here, subprotocols=protocols, host="127.0.0.1", port=port)
    async with talking(site, origin=site.url):
        pass


async def test_a_caller_has_so_many_subscriptions(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "WATCHERS_OF_A_CALLER", 1)
    async with talking(site) as talk, talking(site) as other:
        await talk.subscribe(SAID)
        await talk.begun()
        await other.send(id="1", type="subscribe", payload={"query": SAID})
        refused = await other.next()
        assert refused["payload"]["errors"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"


async def test_a_flood_of_streams_that_nobody_reads_leaves_others_and_nothing_behind(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedConnection, "unread_seconds", 0.5)
    body = json.dumps({"query": SAID}).encode()
    head = f"authorization: {site.header('mia')['authorization']}\r\ncontent-length: {len(body)}"
    request = (
        "POST /rooms/graphql HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n"
        f"content-type: application/json\r\n{head}\r\n\r\n"
    ).encode() + body
    port = int(site.url.rpartition(":")[2])
    flood = []
    for _ in range(watching.WATCHERS_OF_A_CALLER + 10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.write(request)
        flood.append((reader, writer))
    while await site.open_subscriptions() < watching.WATCHERS_OF_A_CALLER:
        await asyncio.sleep(0.01)
    for number in range(watching.WAITING_CHANGES):
        await site.say("x" * 100_000, id=f"m{number}")
    async with httpx.AsyncClient() as client:
        url = f"{site.url}/rooms/rooms/hall/messages/m1"
        said = await client.put(url, json={"text": "hi"}, headers=site.header("ben"))
    assert said.status_code == 200
    while await site.open_subscriptions():
        await asyncio.sleep(0.05)
    for _, writer in flood:
        writer.close()


async def test_who_does_not_keep_up_is_told_to_begin_anew(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "WAITING_CHANGES", 2)
    async with talking(site, None) as talk:
        await talk.subscribe('subscription { happened(roomId: "hall") }')
        await talk.begun()
        await site.db.put_many(
            [
                Message(room_id="hall", message_id=f"m{n}", author_id="mia", text="")
                for n in range(9)
            ]
        )
        while "errors" not in (heard := (await talk.next())["payload"]):
            pass
    assert heard["errors"][0]["extensions"]["code"] == "TOO_SLOW"


async def test_a_server_that_stops_ends_its_streams_at_once(site: Site) -> None:
    headers = {"accept": "text/event-stream", **site.header("mia")}
    url = f"{site.url}/rooms/graphql"
    async with (
        talking(site) as talk,
        httpx.AsyncClient(timeout=4) as client,
        client.stream("POST", url, json={"query": SAID}, headers=headers) as answer,
    ):
        await talk.subscribe(SAID)
        await talk.begun()
        lines = answer.aiter_lines()
        await anext(lines)
        site.server.should_exit = True
        with suppress(httpx.RemoteProtocolError):
            async for _ in lines:
                pass
        assert await talk.closed() in (1001, 1012)


class Unseen(Entity, table=Design("quiet").table("Quiet")):
    room_id: str
    key = Key("UNSEEN#{room_id}", "UNSEEN")


def test_a_subscription_that_cannot_work_is_refused_where_it_stands() -> None:
    with pytest.raises(DeclarationError, match="no stream of both images"):

        class First(Service):
            @subscription(Unseen, allow=anyone)
            async def heard(self, change: Change[Unseen], room_id: str) -> str:
                return ""

    with pytest.raises(DeclarationError, match="no parameter for the change"):

        class Second(Service):
            @subscription(Message, allow=anyone)
            async def heard(self, room_id: str) -> str:
                return ""
