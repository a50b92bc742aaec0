"""Passwords: kept as salted scrypt digests with their cost, compared in constant time."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from dataclasses import dataclass

COST = "scrypt 15 8 3"
"""Two to this power rounds, blocks, lanes: 32 MiB and about a quarter of a second."""
_MEMORY = 128 * 1024 * 1024


@dataclass(frozen=True)
class Digest:
    """What is kept of a password."""

    salt: bytes
    digest: bytes
    cost: str

    async def fits(self, password: str) -> bool:
        """Whether it was made of this password."""
        made = await _made(password, self.salt, self.cost)
        return hmac.compare_digest(made, self.digest)

    @property
    def is_weak(self) -> bool:
        """Whether it was made when digests were cheaper."""
        return self.cost != COST


def nobody() -> Digest:
    """No password fits: an unknown login takes the same time as a wrong password."""
    return Digest(b"no such account.", b"", COST)


async def digest(password: str) -> Digest:
    """A new digest of a password."""
    salt = secrets.token_bytes(16)
    return Digest(salt, await _made(password, salt, COST), COST)


async def _made(password: str, salt: bytes, cost: str) -> bytes:
    """It takes a while on purpose, so it leaves the event loop."""
    return await asyncio.to_thread(_scrypt, password, salt, cost)


def _scrypt(password: str, salt: bytes, cost: str) -> bytes:
    _, power, blocks, lanes = cost.split()
    rounds = 2 ** int(power)
    return hashlib.scrypt(
        password.encode(), salt=salt, n=rounds, r=int(blocks), p=int(lanes), maxmem=_MEMORY
    )
