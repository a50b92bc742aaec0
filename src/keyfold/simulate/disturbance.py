"""What goes wrong during a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.simulate.run import Run


@dataclass
class Disturbance:
    """Something that happens to a run for a while; what it does is said by those that follow."""

    at: float
    seconds: float
    active: bool = field(default=False, init=False)
    stops_consumers = False
    is_away = False
    """Nobody reaches the backend."""

    @property
    def ends(self) -> float:
        return self.at + self.seconds

    def disturb(self, run: Run, now: float, factors: dict[str, float]) -> None:
        """Look at the time before each step."""
        within = self.at <= now < self.ends
        if within and not self.active:
            self.begin(run, now)
        self.active = within
        if within:
            self.during(factors)

    def begin(self, run: Run, now: float) -> None:
        """Once, when it starts."""

    def during(self, factors: dict[str, float]) -> None:
        """In each of its steps."""
