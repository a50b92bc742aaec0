"""Disks of our own under the layer that makes checksums, for the time of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import apsw

from keyfold_engine.engine.storage import checksums

D = TypeVar("D", bound=apsw.VFS)


@contextmanager
def beneath(make: Callable[[str], D]) -> Iterator[D]:
    """Put a disk, made on the real one's name, under every file opened from here on."""
    _take_off_checksums()
    real = apsw.vfs_names()[0]
    disk = make(real)
    assert apsw.vfs_names()[0] != real, "the disk makes itself the default"
    try:
        yield disk
    finally:
        _take_off_checksums()
        disk.unregister()
        assert apsw.vfs_names()[0] == real


def _take_off_checksums() -> None:
    """The layer looks for the disk beneath it when it is put on again."""
    if checksums.NAME in apsw.vfs_names():
        apsw.unregister_vfs(checksums.NAME)
