"""The live subscribers of a service: each has a queue that the stream's tail fills."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.design import Entity
from keyfold.streams import Change, Tail
from keyfold_web.problems import Refused, TooMany
from keyfold_web.service import Service
from keyfold_web.subscriptions import Subscription

WATCHERS: Final = 2_000
"""Concurrent subscribers of one service in one process."""
WATCHERS_OF_A_CALLER: Final = 50
WAITING_CHANGES: Final = 200
"""How many changes a subscriber may be behind."""
RETRY_SECONDS: Final = 5

Place = tuple[type[Entity], tuple[str, ...], tuple[Any, ...]]


class TooSlow(Refused):
    """A subscriber that did not read its changes in time; it must start over."""

    status = 503
    title = "Too slow"
    default_code = "TOO_SLOW"
    retry_after = 0

    def __init__(self) -> None:
        super().__init__(
            "This subscriber is too slow and missed changes; read again and subscribe again."
        )


@dataclass(eq=False)
class Watcher:
    """One caller's subscription."""

    subscription: Subscription
    arguments: Mapping[str, Any]
    bucket: str
    waiting: asyncio.Queue[Change[Any] | None] = field(
        default_factory=lambda: asyncio.Queue(WAITING_CHANGES)
    )
    missed: bool = False

    @property
    def places(self) -> Iterator[Place]:
        names = self.subscription.selects
        values = tuple(self.arguments[name] for name in names)
        for entity in self.subscription.entities:
            yield entity, names, values

    def tell(self, change: Change[Any] | None) -> None:
        """Queue a change; None is the end."""
        try:
            self.waiting.put_nowait(change)
        except asyncio.QueueFull:
            self.missed = True

    async def next(self) -> Change[Any] | None:
        """The next change, or None when the service stops."""
        if self.missed:
            raise TooSlow()
        return await self.waiting.get()


class Watchers:
    """All subscribers of a service; its streams are read while there are any."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._entities = {
            entity for one in type(service).subscriptions.values() for entity in one.entities
        }
        self._at: dict[Place, set[Watcher]] = {}
        self._selects: dict[type[Entity], Counter[tuple[str, ...]]] = {
            entity: Counter() for entity in self._entities
        }
        self._all: set[Watcher] = set()
        self._callers: Counter[str] = Counter()
        self._tail: Tail | None = None
        self._turn = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._all)

    async def add(self, watcher: Watcher) -> None:
        """Add a subscriber, who gets changes from now on."""
        if len(self._all) >= WATCHERS:
            raise TooMany("Too many subscriptions; try again later.", retry_after=RETRY_SECONDS)
        if self._callers[watcher.bucket] >= WATCHERS_OF_A_CALLER:
            raise TooMany(
                f"You have {WATCHERS_OF_A_CALLER} subscriptions, the maximum; end one first.",
                retry_after=RETRY_SECONDS,
            )
        self._all.add(watcher)
        self._callers[watcher.bucket] += 1
        for place in watcher.places:
            self._at.setdefault(place, set()).add(watcher)
            self._selects[place[0]][place[1]] += 1
        try:
            async with self._turn:
                if self._tail is None:
                    tail = Tail(self._service.db, self._entities, self._tell)
                    await tail.start()
                    self._tail = tail
        except BaseException:
            await self.remove(watcher)
            raise

    async def remove(self, watcher: Watcher) -> None:
        if watcher not in self._all:
            return
        self._all.discard(watcher)
        self._callers -= Counter({watcher.bucket: 1})
        for place in watcher.places:
            self._at[place].discard(watcher)
            if not self._at[place]:
                del self._at[place]
            self._selects[place[0]] -= Counter({place[1]: 1})
        async with self._turn:
            if not self._all and self._tail is not None:
                tail, self._tail = self._tail, None
                await tail.stop()

    async def close(self) -> None:
        """End all subscriptions, because the service stops."""
        for watcher in self._all:
            while watcher.waiting.full():
                watcher.waiting.get_nowait()
            watcher.tell(None)
        async with self._turn:
            if self._tail is not None:
                tail, self._tail = self._tail, None
                await tail.stop()

    def _tell(self, change: Change[Any]) -> None:
        entity = change.spec.entity
        told: set[Watcher] = set()
        for names in self._selects[entity]:
            for image in (change.old, change.new):
                if image is not None:
                    values = tuple(getattr(image, name) for name in names)
                    told |= self._at.get((entity, names, values), set())
        for watcher in told:
            watcher.tell(change)
