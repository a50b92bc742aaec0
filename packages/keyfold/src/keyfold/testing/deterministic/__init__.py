"""Deterministic simulation: one process, one virtual clock, one seed, and a faulty backend.

Nothing depends on the machine: the same seed takes the same steps. Modelled on the tests of
FoundationDB and TigerBeetle.
"""

from __future__ import annotations

from keyfold.testing.deterministic.backend import FATES, Fate, SimulatedBackend
from keyfold.testing.deterministic.shrink import Shrunk, shrink
from keyfold.testing.deterministic.world import Died, Stuck, World

__all__ = ["FATES", "Died", "Fate", "Shrunk", "SimulatedBackend", "Stuck", "World", "shrink"]
