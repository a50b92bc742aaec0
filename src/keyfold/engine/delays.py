"""How long changes take: no time, as long as on Amazon, or as long as a test says.

What has a status keeps the moment of the request that changes it. Where it is on its way follows
from that moment and the clock, whoever asks and whenever: nothing has to be moved on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from keyfold.clock import Clock

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
    """Tells in which phase a change is."""

    def __init__(self, setting: DelaySetting, clock: Clock) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = {}
        if setting == "amazon":
            self._seconds = {name: s for phases in _AMAZON.values() for name, s in phases.items()}
        elif not isinstance(setting, str):
            self._seconds = _checked(setting)
        elif setting != "at once":
            raise ValueError(f"delays are 'at once', 'amazon' or seconds by phase: {setting!r}")

    def phase(self, kind: str, since: float | None) -> str | None:
        """The phase of a change that was asked for at a moment; None when it is complete."""
        if since is None or not self._seconds:
            return None
        passed = self._clock.now() - since
        for name in _AMAZON[kind]:
            passed -= self._seconds.get(name, 0.0)
            if passed < 0:
                return name
        return None


def _checked(setting: Mapping[str, float]) -> dict[str, float]:
    for name, seconds in setting.items():
        if name not in _PHASES:
            known = ", ".join(sorted(_PHASES))
            raise ValueError(f"delays: unknown phase {name!r}; use one of {known}")
        if seconds < 0:
            raise ValueError(f"delays: {name} cannot take {seconds} seconds")
    return dict(setting)
