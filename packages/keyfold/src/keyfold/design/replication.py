"""Global tables: the regions of a table, and how conflicting writes are resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

STRONG_REGIONS = 3


@dataclass(frozen=True)
class Replication:
    """The regions of a table.

    `conflict` says what happens to concurrent writes of one item in two regions: the later one wins
    (`last_writer`), or one of them is refused (`refused`: multi-region strong consistency, in three
    regions). `home` names the only region that is written to, if the application guarantees that:
    then conditions, uniques and counters hold as in a single region.
    """

    regions: tuple[str, ...]
    conflict: Choice["last_writer", "refused"] = "last_writer"
    home: str = ""

    @property
    def is_strong(self) -> bool:
        return self.conflict == "refused"

    @property
    def diverges(self) -> bool:
        """Whether two regions can write the same item concurrently."""
        return not self.is_strong and not self.home and len(self.regions) > 1

    def problems(self) -> Iterator[tuple[str, str]]:
        """What DynamoDB would refuse, and the remedy."""
        if len(set(self.regions)) != len(self.regions) or len(self.regions) < 2:
            yield (
                f"is in the regions {', '.join(self.regions) or 'none'}.",
                "Name at least two, each once.",
            )
        if self.conflict not in ("last_writer", "refused"):
            yield (
                f"has the conflict rule {self.conflict!r}.",
                'Use "last_writer", or "refused" for strong consistency.',
            )
        if self.is_strong and len(self.regions) != STRONG_REGIONS:
            yield (
                f"refuses conflicts in {len(self.regions)} regions.",
                f"Strong consistency takes exactly {STRONG_REGIONS}.",
            )
        if self.home and self.home not in self.regions:
            yield (
                f"has the home {self.home}, which is not one of its regions.",
                f"Its regions are: {', '.join(self.regions)}.",
            )
