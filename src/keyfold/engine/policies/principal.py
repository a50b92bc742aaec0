"""Who asks."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    """Who asks, and from where."""

    principal: str
    address: str = "127.0.0.1"

    @property
    def account(self) -> str:
        return account_of(self.principal)


def account_of(principal: str) -> str:
    return principal.split(":")[4] if principal.count(":") >= 5 else ""
