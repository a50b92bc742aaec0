"""A backend that assigns each request a fault, drawn from the seed.

A fault belongs to a process and the number of its request, so that removing one leaves the others
unchanged. Shrinking depends on that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from keyfold.errors import InternalFailure, Timeout, Unreachable
from keyfold.testing.deterministic.world import Died, SimulatedProcess, World
from keyfold_engine.clients.retry import is_repeatable, with_token
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults

Fate = Literal[
    "delayed",
    "long",
    "throttled",
    "conflict",
    "unprocessed",
    "twice",
    "lost",
    "failed",
    "unanswered",
    "late",
    "dies before",
    "dies after",
]
FATES: tuple[Fate, ...] = get_args(Fate)
"""`late` is a request that takes effect after its caller gave up."""

_DELAY, _LONG = (0.0, 0.05), (5.0, 60.0)


@dataclass
class SimulatedBackend:
    """A client of an engine for all processes of a world."""

    engine: Engine
    world: World
    fates: Mapping[Fate, float] = field(default_factory=dict)
    """The frequency of each fault."""
    calm: frozenset[tuple[str, int]] = frozenset()
    """Requests, by process and number, without a fault."""
    spared: Callable[[SimulatedProcess], bool] = lambda _: False
    """Processes that do not die."""
    punctual: Callable[[SimulatedProcess], bool] = lambda _: False
    """Processes whose requests do not arrive late."""
    met: list[tuple[str, int, Fate]] = field(default_factory=list)
    quiet: bool = False

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self.world.current
        if process is None or self.quiet:
            return self.engine.call(operation, dict(request))
        process.requests += 1
        number = process.requests
        chance = random.Random(f"{self.world.seed}/{process.name}/{number}")
        fate = self._fate(chance, process, number)
        if fate is not None:
            self.met.append((process.name, number, fate))
        self.world.tell(f"{number} {operation} {fate or ''}".rstrip())
        # Every answer takes some time, so that other processes interleave.
        self.world.sleep(chance.uniform(0.0, 0.002))
        sent = dict(with_token(operation, request))
        return self._meet(fate, operation, sent, chance, process)

    def _fate(self, chance: random.Random, process: SimulatedProcess, number: int) -> Fate | None:
        drawn = chance.random()
        for fate, share in self.fates.items():
            drawn -= share
            if drawn < 0:
                if (process.name, number) in self.calm:
                    return None
                if fate.startswith("dies") and self.spared(process):
                    return None
                return None if fate == "late" and self.punctual(process) else fate
        return None

    def _meet(
        self,
        fate: Fate | None,
        operation: str,
        request: dict[str, Any],
        chance: random.Random,
        process: SimulatedProcess,
    ) -> dict[str, Any]:
        def effect(request: dict[str, Any] = request) -> dict[str, Any]:
            answer = self.engine.call(operation, request)
            self.world.sleep(chance.uniform(0.0, 0.002))
            return answer

        def faulty(**faults: float) -> dict[str, Any]:
            drawn = Faults(seed=chance.randrange(2**32), **faults)  # type: ignore[arg-type]
            return drawn.around(operation, request, effect, self.engine.database.arn)

        if fate == "delayed":
            self.world.sleep(chance.uniform(*_DELAY))
            answer = effect()
            self.world.sleep(chance.uniform(*_DELAY))
            return answer
        if fate == "long":
            self.world.sleep(chance.uniform(*_LONG))
            return effect()
        if fate == "throttled":
            return faulty(throttle=1.0)
        if fate == "conflict":
            return faulty(conflict=1.0)
        if fate == "unprocessed":
            return faulty(unprocessed=1.0)
        if fate == "twice" and is_repeatable(operation, request):
            effect()
            return effect()
        if fate == "lost":
            raise Unreachable(f"{operation} did not reach the backend", sent=False)
        if fate == "failed":
            raise InternalFailure(f"{operation} met an internal failure")
        if fate == "unanswered":
            effect()
            raise Timeout(f"no response to {operation} in time; the outcome is unknown")
        if fate == "late":
            self._later(operation, request, chance)
            raise Timeout(f"no response to {operation} in time; the outcome is unknown")
        if fate == "dies before":
            self._die(process)
        answer = effect()
        if fate == "dies after":
            self._die(process)
        return answer

    def _later(self, operation: str, request: dict[str, Any], chance: random.Random) -> None:
        def arrive() -> None:
            self.world.sleep(chance.uniform(0.001, 3.0))
            self.world.tell(f"{operation} arrives late")
            try:
                self.engine.call(operation, request)
            except Exception as problem:
                self.world.tell(f"and is refused: {type(problem).__name__}")

        self.world.spawn(f"network {self.world.steps}", arrive)

    def _die(self, process: SimulatedProcess) -> None:
        self.world.tell("dies")
        self.world.kill(process)
        raise Died(process.name)

    def close(self) -> None:
        """Leaves the engine open for its owner."""


def swarm(seed: int) -> dict[Fate, float]:
    """The faults of a seed and their frequency: some seeds have few kinds, some many."""
    chance = random.Random(f"fates of {seed}")
    chosen = chance.sample(FATES, chance.randint(1, len(FATES)))
    total = chance.choice((0.02, 0.08, 0.25))
    return {fate: total / len(chosen) for fate in chosen}
