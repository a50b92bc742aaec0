"""One process, one virtual clock, one seed: programs run against a backend that misbehaves.

Nothing in it depends on the machine: the same seed takes the same steps. After the tests of
FoundationDB and TigerBeetle.
"""

from __future__ import annotations

from keyfold.simulate.deterministic.backend import FATES, Fate, SimulatedBackend
from keyfold.simulate.deterministic.shrink import Shrunk, shrink
from keyfold.simulate.deterministic.world import Died, Stuck, World

__all__ = ["FATES", "Died", "Fate", "Shrunk", "SimulatedBackend", "Stuck", "World", "shrink"]
