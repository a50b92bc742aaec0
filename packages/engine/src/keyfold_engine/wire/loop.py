"""A worker's event loop: ready sockets, deferred calls, and timers.

It replaces asyncio, whose import takes longer than the rest of a server's start.
"""

from __future__ import annotations

import heapq
import select
import selectors
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from time import monotonic
from typing import Any, Protocol

# The values of EPOLLIN and EPOLLOUT.
READ, WRITE = 1, 4
_BOTH = READ | WRITE

Source = socket.socket | int
"""What can be watched: a socket or a file descriptor."""
Call = Callable[[], object]
Timer = tuple[float, int, Call]


class Poller(Protocol):
    """The interface of `select.epoll`."""

    def register(self, fd: int, eventmask: int, /) -> None: ...

    def modify(self, fd: int, eventmask: int, /) -> None: ...

    def unregister(self, fd: int, /) -> None: ...

    def poll(self, timeout: float | None, /) -> list[tuple[int, int]]: ...

    def close(self) -> None: ...


class Selection:
    """A poller for systems without epoll."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def register(self, fd: int, eventmask: int) -> None:
        self._selector.register(fd, _selected(eventmask))

    def modify(self, fd: int, eventmask: int) -> None:
        self._selector.modify(fd, _selected(eventmask))

    def unregister(self, fd: int) -> None:
        self._selector.unregister(fd)

    def poll(self, timeout: float | None) -> list[tuple[int, int]]:
        return [
            (key.fd, events & READ | (WRITE if events & selectors.EVENT_WRITE else 0))
            for key, events in self._selector.select(timeout)
        ]

    def close(self) -> None:
        self._selector.close()


def _selected(events: int) -> int:
    return events & READ | (selectors.EVENT_WRITE if events & WRITE else 0)


def _poller() -> Poller:
    # `selectors` would take twice the time for each event.
    return select.epoll() if hasattr(select, "epoll") else Selection()


class Loop:
    """Runs in one thread until stopped."""

    def __init__(self, poller: Poller | None = None) -> None:
        self._poller = poller or _poller()
        self._calls: dict[int, Callable[[int], object]] = {}
        """What to call for each watched descriptor."""
        self._soon: deque[Call] = deque()
        self._timers: list[Timer] = []
        self._number = count().__next__
        self._running = False
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)
        self.watch(self._receiver, READ, self._drain_wakeups)

    def run(self) -> None:
        """Run until `stop` is called."""
        self._running = True
        soon, poll, call_of = self._soon, self._poller.poll, self._calls.get
        while self._running:
            for source, events in poll(self._seconds_to_timer()):
                # A call before may have ended the watch.
                if (call := call_of(source)) is not None:
                    try:
                        # Errors and hang-ups are seen by whoever reads or writes.
                        call(_BOTH if events & ~_BOTH else events)
                    except Exception as error:
                        _log_error(error)
            self._ring()
            # Calls deferred by these run in the next iteration.
            for _ in range(len(soon)):
                try:
                    soon.popleft()()
                except Exception as error:
                    _log_error(error)

    def stop(self) -> None:
        """End after this iteration; call it on the loop."""
        self._running = False

    def close(self) -> None:
        """Run the remaining calls and free system resources."""
        while self._soon:
            self._soon.popleft()()
        self._poller.close()
        self._receiver.close()
        self._sender.close()

    def watch(self, source: Source, events: int, call: Callable[[int], object]) -> None:
        """Call the function when a socket is ready."""
        number = _descriptor(source)
        self._poller.register(number, events)
        self._calls[number] = call

    def watch_for(self, source: Source, events: int, call: Callable[[int], object]) -> None:
        """Change the events of a watched socket."""
        number = _descriptor(source)
        self._poller.modify(number, events)
        self._calls[number] = call

    def forget(self, source: Source) -> None:
        """Stop watching a socket."""
        number = _descriptor(source)
        self._poller.unregister(number)
        del self._calls[number]

    def call_soon(self, call: Callable[..., object], *arguments: Any) -> None:
        """Call in this iteration or the next; only from the loop's own thread."""
        self._soon.append(partial(call, *arguments) if arguments else call)

    def call_soon_threadsafe(self, call: Callable[..., object], *arguments: Any) -> None:
        """`call_soon` from any thread or signal handler."""
        self._soon.append(partial(call, *arguments))
        # A full pipe wakes the loop as well as another byte would; a closed one does not matter.
        with suppress(OSError):
            self._sender.send(b"\0")

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> None:
        """Call after a delay."""
        when = monotonic() + seconds
        timer: Timer = (when, self._number(), partial(call, *arguments))
        heapq.heappush(self._timers, timer)

    def _seconds_to_timer(self) -> float | None:
        """The time until the next timer."""
        if self._soon:
            return 0
        return max(0, self._timers[0][0] - monotonic()) if self._timers else None

    def _ring(self) -> None:
        timers = self._timers
        if timers and timers[0][0] <= monotonic():
            self._soon.append(heapq.heappop(timers)[2])

    def _drain_wakeups(self, _: int) -> None:
        with suppress(BlockingIOError):
            self._receiver.recv(4096)


def _descriptor(source: Source) -> int:
    return source if isinstance(source, int) else source.fileno()


def _log_error(error: Exception) -> None:
    """Log an error of one call and continue with the others."""
    import logging

    logging.getLogger(__name__).error("a call on the loop failed", exc_info=error)
