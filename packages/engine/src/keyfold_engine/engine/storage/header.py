"""Reads a data file's header through SQLite's own file layer.

A process that closes a file loses all its locks on it, including those of SQLite's connections;
another process would then treat the file as unused and delete its log. SQLite's file layer avoids
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from pathlib import Path

BYTES = 100


def read(path: Path) -> bytes:
    """The header; empty if the file is shorter."""
    if path.stat().st_size < BYTES:
        return b""
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    file = apsw.VFSFile("", str(path.absolute()), flags)
    try:
        return file.xRead(BYTES, 0)
    finally:
        file.xClose()
