"""Whether the file that is open is still the one that its path names, and whole."""

from __future__ import annotations

from pathlib import Path

from keyfold import errors
from keyfold.engine.storage import header

_PAGE_SIZE = slice(16, 18)
_PAGES = slice(28, 32)


class FileWatch:
    """Looks after one open file; what others do to it is noticed before a write is acknowledged."""

    __slots__ = ("_identity", "_path", "_size")

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        found = self._path.stat()
        self._identity, self._size = (found.st_dev, found.st_ino), found.st_size

    def look(self) -> None:
        """Refuse a file that was deleted, replaced or cut short."""
        try:
            found = self._path.stat()
        except OSError as error:
            raise self._gone(f"was deleted ({error.strerror})") from None
        if (found.st_dev, found.st_ino) != self._identity:
            raise self._gone("was replaced by another file")
        if found.st_size < self._size and found.st_size < self._own_size():
            raise errors.Corrupt(
                f"{self._path} was cut short, to {found.st_size} bytes, while it was open; "
                "restore it from a backup"
            )
        self._size = found.st_size

    def _gone(self, what: str) -> errors.StorageError:
        return errors.StorageError(
            f"{self._path} {what} while it was open: what is written now would be lost. "
            "Put it back, or start again"
        )

    def _own_size(self) -> int:
        """How long the file says that it is: vacuumed files become shorter and say so."""
        first = header.read(self._path)
        if not first:
            return self._size
        page_size = int.from_bytes(first[_PAGE_SIZE], "big")
        return page_size * int.from_bytes(first[_PAGES], "big")
