"""Stream records and idempotency tokens, which are kept for a limited time."""

from __future__ import annotations

from keyfold_engine.engine.storage.trees import Trees


class Records(Trees):
    """Stores streams with their records, and transaction tokens."""

    __slots__ = ()

    # Idempotency tokens

    def token(self, token: str) -> tuple[bytes, float, bytes] | None:
        """Request digest, time and answer of a completed transaction."""
        return self.one("SELECT digest, at, answer FROM tokens WHERE token = ?", (token,))

    def remember_token(self, token: str, digest: bytes, at: float, answer: bytes) -> None:
        self.execute(
            "INSERT OR REPLACE INTO tokens (token, digest, at, answer) VALUES (?, ?, ?, ?)",
            (token, digest, at, answer),
        )

    def forget_token(self, before: float) -> None:
        """Delete the oldest token, if it is old enough.

        Called once per new token, so that they do not accumulate.
        """
        self.execute(
            "DELETE FROM tokens WHERE rowid = (SELECT min(rowid) FROM tokens) AND at < ?", (before,)
        )

    def correct_tokens(self, now: float, ahead: float) -> None:
        """Reset the time of tokens from a clock that was far ahead, which would never expire."""
        self.execute("UPDATE tokens SET at = ? WHERE at > ?", (now, now + ahead))

    # Streams

    def streams(self) -> list[tuple[int, str, bytes]]:
        return self.all("SELECT id, arn, definition FROM streams ORDER BY arn")

    def stream(self, arn: str) -> tuple[int, bytes] | None:
        return self.one("SELECT id, definition FROM streams WHERE arn = ?", (arn,))

    def create_stream(self, arn: str, definition: bytes) -> int:
        self.execute("INSERT INTO streams (arn, definition) VALUES (?, ?)", (arn, definition))
        return self.connection.last_insert_rowid()

    def define_stream(self, stream: int, definition: bytes) -> None:
        self.execute("UPDATE streams SET definition = ? WHERE id = ?", (definition, stream))

    def drop_stream(self, stream: int) -> None:
        self.execute("DELETE FROM records WHERE stream = ?", (stream,))
        self.execute("DELETE FROM streams WHERE id = ?", (stream,))

    def append_record(self, stream: int, shard: int, at: float, body: bytes) -> int:
        self.execute(
            "INSERT INTO records (stream, shard, at, body) VALUES (?, ?, ?, ?)",
            (stream, shard, at, body),
        )
        return self.connection.last_insert_rowid()

    def records(
        self, stream: int, shard: int, first: int, since: float, limit: int
    ) -> list[tuple[int, float, bytes]]:
        """Sequence, time and body of records from `first` that are not older than `since`."""
        return self.all(
            "SELECT sequence, at, body FROM records WHERE stream = ? AND shard = ? "
            "AND sequence >= ? AND at >= ? ORDER BY sequence LIMIT ?",
            (stream, shard, first, since, limit),
        )

    def record_bounds(self, stream: int, shard: int) -> tuple[int, int] | None:
        """The oldest and newest sequence of a shard."""
        row = self.execute(
            "SELECT min(sequence), max(sequence) FROM records WHERE stream = ? AND shard = ?",
            (stream, shard),
        ).fetchone()
        return None if row is None or row[0] is None else (row[0], row[1])

    def next_sequence(self) -> int:
        row = self.execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
        return 1 if row is None else row[0] + 1

    def last_record_time(self) -> float:
        """When the newest record of all streams was written; 0 if there is none."""
        row = self.one("SELECT at FROM records ORDER BY sequence DESC LIMIT 1")
        return 0.0 if row is None else float(row[0])

    def trim_records(self, before: float, limit: int) -> int:
        """Delete at most `limit` records from before a moment; returns how many."""
        return self.delete_older("records", before, limit)
