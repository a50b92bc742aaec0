"""What a store gives of what it is asked for, and why it gives no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keyfold.simulate.model.partition import StorePartition

Reason = Literal["key range", "provisioned", "on-demand maximum", "previous peak"]


@dataclass
class Grant:
    """What a store gives of what was asked, in one step."""

    wanted: float
    granted: float
    reason: Reason | None = None
    tightest: StorePartition | None = None
    fractions: list[float] | None = None
    """The share that each partition takes; None where all is taken."""

    @property
    def refused(self) -> float:
        return self.wanted - self.granted

    @property
    def fraction(self) -> float:
        return self.granted / self.wanted if self.wanted else 1.0


@dataclass(frozen=True)
class Pressure:
    """Writes that come from a table, in units a second."""

    offered: float
    excess: float
    """What cannot be written at once."""
    spare: float
    held: float
    """The share that can be taken for ever."""
