"""An index that cannot keep up holds its table back.

DG: a global index without enough write capacity throttles the writes of its table. LAB: between
them is a bounded buffer; when it is full, all writes of the table are refused, also those that do
not touch the index, until there is room. Reads of an index do not touch its table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class IndexBuffer:
    """What waits between a table and one of its indexes."""

    room: float
    waiting: float = 0.0

    def pass_on(self, excess: float, spare: float, held: float, seconds: float) -> float:
        """The share of the table's writes that is taken.

        `excess` is what the index cannot take at once, in units a second; without any, `spare` is
        what it can take on top. Once the buffer is full, the table falls to the share `held`.
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

    @property
    def is_full(self) -> bool:
        return self.waiting >= self.room * (1 - 1e-9)
