"""Code of others that flows invoke: in threads that are used again, unless they hang."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from keyfold.runtime.flow import Call, Flow, Invoke, Overdue, drive, drive_async


def invoked(*functions: Callable[[], Any], seconds: float = 60) -> Flow[list[Any]]:
    found = []
    for function in functions:
        found.append((yield Invoke(function, seconds, "a processor")))
    return found


def run(flow: Flow[Any]) -> Any:
    def call(one: Call) -> Any:
        raise AssertionError(one)

    return drive(flow, call)


def run_async(flow: Flow[Any]) -> Any:
    async def call(one: Call) -> Any:
        raise AssertionError(one)

    return asyncio.run(drive_async(flow, call))


@pytest.mark.parametrize("driven", [run, run_async])
def test_a_thread_that_came_back_is_used_again(driven: Callable[[Flow[Any]], Any]) -> None:
    threads = set(driven(invoked(*[threading.get_ident] * 50)))
    assert len(threads) < 10
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("driven", [run, run_async])
def test_a_thread_that_hangs_is_left_behind(driven: Callable[[Flow[Any]], Any]) -> None:
    let_go = threading.Event()
    with pytest.raises(Overdue, match="a processor did not end within"):
        driven(invoked(let_go.wait, seconds=0.05))
    assert driven(invoked(lambda: "goes on")) == ["goes on"]
    let_go.set()


@pytest.mark.parametrize("driven", [run, run_async])
def test_an_error_is_that_of_the_code(driven: Callable[[Flow[Any]], Any]) -> None:
    def fails() -> None:
        raise ValueError("of the code")

    with pytest.raises(ValueError, match="of the code"):
        driven(invoked(fails))
    assert driven(invoked(lambda: "goes on")) == ["goes on"]
