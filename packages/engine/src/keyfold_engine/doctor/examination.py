"""All checks of a data file."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import orjson

from keyfold_engine import errors
from keyfold_engine.doctor.survey import DEFINITIONS, Survey, key_text
from keyfold_engine.engine import indexes
from keyfold_engine.engine.storage import Session, checksums, connect, translated
from keyfold_engine.engine.storage.write_ahead_log import LogFrames
from keyfold_engine.engine.tables import TableDefinition, partition_of
from keyfold_engine.values.size import item_size

_KEYS_SHOWN = 10


class SettledCopy(NamedTuple):
    """A copy of a data file with its log applied."""

    path: Path
    lost: int
    """Commits of the log after the damage."""


@contextmanager
def settled(path: Path) -> Iterator[SettledCopy]:
    """A copy of a file with its log applied; the file itself is not changed."""
    if not path.is_file():
        raise errors.StorageError(f"the data file {path} does not exist")
    with ExitStack() as stack:
        try:
            copy = _copied(path, stack, path.parent)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            copy = _copied(path, stack, Path(tempfile.gettempdir()))
        yield SettledCopy(copy, _settle(copy))


def _copied(path: Path, stack: ExitStack, place: Path) -> Path:
    """A copy of a file and its log in a folder of its own."""
    made = tempfile.TemporaryDirectory(prefix="keyfold-doctor-", dir=place)
    copy = Path(stack.enter_context(made)) / "copy.db"
    shutil.copyfile(path, copy)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        shutil.copyfile(log, f"{copy}-wal")
    return copy


def _settle(copy: Path) -> int:
    frames = LogFrames(str(copy))
    # If the file cannot be opened at all, its log is not applied.
    try:
        connection = apsw.Connection(str(copy), vfs=checksums.layer())
        connection.pragma("checksum_verification", "OFF")
        lost = frames.lost(connection)
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        connection.close()
    except apsw.Error:
        copy.with_name(f"{copy.name}-wal").unlink(missing_ok=True)
        return 0
    # A single one may be a write interrupted by power loss.
    return lost if lost > 1 else 0


def examine(copy: SettledCopy, found: Survey) -> Iterator[str]:
    """The problems, one line each."""
    if copy.lost:
        yield f"the log is damaged: the {copy.lost} commits behind the damage are lost"
    for number, tree in sorted(found.damaged.items()):
        where = found.describe(tree) if tree else "not in use, or unknown"
        yield f"page {number} is damaged: {where}"
    if doubtful := {*found.damaged.values()} & {*DEFINITIONS}:
        listed = ", ".join(sorted(doubtful))
        yield f"definitions are on damaged pages ({listed}): compare what is saved with your design"
    for number in found.undefined():
        count = sum(1 for _ in found.rows(f"items_{number}"))
        yield f"table number {number}: its definition is lost, and with it {count} items"
    for table in found.tables.values():
        lost = found.lost(table.id)
        if lost:
            keys = ", ".join(key_text(table, place) for place in lost[:_KEYS_SHOWN])
            more = f" and {len(lost) - _KEYS_SHOWN} more" if len(lost) > _KEYS_SHOWN else ""
            yield f"table {table.name}: {len(lost)} items are lost: {keys}{more}"
    try:
        session = Session(connect(str(copy.path), "memory"))
    except errors.StorageError:
        yield "the file cannot be opened"
        return
    try:
        yield from _structure(session)
        for table in found.tables.values():
            yield from _guarded(session, table)
        yield from _streams(session)
    finally:
        session.connection.close()


def _structure(session: Session) -> Iterator[str]:
    try:
        told: Any = session.connection.execute("PRAGMA integrity_check").fetchall()
    except apsw.Error as error:
        told = [(str(error),)]
    yield from (f"structure: {text}" for (text,) in told if text != "ok")


def _guarded(session: Session, table: TableDefinition) -> Iterator[str]:
    try:
        yield from _items(session, table)
        yield from _sizes(session, table)
    except apsw.Error as error:
        yield f"table {table.name} cannot be read to its end: {translated(error, 'the file')}"


def _items(session: Session, table: TableDefinition) -> Iterator[str]:
    """Check each item's place, size and index entries."""
    expected = dict.fromkeys((index.number for index in table.indexes), 0)
    for row, place, size, body in session.each_item(table.id):
        where = f"table {table.name}, key {key_text(table, place)}"
        try:
            item = orjson.loads(body)
            right = table.schema.place(item)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            yield f"{where}: the item cannot be read"
            continue
        if right != place:
            yield f"{where}: the item has another key"
        if item_size(item) != size:
            yield f"{where}: the item has {item_size(item)} bytes, and {size} are noted"
        for index in table.indexes:
            entry = indexes.entry(index, place, item, size)
            if entry is None or index.status != "ACTIVE":
                continue
            expected[index.number] += 1
            if session.entry_at(table.id, index.number, entry.place) != (entry.noted_size, row):
                yield f"{where}: its entry in index {index.name} is missing or wrong"
    for index in table.indexes:
        count, _ = session.count_entries(table.id, index.number)
        if index.status == "ACTIVE" and count != expected[index.number]:
            told = f"{count} entries for {expected[index.number]} items"
            yield f"table {table.name}, index {index.name}: {told}"


def _sizes(session: Session, table: TableDefinition) -> Iterator[str]:
    """Check the sizes of item collections against their contents."""
    if not table.local_indexes:
        return
    sizes: dict[bytes, int] = {}
    for _, place, size, body in session.each_item(table.id):
        item = orjson.loads(body)
        local = [indexes.entry(each, place, item, size) for each in table.local_indexes]
        total = size + sum(entry.size for entry in local if entry is not None)
        sizes[partition_of(place)] = sizes.get(partition_of(place), 0) + total
    for partition, size in sizes.items():
        noted = session.collection_size(table.id, partition)
        if noted != size:
            yield f"table {table.name}: an item collection has {size} bytes, and {noted} are noted"


def _streams(session: Session) -> Iterator[str]:
    run: Any = session.connection.execute
    try:
        for stream, count in run(
            "SELECT stream, count(*) FROM records WHERE stream NOT IN (SELECT id FROM streams) "
            "GROUP BY stream"
        ):
            yield f"streams: {count} records of stream {stream}, which is not there"
        for sequence, body in run("SELECT sequence, body FROM records"):
            try:
                orjson.loads(body)
            except orjson.JSONDecodeError:
                yield f"streams: record {sequence} cannot be read"
    except apsw.Error as error:
        yield f"streams cannot be read to their end: {translated(error, 'the file')}"
