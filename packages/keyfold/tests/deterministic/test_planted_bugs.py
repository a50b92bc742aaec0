"""Programs with a known bug are caught, and their seeds shrink to the faults that matter."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from keyfold.errors import OperationError, TransportError
from keyfold.testing.deterministic import SimulatedBackend, World, shrink
from keyfold.testing.deterministic.backend import swarm
from keyfold.testing.deterministic.shrink import Calm, Met
from keyfold.testing.deterministic.world import Stuck
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

TABLE = {
    "TableName": "Counts",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
KEY = {"TableName": "Counts", "Key": {"pk": {"S": "n"}}}
Add = Callable[[SimulatedBackend], None]


def _read_then_write(backend: SimulatedBackend) -> None:
    """The lost update: nothing says that the value is still the one that was read."""
    item = backend.call("GetItem", {**KEY, "ConsistentRead": True}).get("Item", {})
    value = int(item.get("v", {"N": "0"})["N"]) + 1
    backend.call(
        "PutItem",
        {"TableName": "Counts", "Item": {"pk": {"S": "n"}, "v": {"N": str(value)}}},
    )


def _add_again_after_a_timeout(backend: SimulatedBackend) -> None:
    """Counts twice where the answer was lost."""
    request = {
        **KEY,
        "UpdateExpression": "ADD v :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    while True:
        try:
            backend.call("UpdateItem", request)
        except (TransportError, OperationError):
            backend.world.sleep(0.1)
        else:
            return


def _counted(add: Add, seed: int, calm: Calm, people: int) -> tuple[int, SimulatedBackend]:
    world = World(seed)
    with Engine.open(":memory:", clock=world) as engine:
        engine.call("CreateTable", TABLE)
        fates = {} if add is _read_then_write else swarm(seed)
        backend = SimulatedBackend(engine, world, fates, calm, spared=lambda _: True)

        def work(chance: random.Random) -> Callable[[], None]:
            def live() -> None:
                for _ in range(6):
                    add(backend)
                    world.sleep(chance.uniform(0.0, 0.01))

            return live

        for number in range(people):
            world.spawn(f"person {number}", work(random.Random(number)))
        world.run()
        found = EmbeddedClient(engine).call("GetItem", KEY)["Item"]["v"]["N"]
        return int(found), backend


def test_a_lost_update_is_found_without_any_fault() -> None:
    wrong = [
        seed for seed in range(20) if _counted(_read_then_write, seed, frozenset(), 3)[0] != 18
    ]
    assert wrong


def test_a_count_after_a_lost_answer_shrinks_to_one_fault() -> None:
    def fails(seed: int) -> Callable[[Calm], Sequence[Met] | None]:
        def run(calm: Calm) -> Sequence[Met] | None:
            count, backend = _counted(_add_again_after_a_timeout, seed, calm, 2)
            return list(backend.met) if count != 12 else None

        return run

    found = [each for seed in range(60) if (each := shrink(fails(seed))) is not None]
    assert found
    assert all(len(each.needed) == 1 for each in found)
    assert {each.needed[0][2] for each in found} == {"unanswered", "late"}


def test_what_never_ends_is_said() -> None:
    world = World(0, most=100)

    def wait() -> None:
        while True:
            world.sleep(1)

    world.spawn("waits", wait)
    with pytest.raises(Stuck, match="100 steps"):
        world.run()


def test_a_process_that_is_killed_does_nothing_more() -> None:
    world, done = World(0), []

    def work() -> None:
        for number in range(5):
            world.sleep(1)
            done.append(number)

    process = world.spawn("worker", work)

    def kill() -> None:
        world.sleep(2.5)
        world.kill(process)

    world.spawn("killer", kill)
    world.run()
    assert done == [0, 1]
