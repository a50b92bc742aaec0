"""The caller of a request."""

from __future__ import annotations

from typing import Final, NamedTuple

HOME_ACCOUNT: Final = "123456789012"
"""The default account of a database."""


class Principal(NamedTuple):
    """The caller and its origin."""

    principal: str
    address: str = "127.0.0.1"

    @property
    def account(self) -> str:
        return account_of(self.principal)


def is_account(text: str) -> bool:
    return len(text) == 12 and text.isascii() and text.isdecimal()


def account_of_key(access_key: str) -> str:
    """The account of a caller known only by an access key: twelve digits are its number."""
    return access_key if is_account(access_key) else HOME_ACCOUNT


def account_of(principal: str) -> str:
    return principal.split(":")[4] if principal.count(":") >= 5 else ""
