"""A consistent copy of a data file in use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from keyfold_engine import errors
from keyfold_engine.engine.storage import checksums
from keyfold_engine.engine.storage.file import connect, translated

_PAGES_PER_STEP = 2_000


def back_up_file(path: Path, to: Path, progress: Callable[[int, int], None]) -> None:
    """Copy everything committed so far; other processes continue to read and write.

    `progress` receives the number of copied pages and the total. The copy is renamed once it is
    complete. A damaged page aborts it.
    """
    if not path.exists():
        raise errors.StorageError(f"the data file {path} does not exist")
    if to.exists():
        raise errors.StorageError(f"{to} already exists; choose another name or remove it")
    part = to.with_name(f"{to.name}.part")
    part.unlink(missing_ok=True)
    source = connect(str(path), "full")
    try:
        # One read transaction lasts for the whole copy, so that no commit restarts it.
        source.execute("BEGIN; SELECT 1 FROM sqlite_schema").fetchall()
        _copy(source, part, progress)
        part.rename(to)
        _sync(to.parent)
    except apsw.Error as error:
        raise translated(error, str(path)) from error
    except OSError as error:
        raise errors.StorageError(f"{to} cannot be written: {error.strerror}") from error
    finally:
        source.close()
        part.unlink(missing_ok=True)


def _copy(source: apsw.Connection, part: Path, progress: Callable[[int, int], None]) -> None:
    _make_empty(part)
    target = apsw.Connection(str(part), vfs=checksums.layer())
    try:
        target.pragma("journal_mode", "OFF")
        target.pragma("synchronous", "OFF")
        # The header must be read before anything is written: it requests checksums.
        target.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        with target.backup("main", source, "main") as copying:
            while not copying.step(_PAGES_PER_STEP):
                progress(copying.page_count - copying.remaining, copying.page_count)
            progress(copying.page_count, copying.page_count)
    finally:
        target.close()
    _sync(part)


def _make_empty(path: Path) -> None:
    """An empty file whose header requests checksums."""
    try:
        connection = apsw.Connection(str(path), vfs=checksums.layer())
    except apsw.CantOpenError as error:
        raise errors.StorageError(f"{path.parent} cannot be written: {error}") from error
    connection.reserve_bytes("main", checksums.BYTES)
    connection.pragma("auto_vacuum", "INCREMENTAL")
    connection.pragma("user_version", 1)
    connection.close()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
