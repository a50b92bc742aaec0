"""Passwords: kept as salted scrypt digests, compared in constant time."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets

COST = {"n": 2**14, "r": 8, "p": 1}


async def digest(password: str, salt: bytes) -> bytes:
    """The digest of a password; it takes a while on purpose, so it leaves the event loop."""
    return await asyncio.to_thread(_digest, password, salt)


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=COST["n"], r=COST["r"], p=COST["p"])


def new_salt() -> bytes:
    return secrets.token_bytes(16)


def same(one: bytes, other: bytes) -> bool:
    return hmac.compare_digest(one, other)
