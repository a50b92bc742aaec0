"""Errors of a data file, a connection, a setting."""

from __future__ import annotations

from typing import ClassVar

from keyfold_engine.errors.root import KeyfoldError


class SettingError(KeyfoldError):
    """An unknown or invalid setting: its name and where it came from."""


class MixedVersions(KeyfoldError, ImportError):
    """Parts of keyfold with different versions are installed together."""


class StorageError(KeyfoldError):
    """The data file cannot be used.

    `told` is the message for remote callers: whether to retry, without the file's path.
    """

    wire_name: ClassVar[str] = "StorageException"
    status: ClassVar[int] = 500
    told: ClassVar[str] = "The data file cannot be used; see the server's log."


class Corrupt(StorageError):
    """The file is damaged, truncated or not a keyfold file; `where` names what was read."""

    wire_name = "DamagedStorageException"
    # Clients do not retry 507 by themselves, unlike 500 and 503.
    status = 507
    told = "The data file is damaged here. Retrying does not help; run `keyfold doctor`."

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"{message}: {where}" if where else message)
        self.where = where


class Busy(StorageError):
    """Another process holds the file; nothing was written."""

    wire_name = "BusyStorageException"
    status = 503
    told = "The data file is busy: another process holds it. Nothing was done; try again."


class WrongFormat(StorageError):
    """The file was written by an older or newer keyfold."""


class Full(StorageError):
    """The disk is full; nothing was written."""

    wire_name = "FullStorageException"
    status = 507
    told = "The disk is full. Nothing was written; try again when there is room."


class TransportError(KeyfoldError):
    """No usable answer arrived; if the request was `sent`, it may have taken effect."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class Timeout(TransportError):
    """No answer in time."""


class Unreachable(TransportError):
    """No connection to the backend."""


class Untrusted(Unreachable):
    """The backend's certificate is not trusted; retrying does not help."""
