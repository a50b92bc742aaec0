"""Some servers' indexes show a write late."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from keyfold_web import Missing


async def shown(look: Callable[[], Awaitable[Any]], expected: object) -> None:
    """Wait until an index finds what is expected."""
    found: object = None
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            found = await look()
        except Missing as missing:
            found = missing
        if found == expected:
            return
        await asyncio.sleep(0.05)
    assert found == expected
