"""Global tables: in which regions a table is, and what happens to writes that meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

STRONG_REGIONS = 3


@dataclass(frozen=True)
class Replication:
    """The regions of a table.

    `conflict` says what becomes of two writes of one item in two regions at once: the later one
    stays (`last_writer`), or one of them is refused (`refused`: strong consistency, in three
    regions). `home` names the region that alone is written to, if the program keeps to one: then
    conditions, uniques and counters hold as they do in one region.
    """

    regions: tuple[str, ...]
    conflict: Choice["last_writer", "refused"] = "last_writer"
    home: str = ""

    @property
    def is_strong(self) -> bool:
        return self.conflict == "refused"

    @property
    def diverges(self) -> bool:
        """Whether two regions may write the same item without knowing of each other."""
        return not self.is_strong and not self.home and len(self.regions) > 1

    def problems(self) -> Iterator[tuple[str, str]]:
        """What DynamoDB would not take, and what to do about it."""
        if len(set(self.regions)) != len(self.regions) or len(self.regions) < 2:
            yield (
                f"is in the regions {', '.join(self.regions) or 'none'}.",
                "Name at least two, each once.",
            )
        if self.conflict not in ("last_writer", "refused"):
            yield (
                f"has the conflict rule {self.conflict!r}.",
                'It is "last_writer", or "refused" with strong consistency.',
            )
        if self.is_strong and len(self.regions) != STRONG_REGIONS:
            yield (
                f"refuses conflicts in {len(self.regions)} regions.",
                f"Strong consistency takes exactly {STRONG_REGIONS}.",
            )
        if self.home and self.home not in self.regions:
            yield (
                f"has its home in {self.home}, where it is not.",
                f"Its regions are: {', '.join(self.regions)}.",
            )
