"""The marks of a file: commits of all processes change them."""

from __future__ import annotations

from time import monotonic

import apsw

from keyfold_engine.engine.item_cache import UNSURE, HotItems
from keyfold_engine.engine.storage.wal_index import WalIndex, is_next
from keyfold_engine.engine.storage.watch import FileWatch


class FileMarks:
    """The header of the index of a file's log, and when it says nothing."""

    def __init__(self, connection: apsw.Connection, index: WalIndex, watch: FileWatch) -> None:
        self._connection, self._index, self._watch = connection, index, watch
        self._is_hidden = False
        self._before: bytes | None = None
        self._pages = 0

    def now(self) -> bytes:
        # Who reads from the file looks at it once in a while, and so has to be sent there.
        if self._is_hidden or monotonic() >= self._watch.due:
            return UNSURE
        try:
            return self._index.header()
        except ValueError:
            # The engine was closed by another thread at this moment.
            return UNSURE

    def begin(self) -> bytes:
        self._is_hidden = True
        self._before = before = self._index.header()
        self._pages = self._written_pages()
        return before

    def end_gathering(self) -> None:
        self._is_hidden = False

    def end(self) -> tuple[bytes, bytes] | None:
        before, self._before, self._is_hidden = self._before, None, False
        if before is None:
            return None
        after = self._index.header()
        if after == before:
            return before, after
        # A transaction that changed no page does not commit; the commit seen here is another one.
        if self._written_pages() == self._pages:
            return None
        return (before, after) if is_next(before, after) else None

    def hide(self) -> None:
        self._is_hidden = True

    def close(self) -> None:
        self._index.close()

    def _written_pages(self) -> int:
        return self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]


def items_of_file(path: str, connection: apsw.Connection, watch: FileWatch) -> HotItems | None:
    """The cached items of a file; None if its log has no index to compare with."""
    try:
        index = WalIndex.of(path)
    except (OSError, ValueError):
        return None
    return HotItems(FileMarks(connection, index, watch))
