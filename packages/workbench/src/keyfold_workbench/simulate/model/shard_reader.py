"""Stream shards and their readers.

One open shard per partition. LDG: four polls per second and shard, batches of 100 by default, one
to ten batches of a shard in parallel, order kept per key; a failing batch blocks its shard, by
default until its records are a day old. API: GetRecords returns at most 1,000 records or 1 MB.
"""

from __future__ import annotations

from dataclasses import dataclass

from keyfold_engine.limits import STREAM_RECORDS_PER_READ, STREAM_RETENTION_SECONDS

POLLS = 4
"""Of a shard, per second."""


@dataclass(frozen=True)
class ShardWork:
    """How a shard's records are processed."""

    batch: int = 100
    batch_seconds: float = 0.05
    """A consumer's time for a full batch."""

    @property
    def rate(self) -> float:
        """The maximum of records per second: by processing, and by polling."""
        worked = self.batch / self.batch_seconds if self.batch_seconds else 1e12
        return min(worked, POLLS * STREAM_RECORDS_PER_READ)


@dataclass
class ShardQueue:
    """The unprocessed records of one shard."""

    waiting: float = 0.0
    lost: float = 0.0
    oldest: float = 0.0
    """The age in seconds of the oldest waiting record."""
    longest: float = 0.0

    def pass_time(self, seconds: float, arriving: float, worked: float) -> None:
        """Records arrive at one rate and are processed at up to another."""
        before = self.waiting
        self.waiting = max(0.0, before + (arriving - worked) * seconds)
        if not self.waiting:
            self.oldest = 0.0
        elif worked <= 0:
            self.oldest += seconds
        else:
            self.oldest = self.waiting / max(arriving, worked)
        if self.oldest > STREAM_RETENTION_SECONDS:
            kept = STREAM_RETENTION_SECONDS / self.oldest
            self.lost += self.waiting * (1 - kept)
            self.waiting *= kept
            self.oldest = float(STREAM_RETENTION_SECONDS)
        self.longest = max(self.longest, self.oldest)
