"""Checks that the open file is still the one at its path, and complete."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

from keyfold_engine import errors
from keyfold_engine.engine.storage import header

_LOOK_SECONDS = 1.0
_PAGE_SIZE = slice(16, 18)
_PAGES = slice(28, 32)


class FileWatch:
    """Watches one open file; interference is detected before a write is acknowledged."""

    __slots__ = ("_identity", "_path", "_size", "due")

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        found = self._path.stat()
        self._identity, self._size = (found.st_dev, found.st_ino), found.st_size
        self.due = 0.0
        """When reads look at the file again."""

    def look(self) -> None:
        """Refuse a file that was deleted, replaced or truncated."""
        try:
            found = self._path.stat()
        except OSError as error:
            raise self._lost_file(f"was deleted ({error.strerror})") from None
        if (found.st_dev, found.st_ino) != self._identity:
            raise self._lost_file("was replaced by another file")
        if found.st_size < self._size and found.st_size < self._own_size():
            raise errors.Corrupt(
                f"{self._path} was truncated to {found.st_size} bytes while it was open; "
                "restore it from a backup"
            )
        self._size = found.st_size
        self.due = monotonic() + _LOOK_SECONDS

    def _lost_file(self, what: str) -> errors.StorageError:
        return errors.StorageError(
            f"{self._path} {what} while it was open: writes would be lost. Restore it, or restart"
        )

    def _own_size(self) -> int:
        """The file's length according to its header; vacuumed files become shorter."""
        first = header.read(self._path)
        if not first:
            return self._size
        page_size = int.from_bytes(first[_PAGE_SIZE], "big")
        return page_size * int.from_bytes(first[_PAGES], "big")
