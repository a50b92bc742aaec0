"""Reruns a command whenever a file of the project changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

SUFFIXES = (".py", ".yaml", ".yml", ".toml", ".json")
AWAY = ("node_modules", "__pycache__")
EVERY_SECONDS = 0.3


def import_uncached() -> None:
    """Import modules as they are on disk, here and in processes that this one starts.

    Python takes a cached module for current if the second of its change and its size match. A file
    that is saved twice within a second would run as it was first.
    """
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def watch(command: Sequence[str]) -> NoReturn:
    """Run `keyfold COMMAND` now and after each change, until Ctrl-C.

    Each run is a separate process, so that it imports the current files.
    """
    folder = Path.cwd()
    while True:
        seen = stamps(folder)
        subprocess.run([sys.executable, "-m", "keyfold", *command], check=False)
        print(f"Watching {folder}; Ctrl-C stops.", flush=True)
        while stamps(folder) == seen:
            time.sleep(EVERY_SECONDS)


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """The files that a design can depend on, each with its time and size."""
    return dict(_stamps(folder))


def _stamps(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if not _is_away(here / name)]
        for path in (here / name for name in files if name.endswith(SUFFIXES)):
            try:
                found = path.stat()
            except OSError:
                continue  # It was just deleted.
            yield str(path), (found.st_mtime_ns, found.st_size)


def _is_away(folder: Path) -> bool:
    """Whether the path is hidden, installed or an environment, and not part of the project."""
    own = not folder.name.startswith(".") and folder.name not in AWAY
    return not own or (folder / "pyvenv.cfg").exists()
