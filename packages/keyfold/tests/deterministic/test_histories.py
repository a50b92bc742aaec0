"""Every history of every seed ends right, whatever its requests and processes meet."""

from __future__ import annotations

import pytest
from tests.deterministic.histories import HISTORIES, failing, play, seeds

from keyfold.testing.deterministic import shrink


@pytest.mark.parametrize("name", HISTORIES)
def test_every_seed_ends_right(name: str) -> None:
    """`SEEDS=1000` for more; `SEEDS=17:18` takes the steps of one seed again."""
    for seed in seeds():
        stage, problem = play(name, seed)
        if problem is not None:
            found = shrink(failing(name, seed), most=60)
            needed = (
                "\n".join(f"  {who}, request {at}: {fate}" for who, at, fate in found.needed)
                if found
                else "  it does not fail again"
            )
            last = "\n".join(stage.world.trace[-20:])
            pytest.fail(
                f"{name}, seed {seed}: {problem!r}\n"
                f"Again: SEEDS={seed}:{seed + 1} pytest -k {name} {__file__}\n"
                f"Faults that are needed:\n{needed}\nThe last steps:\n{last}"
            )


@pytest.mark.parametrize("name", HISTORIES)
def test_a_seed_takes_the_same_steps_again(name: str) -> None:
    first, _ = play(name, 3)
    second, _ = play(name, 3)
    assert first.world.trace == second.world.trace
    assert first.backend.met
