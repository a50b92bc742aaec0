"""A checksum at the end of each page, by SQLite's own extension, which apsw brings along.

SQLite writes the sum with the page and compares it whenever it reads one. Pages are then never
mapped into memory: nobody would look at their sums, and a file cut short would end the process.
"""

from __future__ import annotations

from threading import Lock

import apsw

from keyfold import errors

NAME = "cksmvfs"
BYTES = 8
"""Kept free at the end of each page; the file's header says so."""

_loading = Lock()


def layer() -> str:
    """The name of the layer between SQLite and the disk that makes and compares sums."""
    if NAME not in apsw.vfs_names():
        _load()
    return NAME


def _load() -> None:
    # Imported where it is needed: it reads a list of everything that apsw has beside SQLite.
    from apsw import sqlite_extra

    with _loading:
        before = apsw.vfs_names()
        if NAME in before:
            return
        try:
            with apsw.Connection(":memory:") as connection:
                sqlite_extra.load(connection, "cksumvfs")
        except (sqlite_extra.NotAvailable, LookupError, apsw.Error) as error:
            raise errors.StorageError(
                "this build of apsw has no checksums of pages (cksumvfs); install apsw from a wheel"
            ) from error
        # Connections that are not ours stay as they were.
        apsw.set_default_vfs(before[0])
