"""Measuring on one core.

Where client and server have a core each, waking the other's core up is charged to whoever sends.
On a virtual machine that is an interrupt through its host: half of what a bare socket takes, and
twice as much on one day as on another. On one core there is none, and processor time is what the
client does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it starts meanwhile, on one core, where that can be done."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
