"""Whether SQLite recovered all of a log that a process left behind.

SQLite ends a log at the first frame with a wrong checksum, which discards a write that power loss
interrupted. Damage in the middle of a log looks the same, and would discard acknowledged commits.
But a synced commit is followed by another only after its sync, so more than one commit after the
end cannot be an interrupted write.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Literal

import apsw

_LOG_HEADER, _FRAME_HEADER = 32, 24
_SALTS = slice(16, 24)


class LogFrames:
    """The commits in a log, examined before SQLite opens its file."""

    def __init__(self, path: str) -> None:
        self._log = Path(f"{path}-wal")
        self._salts = b""
        self._commits: list[int] = []
        if self._log.exists() and self._log.stat().st_size > _LOG_HEADER:
            self._read()

    def lost(self, connection: apsw.Connection) -> int:
        """How many commits SQLite discards, given a connection that was just opened."""
        if not self._commits:
            return 0
        connection.pragma("user_version")
        # It only tells how much of the log is good: it writes nothing, and waits for nobody.
        last, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if last < 0 or self._was_restarted():
            return 0
        return sum(commit > last for commit in self._commits)

    def _was_restarted(self) -> bool:
        with self._log.open("rb") as log:
            header = log.read(_LOG_HEADER)
        return _is_whole(header) and header[_SALTS] != self._salts

    def _read(self) -> None:
        with self._log.open("rb") as log:
            header = log.read(_LOG_HEADER)
            length = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
            first = log.read(_FRAME_HEADER)
            # A damaged header does not name the salts of its frames.
            self._salts = header[_SALTS] if _is_whole(header) else first[8:16]
            if not _is_whole(header):
                length = _FRAME_HEADER + 4096
            number, at = 0, _LOG_HEADER
            while len(frame := _at(log, at)) == _FRAME_HEADER:
                number, at = number + 1, at + length
                if frame[8:16] == self._salts and frame[4:8] != bytes(4):
                    self._commits.append(number)


def _at(log: BinaryIO, at: int) -> bytes:
    log.seek(at)
    return log.read(_FRAME_HEADER)


def _is_whole(header: bytes) -> bool:
    """Whether a log's header matches its checksum."""
    order: Literal["big", "little"] = "big" if header[3] & 1 else "little"
    first = second = 0
    for at in range(0, 24, 8):
        first = first + int.from_bytes(header[at : at + 4], order) + second & 0xFFFF_FFFF
        second = second + int.from_bytes(header[at + 4 : at + 8], order) + first & 0xFFFF_FFFF
    return (first, second) == tuple(int.from_bytes(header[a : a + 4], "big") for a in (24, 28))
