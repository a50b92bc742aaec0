from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator

import pytest

from keyfold_engine.wire.loop import READ, WRITE, Loop, Selection


@pytest.fixture(params=[None, Selection], ids=["epoll", "selectors"])
def loop(request: pytest.FixtureRequest) -> Iterator[Loop]:
    made = Loop(request.param and request.param())
    yield made
    made.close()


def test_calls_come_in_their_order_and_timers_when_their_time_is_over(loop: Loop) -> None:
    seen: list[str] = []
    loop.call_later(0.02, seen.append, "later")
    loop.call_later(0.01, seen.append, "sooner")
    loop.call_later(0.03, loop.stop)
    loop.call_soon(seen.append, "first")
    loop.call_soon(seen.append, "second")
    loop.run()
    assert seen == ["first", "second", "sooner", "later"]


def test_a_call_that_fails_is_told_and_ends_no_other(
    loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        loop.call_soon(int, "none")
        loop.call_soon(loop.stop)
        loop.run()
    assert "a call on the loop failed" in caplog.text
    assert "invalid literal" in caplog.text


def test_another_thread_wakes_a_loop_that_waits(loop: Loop) -> None:
    threading.Timer(0.02, lambda: loop.call_soon_threadsafe(loop.stop)).start()
    loop.run()


def test_more_calls_than_fit_the_pipe_that_wakes_it_are_made(loop: Loop) -> None:
    seen: list[int] = []
    for number in range(5_000):
        loop.call_soon_threadsafe(seen.append, number)
    loop.call_soon_threadsafe(loop.stop)
    loop.run()
    assert seen == list(range(5_000))


def test_a_socket_is_watched_until_it_is_forgotten(loop: Loop) -> None:
    here, there = socket.socketpair()
    with here, there:
        seen: list[bytes] = []

        def read(_: int) -> None:
            seen.append(here.recv(1))
            if len(seen) == 2:
                loop.forget(here)
                loop.call_later(0.02, loop.stop)

        loop.watch(here, READ, read)
        there.send(b"abc")
        loop.run()
    assert seen == [b"a", b"b"]


def test_a_socket_is_told_when_it_can_be_written_to_and_when_its_peer_is_gone(loop: Loop) -> None:
    here, there = socket.socketpair()
    with here, there:
        seen: list[int] = []

        def written(events: int) -> None:
            seen.append(events)
            loop.watch_for(here, READ, gone)
            there.close()

        def gone(events: int) -> None:
            assert here.recv(1) == b""
            seen.append(events & READ)
            loop.forget(here)
            loop.stop()

        loop.watch(here, WRITE, written)
        loop.run()
    assert seen == [WRITE, READ]


def test_an_event_of_a_socket_that_was_just_forgotten_is_dropped(loop: Loop) -> None:
    pairs = [socket.socketpair() for _ in range(2)]
    seen: list[int] = []

    def read(_: int) -> None:
        seen.append(1)
        for here, there in pairs:
            loop.forget(here)
            here.close()
            there.close()
        loop.call_later(0.02, loop.stop)

    for here, there in pairs:
        loop.watch(here, READ, read)
        there.send(b"x")
    loop.run()
    assert seen == [1]
