"""Accounts of one server: each account and region has its own tables."""

from __future__ import annotations

import threading
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold_engine.engine.principal import HOME_ACCOUNT, is_account
from keyfold_engine.errors import LimitExceeded
from keyfold_engine.features.replicas.regions import Regions

if TYPE_CHECKING:
    from keyfold_engine.engine.engine import Engine

MOST_ACCOUNTS = 100
"""The limit of open accounts: unsigned callers could otherwise open one per request."""


class Accounts:
    """The accounts that callers come from, each with its own regions.

    With a path, the home account's files lie there and those of others beside them.
    """

    def __init__(self, path: str | PathLike[str] = ":memory:", **options: Any) -> None:
        self._path, self._options = fspath(path), options
        self._lock = threading.Lock()
        self._regions: dict[str, Regions] = {}

    def engine(self, account: str, region: str) -> Engine:
        """The engine of an account's region, opened on first use."""
        return self.regions(account).engine(region)

    def regions(self, account: str) -> Regions:
        if not is_account(account):
            raise ValueError(f"an account is a number of twelve digits, not {account!r}")
        with self._lock:
            if account not in self._regions:
                if len(self._regions) == MOST_ACCOUNTS:
                    raise LimitExceeded(f"this server supports at most {MOST_ACCOUNTS} accounts")
                made = Regions(
                    self._path_of(account), accounts=self, account=account, **self._options
                )
                if HOME_ACCOUNT in self._regions:
                    made.endpoint = self._regions[HOME_ACCOUNT].endpoint
                self._regions[account] = made
            return self._regions[account]

    def opened(self) -> list[Engine]:
        """The open engines of all accounts and regions."""
        return [each for regions in list(self._regions.values()) for each in regions.opened()]

    def close(self) -> None:
        with self._lock:
            for regions in self._regions.values():
                regions.close()
            self._regions.clear()

    def __enter__(self) -> Accounts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path_of(self, account: str) -> str:
        if self._path == ":memory:" or account == HOME_ACCOUNT:
            return self._path
        path = Path(self._path)
        return str(path.with_name(f"{path.stem}.{account}{path.suffix}"))
