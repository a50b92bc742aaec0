"""One worker, the owner, executes the writes of all workers.

A file has one writer at a time. Workers that take turns wait for each other, reread pages that
another changed, and commit fewer writes at once. So each sends its writes to the owner over a
private socket, and the owner executes them with its own. Without an owner, a worker writes itself,
as any process may that has the file open.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from keyfold_engine.engine.commit_group import Done, Result, Writes
from keyfold_engine.engine.lane import WouldStall
from keyfold_engine.errors import InternalFailure
from keyfold_engine.wire import answer
from keyfold_engine.wire.loop import READ, Loop
from keyfold_engine.wire.targets import COMMITTED
from keyfold_engine.wire.transport import Transport

if TYPE_CHECKING:
    from pathlib import Path

    from keyfold_engine.wire.front import FrontDoor

# A message: its number, its operation or the status of its answer, its size.
_HEAD = Struct("<IHI")
_NUMBERS = 2**32
_STALLS = 0
"""In place of a status: the call would block the loop, and nothing was done."""
_RETRY_SECONDS = 1.0

_OPERATIONS = tuple(sorted(COMMITTED))
_CODES = {operation: code for code, operation in enumerate(_OPERATIONS)}


class Relay(NamedTuple):
    """The address of the owner, and whether this worker is the owner."""

    address: Path
    owned: socket.socket | None


class WorkerLink:
    """One end of a connection between two workers: messages of one iteration are sent together."""

    def __init__(
        self,
        loop: Loop,
        connected: socket.socket,
        take: Callable[[int, int, bytes], None],
        lose: Callable[[], None],
    ) -> None:
        self._loop, self._take, self._fail_waiting = loop, take, lose
        self._came = b""
        self._unsent: list[bytes] = []
        connected.setblocking(False)
        self._transport = Transport(loop, connected, self)
        self._transport.start()

    def send(self, number: int, code: int, content: bytes) -> None:
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += (_HEAD.pack(number, code, len(content)), content)

    def close(self) -> None:
        self._transport.close()

    def _flush(self) -> None:
        data = b"".join(self._unsent)
        self._unsent.clear()
        self._transport.write(data)

    # Called by the transport.

    def connection_made(self, transport: Transport) -> None: ...

    def data_received(self, data: bytes) -> None:
        if self._came:
            data = self._came + data
        at = 0
        while len(data) - at >= _HEAD.size:
            number, code, size = _HEAD.unpack_from(data, at)
            begin = at + _HEAD.size
            if begin + size > len(data):
                break
            at = begin + size
            self._take(number, code, data[begin:at])
        self._came = data[at:]

    def eof_received(self) -> bool:
        return False

    # The clients' own limits suffice for what waits here.

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self) -> None:
        self._fail_waiting()


class WriteOwner:
    """The worker that executes all writes."""

    def __init__(self, loop: Loop, front: FrontDoor, listener: socket.socket) -> None:
        self._loop, self._front, self._listener = loop, front, listener
        self._request_id = answer.request_ids()
        self.links: set[WorkerLink] = set()
        listener.setblocking(False)
        loop.watch(listener, READ, self._accept)

    def _accept(self, _: int) -> None:
        with suppress(OSError):
            connected, _ = self._listener.accept()
            link = WorkerLink(
                self._loop,
                connected,
                lambda *message: self._take(link, *message),
                lambda: self.links.discard(link),
            )
            self.links.add(link)

    def _take(self, link: WorkerLink, number: int, code: int, body: bytes) -> None:
        self._front.writes.submit(_OPERATIONS[code], body, partial(self._answer, link, number))

    def _answer(self, link: WorkerLink, number: int, result: Result) -> None:
        if isinstance(result, bytes):
            link.send(number, 200, result)
        elif isinstance(result, WouldStall):
            link.send(number, _STALLS, b"")
        else:
            link.send(number, *self._front.refusal(result, self._request_id()))


class RelayedWrites:
    """Sends writes to the owner, or executes them here if there is none."""

    def __init__(self, loop: Loop, own: Writes, owner: Path) -> None:
        self._loop, self._own, self._owner = loop, own, owner
        self._link: WorkerLink | None = None
        self._number = 0
        self._waiting: dict[int, Done] = {}
        self._connect()

    def submit(self, operation: str, body: bytes, done: Done) -> None:
        """Run a write; `done` is called on the loop after its commit."""
        if self._link is None:
            self._own.submit(operation, body, done)
            return
        number = self._number = (self._number + 1) % _NUMBERS
        self._waiting[number] = done
        self._link.send(number, _CODES[operation], body)

    def close(self) -> None:
        if self._link is not None:
            self._link.close()

    def _connect(self) -> None:
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.connect(str(self._owner))
        except OSError:
            connected.close()
            self._loop.call_later(_RETRY_SECONDS, self._connect)
        else:
            self._link = WorkerLink(self._loop, connected, self._take, self._fail_waiting)

    def _take(self, number: int, status: int, body: bytes) -> None:
        done = self._waiting.pop(number)
        if status == 200:
            done(body)
        else:
            done(WouldStall() if status == _STALLS else answer.Refusal(status, body))

    def _fail_waiting(self) -> None:
        """The owner is gone: whether it executed pending writes is unknown."""
        self._link = None
        waiting, self._waiting = self._waiting, {}
        for done in waiting.values():
            done(answer.Refusal(*answer.error_body(InternalFailure("Internal server error"))))
        self._loop.call_later(_RETRY_SECONDS, self._connect)
