"""Processor time of other processes, from what the kernel counts for each of their threads."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


def spent(processes: Iterable[int]) -> float:
    """Seconds that these processes and their descendants have used so far."""
    return sum(_of_one(process) for process in _family(processes))


def _of_one(process: int) -> float:
    """The time of all threads in nanoseconds is in `schedstat`; `stat` counts hundredths only."""
    total = 0
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def _family(processes: Iterable[int]) -> Iterator[int]:
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = stat.read_text().rpartition(") ")[2].split()[1]
            children[int(parent)].append(int(stat.parent.name))
    left = list(processes)
    while left:
        process = left.pop()
        yield process
        left += children[process]


def of_command(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> float:
    """Seconds that a command takes, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it starts meanwhile, on one core, where that can be done.

    Where client and server have a core each, waking the other's core up is charged to whoever
    sends. On a virtual machine that is an interrupt through its host: half of what a bare socket
    takes, and twice as much on one day as on another.
    """
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
