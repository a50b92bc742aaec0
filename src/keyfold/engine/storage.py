"""The data file: every SQL statement of keyfold, on apsw.

Each DynamoDB table has its own table of items, and each index its own table of entries:

    items_<table>            place (unique), size, expires, body
    index_<table>_<index>    place (primary key), size, row of the item

A place is the order-preserving bytes of a key (see `tables.Schema`). An item is stored once, as
wire JSON; index entries refer to its row and are projected when they are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from keyfold import errors

FORMAT: int = 1
APPLICATION_ID = 0x6B66_6C64
BUSY_SECONDS = 10.0
CACHE_KILOBYTES = 16_384
_BUSY_PAUSE = 0.0005
_MAGIC = b"SQLite format 3\0"
_SYNCHRONOUS = {"full": "FULL", "relaxed": "NORMAL", "memory": "OFF"}

_SCHEMA = """
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
CREATE INDEX tokens_by_age ON tokens (at);
CREATE TABLE documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
"""


class SchemaMoved(errors.StorageError):
    """A table or index was gone by the time it was read: another process dropped it."""


class StoredItem(NamedTuple):
    """One item as it lies in the file."""

    row: int
    size: int
    body: bytes


# Without the argument handling of StoredItem(...): this is on the way of every read and write.
_stored = partial(tuple.__new__, StoredItem)


class Found(NamedTuple):
    """One row of a range read: where it stands, its size there, its body, the whole item's size."""

    place: bytes
    size: int
    body: bytes
    item_size: int


class _Items(NamedTuple):
    find: str
    put: str
    insert: str
    replace: str
    delete: str
    forward: str
    backward: str
    bodies_forward: str
    bodies_backward: str
    totals: str
    collection: str
    expired: str
    after_row: str


class _Entries(NamedTuple):
    insert: str
    delete: str
    forward: str
    backward: str
    bodies_forward: str
    bodies_backward: str
    totals: str


@cache
def _items(table: int) -> _Items:
    name = f"items_{table}"
    page = f"SELECT place, size, body, size FROM {name} WHERE place >= ? AND place < ? ORDER BY "
    bodies = f"SELECT body, size FROM {name} WHERE place >= ? AND place < ? ORDER BY "
    return _Items(
        find=f"SELECT row, size, body FROM {name} WHERE place = ?",
        put=(
            f"INSERT INTO {name} (place, size, expires, body) VALUES (?, ?, ?, ?) ON CONFLICT "
            "(place) DO UPDATE SET size = excluded.size, expires = excluded.expires, "
            "body = excluded.body"
        ),
        insert=f"INSERT INTO {name} (place, size, expires, body) VALUES (?, ?, ?, ?)",
        replace=f"UPDATE {name} SET size = ?, expires = ?, body = ? WHERE row = ?",
        delete=f"DELETE FROM {name} WHERE row = ?",
        forward=page + "place",
        backward=page + "place DESC",
        bodies_forward=bodies + "place LIMIT ?",
        bodies_backward=bodies + "place DESC LIMIT ?",
        totals=f"SELECT count(*), total(size) FROM {name}",
        collection=f"SELECT total(size) FROM {name} WHERE place >= ? AND place < ?",
        expired=(
            f"SELECT place FROM {name} WHERE expires < ? AND expires > ? ORDER BY expires LIMIT ?"
        ),
        after_row=f"SELECT row, place, size, body FROM {name} WHERE row > ? ORDER BY row LIMIT ?",
    )


@cache
def _entries(table: int, index: int) -> _Entries:
    name = f"index_{table}_{index}"
    rows = (
        f"FROM {name} e CROSS JOIN items_{table} i ON i.row = e.row "
        "WHERE e.place >= ? AND e.place < ? ORDER BY e.place"
    )
    page = f"SELECT e.place, e.size, i.body, i.size {rows}"
    bodies = f"SELECT i.body, e.size {rows}"
    return _Entries(
        insert=f"INSERT OR REPLACE INTO {name} (place, size, row) VALUES (?, ?, ?)",
        delete=f"DELETE FROM {name} WHERE place = ?",
        forward=page,
        backward=page + " DESC",
        bodies_forward=bodies + " LIMIT ?",
        bodies_backward=bodies + " DESC LIMIT ?",
        totals=f"SELECT count(*), total(size) FROM {name}",
    )


class Session:
    """What can be asked of one connection."""

    __slots__ = ("_execute", "connection")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        # Rows come as SQLite has them; the signatures below say what that is.
        self._execute: Any = connection.execute

    def _all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
        rows: list[Any] = self._execute(sql, bindings).fetchall()
        return rows

    def _one(self, sql: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._execute(sql, bindings).fetchone()
        return row

    # Transactions

    def begin_write(self) -> None:
        self._execute("BEGIN IMMEDIATE")

    def begin_read(self) -> None:
        self._execute("BEGIN")

    def commit(self) -> None:
        self._execute("COMMIT")

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self._execute("ROLLBACK")

    def savepoint(self) -> None:
        self._execute("SAVEPOINT request")

    def release(self) -> None:
        self._execute("RELEASE request")

    def rollback_to_savepoint(self) -> None:
        self._execute("ROLLBACK TO request")
        self._execute("RELEASE request")

    def version(self) -> int:
        """A number that changes whenever any connection commits a change."""
        return self.connection.data_version()

    def give_back(self, pages: int) -> None:
        """Return up to so many free pages to the file system."""
        self._execute(f"PRAGMA incremental_vacuum({pages})").fetchall()

    # Tables

    def tables(self) -> list[tuple[int, bytes]]:
        return self._all("SELECT id, definition FROM tables")

    def table(self, name: str) -> tuple[int, bytes] | None:
        return self._one("SELECT id, definition FROM tables WHERE name = ?", (name,))

    def table_names(self, after: str, limit: int) -> list[str]:
        rows = self._execute(
            "SELECT name FROM tables WHERE name > ? ORDER BY name LIMIT ?", (after, limit)
        )
        return [name for (name,) in rows]

    def create_table(self, name: str, definition: bytes) -> int:
        self._execute("INSERT INTO tables (name, definition) VALUES (?, ?)", (name, definition))
        table = self.connection.last_insert_rowid()
        self._execute(
            f"CREATE TABLE items_{table} (row INTEGER PRIMARY KEY, place BLOB NOT NULL UNIQUE, "
            "size INTEGER NOT NULL, expires INTEGER, body BLOB NOT NULL)"
        )
        return table

    def define_table(self, table: int, definition: bytes) -> None:
        self._execute("UPDATE tables SET definition = ? WHERE id = ?", (definition, table))

    def drop_table(self, table: int) -> None:
        self._execute("DELETE FROM tables WHERE id = ?", (table,))
        names = self._execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name IN (?, ?) "
            "OR name GLOB ?)",
            (f"items_{table}", f"history_{table}", f"index_{table}_*"),
        ).fetchall()
        for (name,) in names:
            self._execute(f"DROP TABLE {name}")

    def create_index(self, table: int, index: int) -> None:
        # Entries are small, so they lie in the tree itself; items, which are not, do not.
        self._execute(
            f"CREATE TABLE index_{table}_{index} (place BLOB PRIMARY KEY, size INTEGER NOT NULL, "
            "row INTEGER NOT NULL) WITHOUT ROWID"
        )

    def drop_index(self, table: int, index: int) -> None:
        self._execute(f"DROP TABLE IF EXISTS index_{table}_{index}")

    # Items

    def find(self, table: int, place: bytes) -> StoredItem | None:
        row = self._execute(_items(table).find, (place,)).fetchone()
        return None if row is None else _stored(row)

    def put(self, table: int, place: bytes, size: int, expires: int | None, body: bytes) -> None:
        """Insert or replace without asking what was there."""
        self._execute(_items(table).put, (place, size, expires, body))

    def insert(self, table: int, place: bytes, size: int, expires: int | None, body: bytes) -> int:
        self._execute(_items(table).insert, (place, size, expires, body))
        return self.connection.last_insert_rowid()

    def replace(self, table: int, row: int, size: int, expires: int | None, body: bytes) -> None:
        self._execute(_items(table).replace, (size, expires, body, row))

    def delete(self, table: int, row: int) -> None:
        self._execute(_items(table).delete, (row,))

    def items(
        self, table: int, first: bytes, end: bytes, *, backward: bool = False
    ) -> Iterator[Found]:
        """Items from `first` to before `end`, in order of place. Close the cursor when done."""
        sql = _items(table)
        rows: Iterator[Found] = self._execute(
            sql.backward if backward else sql.forward, (first, end)
        )
        return rows

    def item_bodies(
        self, table: int, first: bytes, end: bytes, limit: int, *, backward: bool
    ) -> Iterator[tuple[bytes, int]]:
        """Body and size of the items in a range, at most `limit` (-1: all)."""
        sql = _items(table)
        rows: Iterator[tuple[bytes, int]] = self._execute(
            sql.bodies_backward if backward else sql.bodies_forward, (first, end, limit)
        )
        return rows

    def items_after(self, table: int, row: int, limit: int) -> list[tuple[int, bytes, int, bytes]]:
        """Row, place, size and body of the next items in order of insertion."""
        return self._all(_items(table).after_row, (row, limit))

    def item_statistics(self, table: int) -> tuple[int, int]:
        count, size = self._execute(_items(table).totals).fetchone()
        return count, int(size)

    def collection_size(self, table: int, first: bytes, end: bytes) -> int:
        (size,) = self._execute(_items(table).collection, (first, end)).fetchone()
        return int(size)

    # Index entries

    def insert_entry(self, table: int, index: int, place: bytes, size: int, row: int) -> None:
        self._execute(_entries(table, index).insert, (place, size, row))

    def delete_entry(self, table: int, index: int, place: bytes) -> None:
        self._execute(_entries(table, index).delete, (place,))

    def entries(
        self, table: int, index: int, first: bytes, end: bytes, *, backward: bool = False
    ) -> Iterator[Found]:
        sql = _entries(table, index)
        rows: Iterator[Found] = self._execute(
            sql.backward if backward else sql.forward, (first, end)
        )
        return rows

    def entry_bodies(
        self, table: int, index: int, first: bytes, end: bytes, limit: int, *, backward: bool
    ) -> Iterator[tuple[bytes, int]]:
        """Item body and entry size of the entries in a range, at most `limit` (-1: all)."""
        sql = _entries(table, index)
        rows: Iterator[tuple[bytes, int]] = self._execute(
            sql.bodies_backward if backward else sql.bodies_forward, (first, end, limit)
        )
        return rows

    def entry_statistics(self, table: int, index: int) -> tuple[int, int]:
        count, size = self._execute(_entries(table, index).totals).fetchone()
        return count, int(size)

    # Time to live

    def index_expiry(self, table: int) -> None:
        self._execute(
            f"CREATE INDEX IF NOT EXISTS expiry_{table} ON items_{table} (expires) "
            "WHERE expires IS NOT NULL"
        )

    def forget_expiry(self, table: int) -> None:
        self._execute(f"DROP INDEX IF EXISTS expiry_{table}")
        self._execute(f"UPDATE items_{table} SET expires = NULL WHERE expires IS NOT NULL")

    def set_expiry(self, table: int, row: int, expires: int | None) -> None:
        self._execute(f"UPDATE items_{table} SET expires = ? WHERE row = ?", (expires, row))

    def expired(self, table: int, before: int, not_before: int, limit: int) -> list[bytes]:
        """Places of items that expired in the window, the oldest first."""
        rows = self._all(_items(table).expired, (before, not_before, limit))
        return [place for (place,) in rows]

    # Idempotency tokens

    def token(self, token: str) -> tuple[bytes, float, bytes] | None:
        """Digest of the request, time and answer of a transaction already done."""
        return self._one("SELECT digest, at, answer FROM tokens WHERE token = ?", (token,))

    def remember_token(self, token: str, digest: bytes, at: float, answer: bytes) -> None:
        self._execute(
            "INSERT OR REPLACE INTO tokens (token, digest, at, answer) VALUES (?, ?, ?, ?)",
            (token, digest, at, answer),
        )

    def forget_tokens(self, before: float) -> None:
        self._execute("DELETE FROM tokens WHERE at < ?", (before,))

    # Streams

    def streams(self) -> list[tuple[int, str, bytes]]:
        return self._all("SELECT id, arn, definition FROM streams ORDER BY arn")

    def stream(self, arn: str) -> tuple[int, bytes] | None:
        return self._one("SELECT id, definition FROM streams WHERE arn = ?", (arn,))

    def create_stream(self, arn: str, definition: bytes) -> int:
        self._execute("INSERT INTO streams (arn, definition) VALUES (?, ?)", (arn, definition))
        return self.connection.last_insert_rowid()

    def define_stream(self, stream: int, definition: bytes) -> None:
        self._execute("UPDATE streams SET definition = ? WHERE id = ?", (definition, stream))

    def drop_stream(self, stream: int) -> None:
        self._execute("DELETE FROM records WHERE stream = ?", (stream,))
        self._execute("DELETE FROM streams WHERE id = ?", (stream,))

    def append_record(self, stream: int, shard: int, at: float, body: bytes) -> int:
        self._execute(
            "INSERT INTO records (stream, shard, at, body) VALUES (?, ?, ?, ?)",
            (stream, shard, at, body),
        )
        return self.connection.last_insert_rowid()

    def records(
        self, stream: int, shard: int, first: int, since: float, limit: int
    ) -> list[tuple[int, float, bytes]]:
        """Sequence, time and body of records from `first` on that are not older than `since`."""
        return self._all(
            "SELECT sequence, at, body FROM records WHERE stream = ? AND shard = ? "
            "AND sequence >= ? AND at >= ? ORDER BY sequence LIMIT ?",
            (stream, shard, first, since, limit),
        )

    def record_bounds(self, stream: int, shard: int) -> tuple[int, int] | None:
        """The oldest and newest sequence of a shard."""
        row = self._execute(
            "SELECT min(sequence), max(sequence) FROM records WHERE stream = ? AND shard = ?",
            (stream, shard),
        ).fetchone()
        return None if row is None or row[0] is None else (row[0], row[1])

    def next_sequence(self) -> int:
        row = self._execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
        return 1 if row is None else row[0] + 1

    def trim_records(self, before: float) -> None:
        self._execute("DELETE FROM records WHERE at < ?", (before,))

    # Backups: copies of a table's items

    def back_up(self, table: int, backup: int) -> None:
        self._execute(
            f"CREATE TABLE backup_{backup} (place BLOB PRIMARY KEY, size INTEGER, body BLOB)"
        )
        self._execute(f"INSERT INTO backup_{backup} SELECT place, size, body FROM items_{table}")

    def restore(self, backup: int, table: int) -> None:
        self._execute(
            f"INSERT INTO items_{table} (place, size, body) "
            f"SELECT place, size, body FROM backup_{backup} ORDER BY place"
        )

    def drop_backup(self, backup: int) -> None:
        self._execute(f"DROP TABLE IF EXISTS backup_{backup}")

    def next_backup(self) -> int:
        names = self._all("SELECT name FROM sqlite_schema WHERE name GLOB 'backup_*'")
        return max((int(name.removeprefix("backup_")) for (name,) in names), default=0) + 1

    # Point-in-time recovery: what each change replaced

    def keep_history(self, table: int) -> None:
        self._execute(
            f"CREATE TABLE history_{table} (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, "
            "place BLOB NOT NULL, size INTEGER, body BLOB)"
        )
        self._execute(f"CREATE INDEX history_by_age_{table} ON history_{table} (at)")

    def forget_history(self, table: int) -> None:
        self._execute(f"DROP TABLE IF EXISTS history_{table}")

    def remember_past(self, table: int, at: float, place: bytes, before: StoredItem | None) -> None:
        size, body = (None, None) if before is None else (before.size, before.body)
        self._execute(
            f"INSERT INTO history_{table} (at, place, size, body) VALUES (?, ?, ?, ?)",
            (at, place, size, body),
        )

    def trim_history(self, table: int, before: float) -> None:
        self._execute(f"DELETE FROM history_{table} WHERE at < ?", (before,))

    def restore_past(self, source: int, at: float, table: int) -> None:
        """Copy the items as they were: those unchanged since, and what later changes replaced."""
        self._execute(
            f"INSERT INTO items_{table} (place, size, body) SELECT place, size, body "
            f"FROM items_{source} WHERE place NOT IN "
            f"(SELECT place FROM history_{source} WHERE at > ?) ORDER BY place",
            (at,),
        )
        self._execute(
            f"INSERT INTO items_{table} (place, size, body) SELECT place, size, body "
            f"FROM history_{source} WHERE body IS NOT NULL AND sequence IN "
            f"(SELECT min(sequence) FROM history_{source} WHERE at > ? GROUP BY place)",
            (at,),
        )

    def past_bodies(self, table: int, at: float) -> dict[bytes, bytes | None]:
        """By place, what items changed after a moment were at that moment."""
        return dict(
            self._all(
                f"SELECT place, body FROM history_{table} WHERE sequence IN "
                f"(SELECT min(sequence) FROM history_{table} WHERE at > ? GROUP BY place)",
                (at,),
            )
        )

    # Documents: small things kept by kind and id (backups, exports, imports)

    def document(self, kind: str, id: str) -> bytes | None:
        row = self._execute(
            "SELECT body FROM documents WHERE kind = ? AND id = ?", (kind, id)
        ).fetchone()
        return None if row is None else row[0]

    def documents(self, kind: str) -> list[tuple[str, bytes]]:
        return self._all("SELECT id, body FROM documents WHERE kind = ? ORDER BY id", (kind,))

    def keep_document(self, kind: str, id: str, body: bytes) -> None:
        self._execute(
            "INSERT OR REPLACE INTO documents (kind, id, body) VALUES (?, ?, ?)", (kind, id, body)
        )

    def drop_document(self, kind: str, id: str) -> None:
        self._execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id))


def connect(path: str, durability: str) -> apsw.Connection:
    """A connection that is set up and whose file has been recognised."""
    if path != ":memory:":
        _recognise(Path(path))
    try:
        connection = apsw.Connection(path, statementcachesize=400)
        connection.set_busy_handler(_waits_for_writer)
        _prepare(connection, path, durability)
    except apsw.Error as error:
        raise translated(error, path) from error
    return connection


def _waits_for_writer(attempt: int) -> bool:
    """Another process writes: SQLite's own pauses grow to the time of a hundred commits."""
    time.sleep(_BUSY_PAUSE)
    return attempt * _BUSY_PAUSE < BUSY_SECONDS


def _recognise(path: Path) -> None:
    """Refuse what cannot be a keyfold file before SQLite touches it."""
    if path.is_dir():
        raise errors.Corrupt(f"{path} is a directory; give the path of a data file")
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != _MAGIC or len(header) < 100:
        raise errors.Corrupt(f"{path} is not a keyfold data file")
    page_size = int.from_bytes(header[16:18], "big")
    expected = (65536 if page_size == 1 else page_size) * int.from_bytes(header[28:32], "big")
    log = Path(f"{path}-wal")
    if path.stat().st_size < expected and not (log.exists() and log.stat().st_size):
        raise errors.Corrupt(
            f"{path} is truncated: {path.stat().st_size} bytes of {expected}; "
            "restore it from a backup"
        )


def _prepare(connection: apsw.Connection, path: str, durability: str) -> None:
    def pragma(text: str) -> Any:
        return connection.execute(f"PRAGMA {text}").fetchall()

    application, version = pragma("application_id")[0][0], pragma("user_version")[0][0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    if is_empty:
        pragma("auto_vacuum = INCREMENTAL")
    elif application != APPLICATION_ID:
        raise errors.Corrupt(f"{path} is an SQLite file, but not one of keyfold")
    elif version > FORMAT:
        raise errors.FormatTooNew(
            f"{path} has format {version}; this keyfold reads up to {FORMAT}. Upgrade keyfold."
        )
    if path != ":memory:":
        pragma("journal_mode = WAL")
        pragma("journal_size_limit = 67108864")
    pragma(f"synchronous = {_SYNCHRONOUS[durability]}")
    pragma("temp_store = MEMORY")
    pragma(f"cache_size = -{CACHE_KILOBYTES}")
    if is_empty:
        _create(connection)


def _create(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have been first.
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
        connection.execute(_SCHEMA).fetchall()
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def translated(error: apsw.Error, path: str) -> errors.StorageError:
    """The storage error that an SQLite error stands for."""
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return errors.Corrupt(f"{path} is damaged ({error}); restore it from a backup")
    if isinstance(error, apsw.FullError):
        return errors.Full(f"{path}: the disk is full; nothing was written")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return errors.Busy(f"{path}: another process holds the file")
    if isinstance(error, apsw.CantOpenError):
        return errors.StorageError(f"{path} cannot be opened: {error}")
    if isinstance(error, apsw.SQLError) and "no such table" in str(error):
        return SchemaMoved(f"{path}: {error}")
    return errors.StorageError(f"{path}: {error}")
