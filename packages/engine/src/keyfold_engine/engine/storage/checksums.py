"""Page checksums, by the SQLite extension that apsw bundles.

SQLite writes the checksum with the page and verifies it on every read. Pages are then never
memory-mapped: their checksums would not be verified, and a truncated file would crash the process.
"""

from __future__ import annotations

from threading import Lock

import apsw

from keyfold_engine import errors

NAME = "cksmvfs"
BYTES = 8
"""Reserved at the end of each page, according to the file's header."""

_loading = Lock()


def layer() -> str:
    """The name of the VFS that computes and verifies checksums."""
    if NAME not in apsw.vfs_names():
        _load()
    return NAME


def _load() -> None:
    # Imported on use: it loads a list of all apsw extensions.
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
                "this build of apsw has no page checksums (cksumvfs); install apsw from a wheel"
            ) from error
        # Other connections are unaffected.
        apsw.set_default_vfs(before[0])
