"""The duration of table changes: none, as on Amazon, or as a test sets it.

A resource stores the time of the request that changes it. Its status follows from that time and the
clock, so nothing has to be updated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from keyfold_engine.clock import Clock

DelaySetting: TypeAlias = Literal["at once", "amazon"] | Mapping[str, float]

# The phases of each kind of change and their seconds, as measured on Amazon in autumn 2026.
_AMAZON: Final[Mapping[str, Mapping[str, float]]] = {
    "vector index": {"allocating": 40.0, "backfilling": 720.0, "unserved": 10.0},
    "bulk operation": {"queued bulk operation": 30.0},
    "creating replica": {"creating replica": 30.0},
    "creating witness": {"creating witness": 30.0},
    "source of a replica": {"source of a replica": 86_400.0},
    "policy": {"changed policy": 15.0},
    "enabling insights": {"enabling insights": 8.0},
    "disabling insights": {"disabling insights": 2.0},
    "enabling destination": {"enabling destination": 5.0},
    "updating destination": {"updating destination": 138.0},
    "disabling destination": {"disabling destination": 2.0},
}
_PHASES: Final = frozenset(phase for phases in _AMAZON.values() for phase in phases)


class Delays:
    """Tells the phase of a change."""

    def __init__(self, setting: DelaySetting, clock: Clock) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = {}
        if setting == "amazon":
            self._seconds = {name: s for phases in _AMAZON.values() for name, s in phases.items()}
        elif not isinstance(setting, str):
            self._seconds = _valid_phases(setting)
        elif setting != "at once":
            raise ValueError(f"delays are 'at once', 'amazon' or seconds by phase: {setting!r}")

    def phase(self, kind: str, since: float | None) -> str | None:
        """The phase of a change requested at a time; None when it is complete."""
        if since is None or not self._seconds:
            return None
        passed = self._clock.now() - since
        for name in _AMAZON[kind]:
            passed -= self._seconds.get(name, 0.0)
            if passed < 0:
                return name
        return None


def read_delays(text: str) -> DelaySetting:
    """Parses the command-line setting: `at once`, `amazon`, or `phase=seconds,...`."""
    if text == "at once":
        return "at once"
    if text == "amazon":
        return "amazon"
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, seconds = part.partition("=")
        try:
            found[name.strip()] = float(seconds)
        except ValueError:
            missing = "seconds" if equals else "="
            raise ValueError(
                f"delays are 'at once', 'amazon' or phase=seconds: {part!r} lacks its {missing}"
            ) from None
    return _valid_phases(found)


def _valid_phases(setting: Mapping[str, float]) -> dict[str, float]:
    for name, seconds in setting.items():
        if name not in _PHASES:
            known = ", ".join(sorted(_PHASES))
            raise ValueError(f"delays: unknown phase {name!r}; use one of {known}")
        if not 0 <= seconds < math.inf:
            raise ValueError(f"delays: {name} cannot take {seconds} seconds")
    return dict(setting)
