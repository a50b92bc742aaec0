"""`Db` is `AsyncDb` without `await`: its module is generated, and current.

python packages/keyfold/tests/unit/runtime/test_sync_handle.py    writes it again
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

from keyfold import AsyncDb, Db
from keyfold.runtime import async_db, db

WRITTEN, GENERATED = Path(async_db.__file__), Path(db.__file__)
WORDS = {
    r"`await design\.open_async": "`design.open",
    r'"await design\.open_async': '"design.open',
    r"a backend, for an event loop": "a backend",
    r"drive_async\(flow, call\)": "drive(flow, call, self.pool)",
    r"awaited\(work\(\)\)": "work()",
    r"Callable\[\[\], Awaitable\[T\]\]": "Callable[[], T]",
    r"\b(async|await) ": "",
    r"\bAsync(Db|Client|Iterator)\b": r"\1",
    r"\b(drive|read_pattern)_async\b": r"\1",
    r"\b__a(enter|exit)__": r"__\1__",
}


def without_await(text: str) -> str:
    """The module of the handle that blocks."""
    for word, other in WORDS.items():
        text = re.sub(word, other, text)
    for step in (["check", "--fix", "--unsafe-fixes", "--exit-zero", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, f"--stdin-filename={GENERATED}", "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    head, docstring, rest = text.partition('"""\n\n')
    return f"{head}{docstring}# Generated from {WRITTEN.name}; edit that.\n{rest}"


def test_the_handle_that_blocks_is_the_one_for_event_loops_without_await() -> None:
    current = without_await(WRITTEN.read_text("utf-8"))
    assert GENERATED.read_text("utf-8") == current, f"run: python {__file__}"


def test_no_handle_has_what_the_other_lacks() -> None:
    def shape(handle: type[object]) -> dict[str, list[str]]:
        words = {"__aenter__": "__enter__", "__aexit__": "__exit__"}
        words["read_pattern_async"] = "read_pattern"
        return {
            words.get(name, name): list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(handle, inspect.isfunction)
        }

    assert shape(Db) == shape(AsyncDb)


if __name__ == "__main__":
    GENERATED.write_text(without_await(WRITTEN.read_text("utf-8")), "utf-8")
