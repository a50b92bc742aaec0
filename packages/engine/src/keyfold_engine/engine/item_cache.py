"""Items that were read lately, kept in the process that reads them.

SQLite finds an item in a few microseconds, a dictionary in a fraction of one. An item is kept if
the marks of its database were the same before and after it was read, and is found only while they
are. After transactions of its own a process forgets the items that they touched, after another's
all.
"""

from __future__ import annotations

from threading import Lock
from typing import Final, Protocol

from keyfold_engine.engine.storage import StoredItem
from keyfold_engine.limits import MB

UNSURE: Final = bytes(8)
"""A mark that says nothing: a transaction of this process is under way."""
_MOST_BYTES: Final = 64 * MB
# Memory of an item besides its body.
_OVERHEAD: Final = 300


class Marks(Protocol):
    """Tell whether a database is still what it was: equal marks mean equal data."""

    def now(self) -> bytes: ...

    def begin(self) -> bytes:
        """This process has the right to write, and begins to; the marks until then."""
        ...

    def end_gathering(self) -> None:
        """The transaction is complete; readers do not see it before the commit."""
        ...

    def end(self) -> tuple[bytes, bytes] | None:
        """The marks before and after a transaction, unless others may have written too."""
        ...

    def hide(self) -> None:
        """Be unsure from now on."""
        ...

    def close(self) -> None:
        """Give back what the system has given; call when the connections are closed."""
        ...


class MemoryMarks:
    """The marks of a database in memory: only this process writes to it."""

    def __init__(self) -> None:
        self._number = 1
        self._mark = memoryview(bytearray(UNSURE)).cast("Q")
        self._mark[0] = 1
        self.now = self._mark.tobytes
        self._before: bytes | None = None

    def begin(self) -> bytes:
        self._before = before = self.now()
        self._mark[0] = 0
        return before

    def end_gathering(self) -> None:
        """Readers have the writer's own connection."""

    def end(self) -> tuple[bytes, bytes] | None:
        before, self._before = self._before, None
        if before is None:
            return None
        self._number += 1
        self._mark[0] = self._number
        return before, self.now()

    def hide(self) -> None:
        self._mark[0] = 0

    def close(self) -> None:
        """Memory needs nothing."""


class HotItems:
    """The cached items of one process."""

    def __init__(self, marks: Marks, most_bytes: int = _MOST_BYTES) -> None:
        self._marks, self._now = marks, marks.now
        self._most_bytes = most_bytes
        self._items: dict[tuple[int, bytes], StoredItem] = {}
        self._bytes = 0
        self._good_for = b""
        """The marks for which the kept items are good."""
        self._touched: dict[tuple[int, bytes], StoredItem | None] = {}
        """What the transaction has written; None where that is not known."""
        self._lock = Lock()

    def find(self, table: int, place: bytes) -> StoredItem | None:
        """The latest committed version of an item, if it is cached."""
        if self._now() != self._good_for:
            return None
        return self._items.get((table, place))

    def marks(self) -> bytes:
        """The marks before an item is read from the file."""
        now = self._now()
        if now != UNSURE:
            self._trust(now)
        return now

    def keep(self, table: int, place: bytes, item: StoredItem, marks: bytes) -> None:
        """Cache an item read since these marks, unless they have changed."""
        # The lock keeps this process from ending a transaction between the check and the insertion.
        with self._lock:
            if self._now() == marks == self._good_for:
                self._hold((table, place), item)

    def hide(self) -> None:
        """Find nothing from now on."""
        self._marks.hide()

    def close(self) -> None:
        """Forget everything; call when the connections are closed."""
        self._marks.hide()
        self._marks.close()
        with self._lock:
            self._forget_all()

    # Called by the writer.

    def begin(self) -> None:
        """This process begins to write."""
        self._trust(self._marks.begin())

    def current(self, table: int, place: bytes) -> StoredItem | None:
        """An item as the transaction sees it, if it is kept."""
        key = table, place
        if key in self._touched:
            return self._touched[key]
        return self._items.get(key)

    def touch(self, table: int, place: bytes, item: StoredItem | None) -> None:
        """The transaction replaces this item by another, if that is given, or changes it."""
        self._touched[table, place] = item

    def take_back(self) -> None:
        """Something of the transaction is taken back: who asks has to look."""
        self._touched = dict.fromkeys(self._touched)

    def end_gathering(self) -> None:
        """The transaction changes nothing more."""
        self._marks.end_gathering()

    def end(self) -> None:
        """The transaction was committed or rolled back, and not yet acknowledged."""
        step = self._marks.end()
        with self._lock:
            if is_alone := step is not None and step[0] == self._good_for:
                self._good_for = step[1]
            for key, item in self._touched.items():
                if gone := self._items.pop(key, None):
                    self._bytes -= len(gone.body) + _OVERHEAD
                if item is not None and is_alone:
                    self._hold(key, item)
            self._touched.clear()

    def _hold(self, key: tuple[int, bytes], item: StoredItem) -> None:
        if self._bytes > self._most_bytes:
            self._forget_all()
        self._bytes += len(item.body) + _OVERHEAD
        self._items[key] = item

    def _trust(self, marks: bytes) -> None:
        """Forget what is not good for these marks."""
        if marks != self._good_for:
            with self._lock:
                self._forget_all()
                self._good_for = marks

    def _forget_all(self) -> None:
        self._items.clear()
        self._bytes = 0
