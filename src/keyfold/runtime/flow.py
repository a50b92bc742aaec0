"""Flows: work written once as generators that yield effects, driven by sync and async handles.

A flow never does I/O. It yields what it needs (`Call`, `Parallel`, `Pause`) and is sent the
answer; `drive` and `drive_async` are the only places that talk to a backend.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Answer: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to the backend; sent its answer, or thrown its error."""

    operation: str
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Several requests at once; sent the list of answers, or thrown the first error."""

    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before going on."""

    seconds: float


Effect: TypeAlias = Call | Parallel | Pause
Flow: TypeAlias = Generator[Effect, Any, T]
Caller: TypeAlias = Callable[[Call], Answer]
AsyncCaller: TypeAlias = Callable[[Call], Awaitable[Answer]]


def drive(flow: Flow[T], call: Caller, pool: ThreadPoolExecutor | None = None) -> T:
    """Run a flow to its end; without a pool, parallel calls go one after another."""

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Call):
            return call(effect)
        if isinstance(effect, Parallel):
            if pool is None or len(effect.calls) == 1:
                return [call(one) for one in effect.calls]
            return list(pool.map(call, effect.calls))
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


async def drive_async(flow: Flow[T], call: AsyncCaller) -> T:
    """The same on an event loop."""

    async def perform(effect: Effect) -> Any:
        if isinstance(effect, Call):
            return await call(effect)
        if isinstance(effect, Parallel):
            return await asyncio.gather(*(call(one) for one in effect.calls))
        await asyncio.sleep(effect.seconds)
        return None

    try:
        effect = next(flow)
        while True:
            try:
                answer = await perform(effect)
            except Exception as problem:
                effect = flow.throw(problem)
            else:
                effect = flow.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
