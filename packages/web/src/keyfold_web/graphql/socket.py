"""GraphQL over a WebSocket: the protocol graphql-transport-ws.

The token comes with `connection_init`, as `{"authorization": "Bearer ..."}`, or in the handshake's
header. Messages are processed in order: the pong to a ping sent after a `subscribe` confirms that
the subscription has begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import orjson
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from keyfold_web.asgi import address_of
from keyfold_web.auth import Tokens, authenticate
from keyfold_web.dispatch import Caller
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.problems import Refused

if TYPE_CHECKING:
    from keyfold_web.graphql.endpoint import Executor

PROTOCOL: Final = "graphql-transport-ws"
OPERATIONS: Final = 30
"""Concurrent operations over one socket."""
INIT_SECONDS: Final = 10.0
ID_CHARACTERS: Final = 128
MESSAGE_CHARACTERS: Final = 100_000


class _Closed(Exception):
    """The client broke the protocol or is not allowed."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason


class GraphQLSocket:
    """An ASGI application for WebSockets of this protocol."""

    def __init__(
        self, executor: Executor, tokens: Tokens | None, origins: Sequence[str] = ()
    ) -> None:
        self._executor, self._tokens, self._origins = executor, tokens, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        if not self._is_allowed(socket):
            await socket.close()
            return
        if PROTOCOL not in scope["subprotocols"]:
            await socket.accept()
            await socket.close(4406, "Subprotocol not acceptable")
            return
        await socket.accept(PROTOCOL)
        async with asyncio.TaskGroup() as tasks:
            talk = _Talk(socket, self._executor, self._tokens, tasks)
            try:
                await talk.run()
            except _Closed as closed:
                await talk.end()
                await socket.close(closed.code, closed.reason)
            except WebSocketDisconnect:
                pass
            finally:
                await talk.end()

    def _is_allowed(self, socket: WebSocket) -> bool:
        """Whether the page that opened the socket is allowed: browsers let any page do so, and
        name it.
        """
        origin = socket.headers.get("origin")
        if origin is None or origin in self._origins or "*" in self._origins:
            return True
        return urlsplit(origin).netloc == socket.headers.get("host")


class _Talk:
    """One client's connection."""

    def __init__(
        self,
        socket: WebSocket,
        executor: Executor,
        tokens: Tokens | None,
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._socket, self._executor, self._tokens, self._tasks = socket, executor, tokens, tasks
        self._caller: Caller | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        try:
            first = await asyncio.wait_for(self._message(), INIT_SECONDS)
        except TimeoutError:
            raise _Closed(4408, "Connection initialisation timeout") from None
        while True:
            await self._take(first)
            first = await self._message()

    async def end(self) -> None:
        """End all running operations."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _message(self) -> dict[str, Any]:
        try:
            text = await self._socket.receive_text()
            message = orjson.loads(text) if len(text) <= MESSAGE_CHARACTERS else None
        except (KeyError, orjson.JSONDecodeError):
            message = None
        if not isinstance(message, dict):
            raise _Closed(4400, "Invalid message")
        return message

    async def _take(self, message: dict[str, Any]) -> None:
        match message:
            case {"type": "connection_init"}:
                await self._begin(message.get("payload"))
            case {"type": "ping"}:
                payload = message.get("payload")
                await self._send(
                    {"type": "pong"} | ({"payload": payload} if isinstance(payload, dict) else {})
                )
            case {"type": "pong"}:
                pass
            case {"type": "subscribe", "id": str(id), "payload": dict(payload)} if (
                0 < len(id) <= ID_CHARACTERS
            ):
                await self._subscribe(id, payload)
            case {"type": "complete", "id": str(id)}:
                if (task := self._running.pop(id, None)) is not None:
                    task.cancel()
            case _:
                raise _Closed(4400, "Invalid message")

    async def _begin(self, payload: object) -> None:
        if self._caller is not None:
            raise _Closed(4429, "Too many initialisation requests")
        given = payload if isinstance(payload, dict) else {}
        header = given.get("authorization") or given.get("Authorization")
        if header is None:
            header = self._socket.headers.get("authorization")
        if header is not None and not isinstance(header, str):
            raise _Closed(4400, "Invalid message")
        try:
            identity = await authenticate(self._tokens, header)
        except Refused as refused:
            raise _Closed(4403, refused.message[:100]) from None
        self._caller = Caller(identity, address_of(self._socket.scope))
        await self._send({"type": "connection_ack"})

    async def _subscribe(self, id: str, payload: dict[str, Any]) -> None:
        if self._caller is None:
            raise _Closed(4401, "Unauthorized")
        if self._caller.seconds_left == 0:
            raise _Closed(4403, "The token has expired.")
        if id in self._running:
            raise _Closed(4409, f"Subscriber for {id} already exists")
        if len(self._running) >= OPERATIONS:
            raise _Closed(4429, f"{OPERATIONS} operations at the same time are allowed")
        try:
            request = GraphQLRequest.model_validate(payload)
        except ValueError:
            raise _Closed(4400, "Invalid message") from None
        found = await self._executor.stream(request, self._caller)
        if isinstance(found, tuple):
            await self._send({"id": id, "type": "error", "payload": found[1]["errors"]})
            return
        self._running[id] = self._tasks.create_task(self._answer(id, found))

    async def _answer(self, id: str, answers: AsyncGenerator[dict[str, Any], None]) -> None:
        try:
            async for answer in answers:
                await self._send({"id": id, "type": "next", "payload": answer})
            self._running.pop(id, None)
            await self._send({"id": id, "type": "complete"})
        except (WebSocketDisconnect, RuntimeError):
            # The client disconnected; the session ends by itself.
            return
        finally:
            await answers.aclose()

    async def _send(self, message: dict[str, Any]) -> None:
        await self._socket.send_text(orjson.dumps(message).decode())
