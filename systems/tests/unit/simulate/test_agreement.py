"""The run in bulk against the same model in full detail, and against the engine's own faults."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.simulate.call_by_call import simulate_calls

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold.errors import Throttled
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults
from keyfold_workbench.cost import load
from keyfold_workbench.cost.charge import Store
from keyfold_workbench.cost.workload import BurstLoad
from keyfold_workbench.simulate.load.design_load import design_load
from keyfold_workbench.simulate.load.schedule import Schedule
from keyfold_workbench.simulate.load.users import scale_users
from keyfold_workbench.simulate.load.zipf import shares
from keyfold_workbench.simulate.run import run
from keyfold_workbench.simulate.traffic import (
    KeySpace,
    OnDemand,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

SYSTEMS = Path(keyfold_systems.__file__).parent
CLOSE, NEAR = 0.05, 0.10
T, INDEX = Store("T"), Store("T", "I")


@pytest.mark.parametrize("users", [1e4, 1e5])
def test_a_system_in_bulk_uses_the_units_of_the_same_system_in_detail(users: float) -> None:
    schema = load_schema("keyfold_systems.tamafriends.design:design")
    workload = scale_users(schema, load(SYSTEMS / "tamafriends" / "workload.yaml", schema), users)
    # A burst at the first midnight, most of it on one post, so that something is refused too.
    every = 20_000 / (workload.patterns["post_by_id"].rate or 1.0)
    burst = BurstLoad(
        "storm", ("post_by_id",), every, 60.0, day=0.0, hour=0.0, focus=0.9, on=("post_id",)
    )
    # A wall reads some posts of many partitions: so few calls of so many units are not like others.
    patterns = {**workload.patterns}
    patterns["posts_of_users"] = replace(patterns["posts_of_users"], rate=0.0)
    made = design_load(schema, replace(workload, bursts=(burst,), patterns=patterns))
    model = replace(made.model, lines=tuple(line for line in made.model.lines if not line.streamed))
    seconds = 5
    bulk, drawn = run(model, made.schedule, seconds), simulate_calls(model, made.schedule, seconds)
    for store in bulk.stores:
        used, expected = bulk.stores[store].read_units, drawn.stores[store].read_units
        if expected > 1_000:
            assert used == pytest.approx(expected, rel=CLOSE)
    assert bulk.calls["post_by_id"].lost > 10_000
    assert bulk.calls["post_by_id"].lost_share == pytest.approx(
        drawn.calls["post_by_id"].lost_share, rel=CLOSE
    )


def _indexed(rate: float) -> ScaleModel:
    status = KeySpace("status", (0.8, 0.05, 0.05, 0.05, 0.05), 5, divisible=False)
    return ScaleModel(
        "indexed",
        (
            StoreSpec(T, OnDemand(), (KeySpace("id", (), 1e6),)),
            StoreSpec(INDEX, OnDemand(), (status,)),
        ),
        (
            TrafficLine("put", T, "write", 1.0, rate, "id"),
            TrafficLine("put", INDEX, "write", 1.0, rate, "status"),
        ),
    )


def test_an_index_that_holds_back_does_so_in_detail_too() -> None:
    model = _indexed(2000.0)
    bulk = run(model, Schedule(), 90, step=1)
    drawn = simulate_calls(model, Schedule(), 90)
    assert bulk.stores[T].write_units == pytest.approx(drawn.stores[T].write_units, rel=CLOSE)
    assert bulk.lost_share == pytest.approx(drawn.lost_share, rel=CLOSE)


KEYS, SECONDS, UNITS = 20, 12, 10
"""Items of 10 units, so that 100 writes a second are what one key takes."""


@pytest.fixture(scope="module")
def trace() -> list[list[int]]:
    """The keys that are written in each second: 400 a second by Zipf."""
    rng = random.Random(7)
    weights = shares(KEYS, 1.0, KEYS)
    return [rng.choices(range(KEYS), weights, k=400) for _ in range(SECONDS)]


@pytest.fixture
def engine() -> Iterator[tuple[Engine, ManualClock]]:
    clock = ManualClock()
    engine = Engine.open(":memory:", clock=clock, faults=Faults(hot_keys=True))
    engine.call(
        "CreateTable",
        {
            "TableName": "Table",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    yield engine, clock
    engine.close()


def test_the_engine_under_heat_refuses_what_the_model_says(
    engine: tuple[Engine, ManualClock], trace: list[list[int]]
) -> None:
    served, clock = engine
    refused = 0
    item = {"filler": {"S": "x" * (UNITS * 1024 - 40)}}
    for second in trace:
        for key in second:
            try:
                request = {"TableName": "Table", "Item": {"pk": {"S": f"k{key}"}, **item}}
                served.call("PutItem", request)
            except Throttled:
                refused += 1
        clock.advance(1.0)
    counts = [sum(second.count(key) for second in trace) for key in range(KEYS)]
    total = sum(counts)
    space = KeySpace("key", tuple(count / total for count in counts), KEYS, divisible=False)
    model = ScaleModel(
        "replayed",
        # Each key has a partition of its own, as in the engine.
        (StoreSpec(T, OnDemand(1e6, 1e6), (space,), grown=True),),
        (TrafficLine("put", T, "write", float(UNITS), total / SECONDS, "key"),),
    )
    seen = run(model, Schedule(), SECONDS, step=1)
    assert refused > 100
    assert seen.calls["put"].lost == pytest.approx(refused, rel=NEAR)
    assert seen.stores[T].write_units == pytest.approx((total - refused) * UNITS, rel=NEAR)
