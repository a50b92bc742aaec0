"""Data files: creation, recognition, refusal; and the meaning of SQLite's errors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import apsw

from keyfold_engine import errors
from keyfold_engine.engine.lane import may_wait
from keyfold_engine.engine.storage import checksums, header

if TYPE_CHECKING:
    from pathlib import Path

    from keyfold_engine.engine.storage.write_ahead_log import LogFrames

APPLICATION_ID = 0x6B66_6C64
BUSY_SECONDS = 10.0
CACHE_KILOBYTES = 16_384
_SHORTEST_PAUSE = 0.00005
_LONGEST_PAUSE = 0.0005
_LOOKS_FOR_LOG = 40
# As long as a loop waits for a lock: another's commit is usually over by then, and a thread for
# each colliding write would cost far more.
_ATTEMPTS_ON_LOOP = 8
_MAGIC = b"SQLite format 3\0"
_RELAXED = "SELECT 1 FROM documents WHERE kind = 'file' AND id = 'relaxed'"
_DAMAGE = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ)
_NO_ROOM = (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMOPEN)
_SYNCHRONOUS = {"full": "FULL", "relaxed": "NORMAL", "memory": "OFF"}

_FIRST_TABLES = """
CREATE TABLE tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, definition BLOB NOT NULL);
CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT, arn TEXT NOT NULL UNIQUE, definition BLOB NOT NULL);
CREATE TABLE records (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, shard INTEGER NOT NULL,
    at REAL NOT NULL, body BLOB NOT NULL);
CREATE INDEX records_by_shard ON records (stream, shard, sequence);
CREATE INDEX records_by_age ON records (at);
CREATE TABLE tokens (
    token TEXT PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL, answer BLOB NOT NULL);
CREATE TABLE documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
"""


FORMAT = 7


class SchemaMoved(errors.StorageError):
    """A table or index disappeared before it was read: another process dropped it."""


def connect(path: str, durability: str, *, is_first: bool = False) -> apsw.Connection:
    """A configured connection to a recognised file.

    The first one of an engine also checks a log left behind by another process.
    """
    if durability not in _SYNCHRONOUS:
        known = ", ".join(_SYNCHRONOUS)
        raise ValueError(f"unknown durability {durability!r}; use one of {known}")
    try:
        log = None
        if path != ":memory:":
            # In memory there is nothing to check.
            from pathlib import Path

            from keyfold_engine.engine.storage.write_ahead_log import LogFrames

            _recognise(Path(path))
            log = LogFrames(path) if is_first else None
        connection = _new_connection(path)
        try:
            is_new = _is_new(connection, path)
        except apsw.Error as error:
            if not _lacks_room(error):
                raise
            connection.close()
            connection = _reading_connection(path)
            is_new = _is_new(connection, path)
        if log is not None:
            _refuse_losses(connection, path, log)
        _prepare(connection, path, durability, is_new=is_new)
    except apsw.Error as error:
        raise translated(error, path) from error
    except OSError as error:
        raise errors.StorageError(f"{path} cannot be opened: {error.strerror}") from error
    return connection


def _refuse_losses(connection: apsw.Connection, path: str, log: LogFrames) -> None:
    """Refuse a log that is damaged in the middle, without changing it."""
    lost = log.lost(connection)
    if lost > 1 and not _was_relaxed(connection):
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
        raise errors.Corrupt(
            f"{path}-wal is damaged: {lost} commits after the damage cannot be read. Run "
            f"`keyfold doctor {path} --save NEW` to recover everything before them"
        )


def _was_relaxed(connection: apsw.Connection) -> bool:
    """Whether the file was ever written without a sync per commit; its log may have holes."""
    return bool(connection.execute(_RELAXED, ()).fetchall())


def _note_relaxed(connection: apsw.Connection) -> None:
    if not _was_relaxed(connection):
        connection.pragma("synchronous", "FULL")
        connection.execute("INSERT OR IGNORE INTO documents VALUES ('file', 'relaxed', x'')")


def _new_connection(path: str) -> apsw.Connection:
    if path == ":memory:":
        return apsw.Connection(path, statementcachesize=400)
    connection = apsw.Connection(path, vfs=checksums.layer(), statementcachesize=400)
    # For files that are created or vacuumed; only before the first read.
    connection.reserve_bytes("main", checksums.BYTES)
    connection.set_busy_handler(_waits_for_writer)
    return connection


def _lacks_room(error: apsw.Error) -> bool:
    """Whether the index of a log, which all processes share, could not be made."""
    code = getattr(error, "extendedresult", 0)
    return isinstance(error, apsw.FullError) or code in _NO_ROOM


def _reading_connection(path: str) -> apsw.Connection:
    """A connection that needs no room on the disk: no other process can use the file meanwhile."""
    connection = _new_connection(path)
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.pragma("query_only", 1)
    return connection


def is_read_only(connection: apsw.Connection) -> bool:
    """Whether it was opened without room on the disk."""
    return bool(connection.pragma("query_only"))


def _waits_for_writer(attempt: int) -> bool:
    """Another process is writing: SQLite's own pauses grow to the time of a hundred commits."""
    if attempt >= _ATTEMPTS_ON_LOOP and not may_wait():
        return False
    time.sleep(min(_SHORTEST_PAUSE * (attempt + 1), _LONGEST_PAUSE))
    return attempt * _LONGEST_PAUSE < BUSY_SECONDS


def _recognise(path: Path) -> None:
    """Refuse what cannot be a keyfold file before SQLite touches it."""
    if path.is_dir():
        raise errors.Corrupt(f"{path} is a directory; give the path of a data file")
    if not path.exists() or path.stat().st_size == 0:
        return
    first = header.read(path)
    if first[:16] != _MAGIC:
        raise errors.Corrupt(f"{path} is not a keyfold data file")
    # A header that denies checksums would disable their verification.
    if int.from_bytes(first[60:64], "big") == FORMAT and first[20] != checksums.BYTES:
        raise errors.Corrupt(f"{path} is damaged: its header does not match its format")
    if _lost_log(path):
        raise errors.Corrupt(
            f"{path}-wal is missing, and the last commits with it: put it back. To open the file "
            f"without them, delete {path}-shm"
        )
    page_size = int.from_bytes(first[16:18], "big")
    expected = (65536 if page_size == 1 else page_size) * int.from_bytes(first[28:32], "big")
    log = path.with_name(f"{path.name}-wal")
    if path.stat().st_size < expected and not (log.exists() and log.stat().st_size):
        raise errors.Corrupt(
            f"{path} is truncated: {path.stat().st_size} bytes of {expected}; "
            "restore it from a backup"
        )


def _lost_log(path: Path) -> bool:
    """Whether a log is missing beside its index: SQLite makes it first, and removes it last."""
    log, index = (path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    for _ in range(_LOOKS_FOR_LOG):
        try:
            size = index.stat().st_size
        except FileNotFoundError:
            return False
        # On a full disk an index can be empty: it says nothing of a log.
        if not size or log.exists():
            return False
        # Another process may be making or removing both.
        time.sleep(_SHORTEST_PAUSE)
    return True


def _is_new(connection: apsw.Connection, path: str) -> bool:
    """Whether a file is empty; refuses foreign files and other formats."""
    version: int = connection.pragma("user_version")
    if connection.pragma("application_id") != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]:
            return True
        raise errors.Corrupt(f"{path} is an SQLite file, but not a keyfold data file")
    if version > FORMAT:
        raise errors.WrongFormat(
            f"{path} has format {version}; this keyfold reads format {FORMAT}. Upgrade keyfold."
        )
    if version < FORMAT:
        raise errors.WrongFormat(
            f"{path} has format {version} and this keyfold reads format {FORMAT}: run `keyfold "
            "dump` with the version that wrote it, and `keyfold load` with this one"
        )
    return False


def _prepare(connection: apsw.Connection, path: str, durability: str, *, is_new: bool) -> None:
    if is_read_only(connection):
        return
    if is_new:
        connection.pragma("auto_vacuum", "INCREMENTAL")
    if path != ":memory:":
        connection.pragma("journal_mode", "WAL")
        connection.pragma("journal_size_limit", 67108864)
    connection.pragma("synchronous", _SYNCHRONOUS[durability])
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -CACHE_KILOBYTES)
    if is_new:
        _make_tables(connection)
    if path != ":memory:" and durability != "full":
        _note_relaxed(connection)
        connection.pragma("synchronous", _SYNCHRONOUS[durability])


def _make_tables(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have done it.
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]:
        connection.execute(_FIRST_TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def translated(error: apsw.Error, path: str) -> errors.StorageError:
    """The storage error for an SQLite error."""
    code = getattr(error, "extendedresult", 0)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)) or code in _DAMAGE:
        return errors.Corrupt(
            f"{path} is damaged; run `keyfold doctor {path}`, or restore it from a backup"
        )
    if isinstance(error, apsw.FullError):
        return errors.Full(f"{path}: the disk is full; nothing was written")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return errors.Busy(f"{path}: another process holds the file")
    if isinstance(error, apsw.ReadOnlyError):
        return errors.StorageError(
            f"{path} cannot be written: the file or its directory is read-only"
        )
    if isinstance(error, apsw.CantOpenError):
        return errors.StorageError(f"{path} cannot be opened: {_reason(error)}")
    if isinstance(error, apsw.SQLError) and "no such table" in str(error):
        return SchemaMoved(f"{path}: {error}")
    return errors.StorageError(f"{path}: {_reason(error)}")


def _reason(error: apsw.Error) -> str:
    """A device or system error with its SQLite code."""
    code = getattr(error, "extendedresult", 0)
    name = apsw.mapping_extended_result_codes.get(code)
    return f"{error} ({name})" if name else str(error)
