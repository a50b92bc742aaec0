"""What a store grants of its demand, and what limits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keyfold_workbench.simulate.model.partition import StorePartition

Reason = Literal["key range", "provisioned"]


@dataclass
class Grant:
    """What a store grants of its demand in one step."""

    wanted: float
    granted: float
    reason: Reason | None = None
    tightest: StorePartition | None = None
    fractions: list[float] | None = None
    """The share that each partition grants; None if everything is granted."""

    @property
    def refused(self) -> float:
        return self.wanted - self.granted

    @property
    def fraction(self) -> float:
        return self.granted / self.wanted if self.wanted else 1.0


@dataclass(frozen=True)
class Pressure:
    """Writes that arrive from a table, in units per second."""

    offered: float
    excess: float
    """The rate that cannot be written at once."""
    spare: float
    held: float
    """The share that is sustainable."""
