"""Flows: logic written once as generators that yield effects, driven by sync and async handles.

A flow never does I/O. It yields what it needs (`Call`, `Parallel`, `Pause`, `Invoke`) and receives
the answer. Only `drive` and `drive_async` talk to a backend. asyncio, which takes longer to import
than the rest of a small program, is imported where it is used.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Answer: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to the backend; yields its answer or raises its error."""

    operation: str
    request: Mapping[str, Any]
    excused: bool = False
    """Not counted against the budget."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """Several concurrent requests; yields the list of answers or raises the first error."""

    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before continuing."""

    seconds: float


class Overdue(TimeoutError):
    """Invoked code exceeded its time limit."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """User code, plain or a coroutine; raises Overdue when it takes too long."""

    function: Callable[[], Any]
    seconds: float
    name: str


Effect: TypeAlias = Call | Parallel | Pause | Invoke
Flow: TypeAlias = Generator[Effect, Any, T]
Caller: TypeAlias = Callable[[Call], Answer]
AsyncCaller: TypeAlias = Callable[[Call], Awaitable[Answer]]
Send: TypeAlias = Callable[[str, Mapping[str, Any]], Answer]
"""A client's `call`."""


def drive(flow: Flow[T], call: Caller, pool: ThreadPoolExecutor | None = None) -> T:
    """Run a flow to its end; without a pool, parallel calls run one after another."""

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Call):
            return call(effect)
        if isinstance(effect, Parallel):
            if pool is None or len(effect.calls) == 1:
                return [call(one) for one in effect.calls]
            return list(pool.map(call, effect.calls))
        if isinstance(effect, Invoke):
            return _invoke(effect)
        time.sleep(effect.seconds)
        return None

    try:
        effect = next(flow)
        while True:
            try:
                answer = perform(effect)
            except Exception as problem:
                effect = flow.throw(problem)
            else:
                effect = flow.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def run_by(send: Send, flow: Flow[T]) -> T:
    """Run a flow on a client alone, without counting or budget."""
    return drive(flow, lambda one: send(one.operation, one.request))


async def drive_async(flow: Flow[T], call: AsyncCaller) -> T:
    """Run a flow to its end on an event loop."""
    try:
        effect = next(flow)
        while True:
            try:
                if isinstance(effect, Call):
                    answer = await call(effect)
                else:
                    answer = await _perform_async(effect, call)
            except Exception as problem:
                effect = flow.throw(problem)
            else:
                effect = flow.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _perform_async(effect: Parallel | Pause | Invoke, call: AsyncCaller) -> Any:
    import asyncio

    if isinstance(effect, Parallel):
        return await asyncio.gather(*(call(one) for one in effect.calls))
    if isinstance(effect, Invoke):
        return await _invoke_async(effect)
    await asyncio.sleep(effect.seconds)
    return None


def _invoke(effect: Invoke) -> Any:
    def result() -> Any:
        given = effect.function()
        if not inspect.iscoroutine(given):
            return given
        import asyncio

        return asyncio.run(given)

    outcome = _in_thread(result, effect.name)
    try:
        return outcome.result(effect.seconds)
    except TimeoutError:
        if outcome.done():
            raise
        raise _late(effect) from None


async def _invoke_async(effect: Invoke) -> Any:
    import asyncio

    async def result() -> Any:
        given = await asyncio.wrap_future(_in_thread(effect.function, effect.name))
        return await given if inspect.iscoroutine(given) else given

    task = asyncio.ensure_future(result())
    done, _ = await asyncio.wait({task}, timeout=effect.seconds)
    if not done:
        task.cancel()
        raise _late(effect)
    return task.result()


def _in_thread(function: Callable[[], Any], name: str) -> Future[Any]:
    thread = _IDLE.pop() if _IDLE else _SpareThread()
    return thread.run(partial(copy_context().run, function), name)


class _SpareThread:
    """A thread for code that may hang; reused when the code returns.

    A thread cannot be stopped from outside. One that hangs is abandoned; as a daemon it keeps no
    process alive.
    """

    def __init__(self) -> None:
        self._given: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], Any], name: str) -> Future[Any]:
        outcome: Future[Any] = Future()
        self._thread.name = name
        self._given.put((function, outcome))
        return outcome

    def _work(self) -> None:
        while True:
            self._carry_out(*self._given.get())
            _IDLE.append(self)

    def _carry_out(self, function: Callable[[], Any], outcome: Future[Any]) -> None:
        outcome.set_running_or_notify_cancel()
        try:
            result = function()
        except BaseException as problem:
            outcome.set_exception(problem)
        else:
            outcome.set_result(result)


_IDLE: list[_SpareThread] = []
os.register_at_fork(after_in_child=_IDLE.clear)


def _late(effect: Invoke) -> Overdue:
    return Overdue(f"{effect.name} did not end within {effect.seconds:g} seconds")
