"""Memory shared by worker processes: a file that never reaches a disk and is removed at exit."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from keyfold_engine.wire.settings import ServeError

FOLDER = Path("/dev/shm")
_PREFIX = "keyfold-"
_STARTING_SECONDS = 10.0


def is_there(folder: Path = FOLDER) -> bool:
    """Whether shared memory is available."""
    return folder.is_dir() and os.access(folder, os.W_OK)


@contextlib.contextmanager
def shared_memory(folder: Path = FOLDER) -> Iterator[Path]:
    """A private directory in memory, for the lifetime of this process.

    It is locked. The lock ends with the last process that holds it, so the next server recognises
    leftovers.
    """
    import fcntl
    import shutil
    import tempfile

    if not is_there(folder):
        raise ServeError(
            f"workers share memory in {folder}, which cannot be written here: use --workers 1, or "
            "give them a file with --data"
        )
    remove_leftovers(folder)
    made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    lock = os.open(made, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove what crashed servers left behind."""
    import fcntl
    import shutil

    for left in folder.glob(f"{_PREFIX}*"):
        # It belongs to another user, or another server is removing it.
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime < _STARTING_SECONDS:
                continue
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
            finally:
                os.close(lock)
