"""Failures during a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold_workbench.simulate.run import Run


@dataclass
class Disturbance:
    """A temporary failure; subclasses define its effect."""

    at: float
    seconds: float
    active: bool = field(default=False, init=False)
    stops_consumers = False
    is_away = False
    """The backend is unreachable."""

    @property
    def ends(self) -> float:
        return self.at + self.seconds

    def disturb(self, run: Run, now: float, factors: dict[str, float]) -> None:
        """Called before each step."""
        within = self.at <= now < self.ends
        if within and not self.active:
            self.begin(run, now)
        self.active = within
        if within:
            self.during(factors)

    def begin(self, run: Run, now: float) -> None:
        """Called once, when it starts."""

    def during(self, factors: dict[str, float]) -> None:
        """Called in each of its steps."""
