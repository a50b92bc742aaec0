"""Items that were read lately, kept in the process that reads them.

SQLite finds an item in a few microseconds, a dictionary in a fraction of one. They are kept only
for data that no stranger can change: memory that an engine has to itself, or that the workers of
one server share.

Each of these processes has a mark, which it alone changes: odd while it writes, and another even
number after each transaction. An item is kept if no mark changed while it was read, and what is
kept is good until a mark changes. After transactions of its own a process forgets the items that
they touched, after another's all. One that was killed while it wrote leaves an odd mark, and the
others keep nothing until it has been started again.
"""

from __future__ import annotations

import mmap
from array import array
from threading import Lock
from typing import Final

from keyfold.engine.storage import StoredItem
from keyfold.limits import MB

_MOST_BYTES: Final = 64 * MB
# What an item takes beside its body.
_OVERHEAD: Final = 300
_MARK_BYTES: Final = 8


class Marks:
    """The marks of all processes that write to the same memory; made before they are forked."""

    def __init__(self, processes: int = 1) -> None:
        # Memory of one process becomes two memories when it is forked, and so do its marks.
        room = bytearray(_MARK_BYTES) if processes == 1 else mmap.mmap(-1, processes * _MARK_BYTES)
        self.numbers = memoryview(room).cast("Q")


class HotItems:
    """The items that one process keeps."""

    def __init__(self, marks: Marks, process: int = 0, most_bytes: int = _MOST_BYTES) -> None:
        self._marks, self._own = marks.numbers, process
        self._now = marks.numbers.tobytes
        self._marks[process] += self._marks[process] % 2
        self._most_bytes = most_bytes
        self._items: dict[tuple[int, bytes], StoredItem] = {}
        self._bytes = 0
        self._good_for = bytes(len(self._now()))
        """The marks for which the kept items are good."""
        self._touched: list[tuple[int, bytes]] = []
        self._lock = Lock()

    def find(self, table: int, place: bytes) -> StoredItem | None:
        """An item as the last commit left it, if it is kept."""
        if self._now() != self._good_for:
            return None
        return self._items.get((table, place))

    def marks(self) -> bytes:
        """The marks before an item is read from the file."""
        now = self._now()
        if now != self._good_for and not any(mark % 2 for mark in array("Q", now)):
            with self._lock:
                self._forget_all()
                self._good_for = now
        return now

    def keep(self, table: int, place: bytes, item: StoredItem, marks: bytes) -> None:
        """Keep what was read since the marks were these, unless they have changed."""
        # The lock keeps this process from ending a transaction between the look and the note.
        with self._lock:
            if self._now() == marks == self._good_for:
                if self._bytes > self._most_bytes:
                    self._forget_all()
                self._bytes += len(item.body) + _OVERHEAD
                self._items[table, place] = item

    def close(self) -> None:
        """Forget everything; nothing is read any more."""
        with self._lock:
            self._forget_all()

    # What whoever writes says.

    def begin(self) -> None:
        """This process has the right to write, and begins to."""
        self._marks[self._own] += 1

    def touch(self, table: int, place: bytes) -> None:
        """The transaction changes this item."""
        self._touched.append((table, place))

    def end(self) -> None:
        """The transaction, if there was one, is committed or taken back; nobody was told yet."""
        mark = self._marks[self._own]
        if not mark % 2:
            return
        with self._lock:
            for key in self._touched:
                if gone := self._items.pop(key, None):
                    self._bytes -= len(gone.body) + _OVERHEAD
            self._touched.clear()
            good_for = array("Q", self._good_for)
            good_for[self._own] = mark + 1
            self._good_for = good_for.tobytes()
            self._marks[self._own] = mark + 1

    def _forget_all(self) -> None:
        self._items.clear()
        self._bytes = 0
