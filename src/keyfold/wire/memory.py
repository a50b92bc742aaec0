"""Memory that worker processes share: a file that never reaches a disk and does not stay."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from keyfold.wire.settings import ServeError

FOLDER = Path("/dev/shm")
_PREFIX = "keyfold-"
_STARTING_SECONDS = 10.0


@contextlib.contextmanager
def shared_memory(folder: Path = FOLDER) -> Iterator[Path]:
    """The path of a data file in memory, for as long as this process lives.

    The folder made for it is locked. The lock ends with the last process that holds it, however
    that ends, so that the next server knows what was left behind.
    """
    import fcntl
    import shutil
    import tempfile

    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ServeError(
            f"workers share memory in {folder}, which cannot be written here: use --workers 1, or "
            "give them a file with --data"
        )
    remove_leftovers(folder)
    made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    lock = os.open(made, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield made / "memory.db"
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove what servers left that could not tidy up."""
    import fcntl
    import shutil

    for left in folder.glob(f"{_PREFIX}*"):
        # Another user's, or one that another server removes: not ours to complain about.
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime < _STARTING_SECONDS:
                continue
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
            finally:
                os.close(lock)
