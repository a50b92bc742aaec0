"""keyfold's own waiting, threads and random names, moved into a world."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from keyfold.migrations import (
    applications,
    backend,
    copier,
    item_jobs,
    progress,
    routed_client,
    runner,
    table_scan,
    verify,
)
from keyfold.runtime import flow
from keyfold.streams import pace, worker_shards
from keyfold.testing.deterministic import World


class _Thread:
    """A thread of a program, as one more process of the world."""

    def __init__(self, world: World, target: Callable[[], object], name: str) -> None:
        self._world, self._target, self._name = world, target, name
        self._owner = world.current

    def start(self) -> None:
        self._process = self._world.spawn(self._name, self._target, self._owner)

    def join(self) -> None:
        if self._owner is None or not self._owner.dead:
            self._world.join(self._process)


class _Lock:
    """A lock that is waited for in the world."""

    def __init__(self, world: World) -> None:
        self._world, self._held = world, False

    def __enter__(self) -> None:
        while self._held:
            self._world.sleep(0.01)
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False


class _Event:
    def __init__(self, world: World) -> None:
        self._world, self._set = world, False

    def set(self) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set

    def clear(self) -> None:
        self._set = False

    def wait(self, seconds: float) -> None:
        self._world.sleep(seconds)


class _Threading:
    """What of `threading` programs use."""

    def __init__(self, world: World) -> None:
        self._world = world

    def Lock(self) -> _Lock:
        return _Lock(self._world)

    def Event(self) -> _Event:
        return _Event(self._world)

    def Thread(self, target: Callable[[], object], name: str, daemon: bool) -> _Thread:
        number = sum(each.name.startswith(name) for each in self._world.processes)
        return _Thread(self._world, target, f"{name}-{number}")


class _Job:
    """What one thread of a pool does."""

    def __init__(self, world: World, work: Callable[[], Any]) -> None:
        self._world, self._work = world, work
        self._done: Future[Any] = Future()
        current = world.current
        owner = (current.owner or current) if current is not None else None
        number = sum(each.name.startswith("pool") for each in world.processes)
        self._process = world.spawn(f"pool-{number}", self._run, owner)

    def _run(self) -> None:
        try:
            self._done.set_result(self._work())
        except Exception as problem:
            self._done.set_exception(problem)

    def wait(self) -> None:
        self._world.join(self._process)

    def result(self) -> Any:
        self.wait()
        return self._done.result()


class _Pool:
    """A pool whose threads are processes of the world."""

    def __init__(self, world: World) -> None:
        self._world, self._jobs = world, list[_Job]()

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for job in self._jobs:
            job.wait()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> _Job:
        self._jobs.append(_Job(self._world, partial(work, *arguments)))
        return self._jobs[-1]


def _in_thread(function: Callable[[], Any], name: str) -> Future[Any]:
    done: Future[Any] = Future()
    try:
        done.set_result(function())
    except Exception as problem:
        done.set_exception(problem)
    return done


@contextmanager
def moved_into(world: World) -> Iterator[None]:
    """Everything that waits or draws does so in the world."""
    names = random.Random(f"names of {world.seed}")

    def uuid4() -> uuid.UUID:
        return uuid.UUID(int=names.getrandbits(128), version=4)

    with pytest.MonkeyPatch.context() as patch:
        waiting = (
            flow,
            pace,
            backend,
            copier,
            applications,
            progress,
            runner,
        )
        for module in waiting:
            patch.setattr(module, "time", world)
        threaded = (pace, item_jobs, copier, progress, routed_client, table_scan, verify)
        for module in threaded:
            patch.setattr(module, "threading", _Threading(world))
        patch.setattr(table_scan, "ThreadPoolExecutor", lambda _: _Pool(world))
        patch.setattr(flow, "_in_thread", _in_thread)
        patch.setattr(uuid, "uuid4", uuid4)
        patch.setattr(worker_shards, "uuid4", uuid4)
        state = random.getstate()
        random.seed(world.seed)
        yield
        random.setstate(state)
