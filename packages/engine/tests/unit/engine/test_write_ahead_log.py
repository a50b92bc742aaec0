"""The check of a log that another process may be using."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw

from keyfold_engine.engine.storage.write_ahead_log import LogFrames


def test_the_check_does_not_wait_while_another_connection_checkpoints(tmp_path: Path) -> None:
    path = str(tmp_path / "data.db")
    writer, reader = apsw.Connection(path), apsw.Connection(path)
    writer.pragma("journal_mode", "wal")
    writer.execute("CREATE TABLE things (n)")
    reader.execute("BEGIN").execute("SELECT count(*) FROM things").fetchall()
    writer.execute("INSERT INTO things VALUES (1)")
    frames = LogFrames(path)
    is_checkpointing, reader_is_done = threading.Event(), threading.Event()

    def wait_for_reader(_: int) -> bool:
        is_checkpointing.set()
        return reader_is_done.wait(30)

    def checkpoint() -> None:
        other = apsw.Connection(path)
        other.pragma("user_version")
        other.set_busy_handler(wait_for_reader)
        other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)

    thread = threading.Thread(target=checkpoint)
    thread.start()
    assert is_checkpointing.wait(30)
    assert frames.lost(apsw.Connection(path)) == 0
    reader.execute("COMMIT")
    reader_is_done.set()
    thread.join(30)
