"""Loads related fields of many parents together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

LoadMany = Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]


class RelatedLoader:
    """Collects the parents requested in one loop iteration, and loads them in one call.

    A parent requested again gets the cached answer.
    """

    def __init__(self, load_many: LoadMany) -> None:
        self._load_many = load_many
        self._answers: dict[int, tuple[Any, asyncio.Future[Any]]] = {}
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def load(self, parent: Any) -> Any:
        known = self._answers.get(id(parent))
        if known is None:
            loop = asyncio.get_running_loop()
            # Keep the parent beside its answer, so that no other object gets its id.
            known = self._answers[id(parent)] = (parent, loop.create_future())
            if not self._waiting:
                loop.call_soon(self._start)
            self._waiting.append(known)
        return await known[1]

    def _start(self) -> None:
        asked, self._waiting = self._waiting, []
        self._task = asyncio.ensure_future(self._answer(asked))

    async def _answer(self, asked: list[tuple[Any, asyncio.Future[Any]]]) -> None:
        try:
            found = await self._load_many([parent for parent, _ in asked])
            answers = zip(asked, found, strict=True)
        except Exception as error:
            for _, future in asked:
                _fail(future, error)
            return
        for (_, future), answer in answers:
            if isinstance(answer, Exception):
                _fail(future, answer)
            elif not future.done():
                future.set_result(answer)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
