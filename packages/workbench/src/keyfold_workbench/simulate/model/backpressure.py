"""Back-pressure: a slow index throttles its table.

DG: a global index without enough write capacity throttles the writes of its table. LAB: a bounded
buffer lies between them; when it is full, all writes of the table are throttled, even those that do
not touch the index, until there is room. Reads of an index do not affect its table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class IndexBuffer:
    """The buffer between a table and one of its indexes."""

    room: float
    waiting: float = 0.0

    def pass_on(self, excess: float, spare: float, held: float, seconds: float) -> float:
        """The share of the table's writes that is accepted.

        `excess` is what the index cannot take at once, in units per second; without it, `spare` is
        what it could take in addition. Once the buffer is full, the table falls to the share
        `held`.
        """
        if excess <= 0:
            self.waiting = max(0.0, self.waiting - spare * seconds)
            return 1.0
        full_after = (self.room - self.waiting) / excess
        if full_after >= seconds:
            self.waiting += excess * seconds
            return 1.0
        self.waiting = self.room
        return (full_after + (seconds - full_after) * held) / seconds
