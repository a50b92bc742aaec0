"""New identifiers: ULIDs, which sort by creation time, and random UUIDs."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Callable

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_RANDOM_BITS = 80


class UlidFactory:
    """ULIDs that never go backwards within one process, even inside one millisecond."""

    def __init__(self, milliseconds: Callable[[], int] = lambda: time.time_ns() // 10**6) -> None:
        self._milliseconds = milliseconds
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self) -> str:
        with self._lock:
            fresh = (self._milliseconds() << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS - 1)
            same_instant = fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS
            self._last = self._last + 1 if same_instant else fresh
            number = self._last
        return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


new_ulid = UlidFactory()
"""Returns a new ULID: a unique text id that sorts by creation time."""


def new_uuid() -> str:
    """A random UUID (version 4)."""
    return str(uuid.uuid4())
