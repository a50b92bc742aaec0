"""A published incident, replayed: what was reported, what the model shows, and its spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keyfold_workbench.simulate.assumptions import Assumptions, sweep


@dataclass(frozen=True)
class Claim:
    """One figure of an incident."""

    what: str
    published: str
    low: float
    high: float
    """The model must show a figure between these with the default assumptions."""
    shows: Callable[[Assumptions], float]
    sweeps: tuple[str, ...] = ()
    unit: str = "/s"

    def replay(self) -> Replay:
        default, *others = (self.shows(each) for each in sweep(self.sweeps))
        return Replay(self, default, min([default, *others]), max([default, *others]))


@dataclass(frozen=True)
class Replay:
    """The model's figures: with its defaults, and at the ends of the sweep."""

    claim: Claim
    shown: float
    lowest: float
    highest: float

    @property
    def holds(self) -> bool:
        return self.claim.low <= self.shown <= self.claim.high


@dataclass(frozen=True)
class Story:
    """Several figures of one incident."""

    name: str
    source: str
    claims: tuple[Claim, ...]
    lesson: str
