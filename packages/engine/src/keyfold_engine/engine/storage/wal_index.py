"""The header of the index that SQLite keeps of a write-ahead log.

All processes that have a file open share this index in memory, and every commit changes its header.
Two looks that show the same bytes show the same data, without a lock or a call of the system.
"""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from threading import Lock
from typing import Final

# SQLite writes the header twice, so that whoever reads it sees whether it is whole.
_HEADER: Final = slice(0, 96)
_CHANGES: Final = slice(8, 12)
_CHANGES_END: Final = 2**32
_PAGE: Final = mmap.PAGESIZE


class WalIndex:
    """The index of one log, for all engines of this process that have its file open."""

    __slots__ = ("_file", "_identity", "_map", "_users")

    _open: Final[dict[tuple[int, int], WalIndex]] = {}
    _lock: Final = Lock()

    def __init__(self, file: int, identity: tuple[int, int]) -> None:
        self._file, self._identity, self._users = file, identity, 0
        self._map = mmap.mmap(file, _PAGE, access=mmap.ACCESS_READ)

    @classmethod
    def of(cls, path: str) -> WalIndex:
        """The index of a data file that SQLite has open; OSError where there is none to map."""
        name = Path(f"{path}-shm")
        with cls._lock:
            found = name.stat()
            identity = found.st_dev, found.st_ino
            index = cls._open.get(identity)
            if index is None:
                if found.st_size < _PAGE:
                    raise OSError(f"{name} is not an index of SQLite's")
                index = cls._open[identity] = cls(os.open(name, os.O_RDONLY), identity)
            index._users += 1
            return index

    def header(self) -> bytes:
        """What every commit changes."""
        return self._map[_HEADER]

    def close(self) -> None:
        """No engine here still reads it; call when its connections are closed.

        A process that closes a file loses all its locks on it, also those of SQLite.
        """
        with self._lock:
            self._users -= 1
            if not self._users:
                del self._open[self._identity]
                # The map has a descriptor of its own, and would close it whenever it is collected.
                self._map.close()
                os.close(self._file)


def is_next(before: bytes, after: bytes) -> bool:
    """Whether there was exactly one commit between two headers."""
    first, second = (int.from_bytes(header[_CHANGES], sys.byteorder) for header in (before, after))
    return second == (first + 1) % _CHANGES_END
