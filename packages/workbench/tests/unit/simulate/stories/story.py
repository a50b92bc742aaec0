"""A published incident, replayed: what was reported and what the model shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keyfold_workbench.simulate.assumptions import Assumptions


@dataclass(frozen=True)
class Claim:
    """One figure of an incident."""

    what: str
    published: str
    low: float
    high: float
    """The model must show a figure between these with the default assumptions."""
    shows: Callable[[Assumptions], float]
    unit: str = "/s"


@dataclass(frozen=True)
class Story:
    """Several figures of one incident."""

    name: str
    source: str
    claims: tuple[Claim, ...]
    lesson: str
