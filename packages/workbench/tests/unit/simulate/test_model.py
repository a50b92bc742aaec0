"""Each mechanism against what AWS has published of it."""

from __future__ import annotations

import random

import pytest
from tests.unit.simulate.stories.retry_pool import RetryPool

from keyfold_engine.limits import GB
from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.load.schedule import Schedule
from keyfold_workbench.simulate.load.zipf import exponent, harmonic, shares
from keyfold_workbench.simulate.model import conflicts
from keyfold_workbench.simulate.model.auto_scaler import AutoScaling
from keyfold_workbench.simulate.model.backpressure import IndexBuffer
from keyfold_workbench.simulate.model.bucket import Bucket
from keyfold_workbench.simulate.model.partition import partitions_needed
from keyfold_workbench.simulate.model.retries import RETRY_COST, refusal, steady
from keyfold_workbench.simulate.model.shard_reader import ShardQueue, ShardWork
from keyfold_workbench.simulate.run import run
from keyfold_workbench.simulate.traffic import (
    KeySpace,
    Mode,
    OnDemand,
    Provisioned,
    ScaleModel,
    StoreSpec,
    TrafficLine,
)

T = Store("T")


def model(
    *loads: float, mode: Mode | None = None, units: float = 1.0, kind: str = "write", **more: object
) -> ScaleModel:
    """A table whose keys are asked for so many units a second each."""
    total = sum(loads)
    space = KeySpace("key", tuple(load / total for load in loads), len(loads), divisible=False)
    spec = StoreSpec(T, mode or OnDemand(), (space,), **more)  # type: ignore[arg-type]
    line = TrafficLine("call", T, kind, units, total / units, "key")  # type: ignore[arg-type]
    return ScaleModel("test", (spec,), (line,))


def test_a_20_kb_item_is_read_600_times_a_second_and_no_more() -> None:
    fits = run(model(600 * 5, units=5.0, kind="read"), Schedule(), 600)
    assert fits.stores[T].refused_read == fits.stores[T].refused_write == 0
    over = run(model(700 * 5, units=5.0, kind="read"), Schedule(), 600)
    assert over.stores[T].read_units / 600 == pytest.approx(3000)
    assert over.first is not None
    assert over.first.reason == "key range"


def test_an_uneven_partition_borrows_what_the_others_leave() -> None:
    even = model(50, 50, 50, 150, mode=Provisioned(400, 400), partitions=4)
    assert run(even, Schedule(), 3600).stores[T].refused_write == 0


def test_warm_throughput_does_not_help_one_hot_key() -> None:
    seen = run(model(1500, mode=OnDemand(40_000, 40_000)), Schedule(), 600)
    assert seen.lost_share == pytest.approx(1 / 3)


def test_an_index_read_at_its_limit_leaves_its_table_alone() -> None:
    index = Store("T", "I")
    stores = (
        StoreSpec(T, OnDemand(), (KeySpace("key", (), 1e6),)),
        StoreSpec(index, OnDemand(), (KeySpace("status", (1.0,), 1, False),)),
    )
    lines = (
        TrafficLine("put", T, "write", 1.0, 500, "key"),
        TrafficLine("put", index, "write", 1.0, 500, "status"),
        TrafficLine("list", index, "read", 10.0, 500, "status"),
    )
    seen = run(ScaleModel("x", stores, lines), Schedule(), 1200)
    assert seen.calls["list"].lost
    assert not seen.calls["put"].lost


@pytest.mark.parametrize(
    ("read", "write", "bytes_", "count"),
    [(0, 10_000, 0, 10), (12_000, 4_000, 0, 4), (0, 0, 25 * GB, 3), (3_001, 0, 0, 2)],
)
def test_partitions_by_rate_and_size(read: float, write: float, bytes_: float, count: int) -> None:
    assert partitions_needed(read, write, bytes_) == count


def test_size_splits_partitions_as_a_table_grows() -> None:
    spec = StoreSpec(T, OnDemand(), (KeySpace("key", (), 1e9),), 30 * GB, 100 * GB / 86_400)
    line = TrafficLine("put", T, "write", 1.0, 1.0, "key")
    seen = run(ScaleModel("x", (spec,), (line,)), Schedule(), 86_400)
    assert seen.stores[T].partitions >= 13


def test_burst_keeps_five_minutes_of_what_was_not_used() -> None:
    bucket = Bucket(150.0)
    bucket.take(0.0, 600.0)
    assert bucket.tokens == 45_000
    assert bucket.take(200.0, 900.0) == 180_000
    assert bucket.take(200.0, 1.0) == 150


def test_auto_scaling_waits_two_minutes_up_and_fifteen_down() -> None:
    scaling = AutoScaling(100.0, 0.7)
    assert scaling.minute(60, 71) == 100
    for minute in range(2, 5):
        capacity = scaling.minute(60.0 * minute, 71)
    assert capacity > 100
    quiet = AutoScaling(100.0, 0.7)
    for minute in range(1, 15):
        assert quiet.minute(60.0 * minute, 49) == 100
    for minute in range(15, 19):
        capacity = quiet.minute(60.0 * minute, 49)
    assert capacity == pytest.approx(70)


def test_no_more_than_27_decreases_a_day() -> None:
    scaling = AutoScaling(1e9, 0.7, minimum=1e-300)
    lowered, before = 0, scaling.capacity
    for minute in range(1, 1441):
        capacity = scaling.minute(60.0 * minute - 1, before * 0.3)
        lowered += capacity < before
        before = capacity
    assert 20 <= lowered <= 27


def test_an_index_buffer_takes_what_it_has_room_for_and_then_what_drains() -> None:
    buffer = IndexBuffer(1_000)
    assert buffer.pass_on(99.0, 0.0, 0.01, 10.0) == 1.0
    assert buffer.pass_on(99.0, 0.0, 0.01, 10.0) == pytest.approx(0.02, abs=0.01)
    assert buffer.waiting == buffer.room
    buffer.pass_on(0.0, 1.0, 1.0, 60.0)
    assert buffer.waiting == pytest.approx(940)


def test_half_as_many_writing_transactions_cancel_about_half_as_often() -> None:
    all_write = conflicts.cancelled_share(10_000 / 1000, 0.010)
    half = conflicts.cancelled_share(5_000 / 1000, 0.010)
    assert 0.5 < half / all_write < 0.6


def test_no_item_commits_more_than_its_hold_time_allows() -> None:
    assert 1e9 * (1 - conflicts.cancelled_share(1e9, 0.01)) == pytest.approx(100)


@pytest.mark.parametrize("refused", [0.05, 0.2, 0.5, 0.8])
def test_the_closed_form_of_retries_agrees_with_drawn_calls(refused: float) -> None:
    rng = random.Random(1)
    calls, sent, lost, quota = 20_000, 0, 0, 500.0
    for _ in range(calls):
        spent = 0.0
        for attempt in range(4):
            sent += 1
            if rng.random() >= refused:
                quota = min(500.0, quota + (spent or 1.0))
                break
            if attempt == 3 or quota < RETRY_COST:
                lost += 1
                break
            quota, spent = quota - RETRY_COST, RETRY_COST
    expected = steady(refused)
    assert sent / calls == pytest.approx(expected.sends, rel=0.02)
    assert lost / calls == pytest.approx(expected.lost, abs=0.01)


def test_refusals_are_found_from_what_is_served() -> None:
    assert 1 - refusal(0.7).lost == pytest.approx(0.7, abs=1e-3)


def test_a_short_peak_is_lost_by_clients_with_a_quota() -> None:
    pool = RetryPool()
    for second in range(120):
        pool.second(second, 1500.0 if second < 10 else 100.0, 1000.0)
    assert pool.served + pool.lost + pool.waiting == pytest.approx(15_000 + 11_000)
    assert pool.lost > 0


def test_records_that_nobody_reads_for_a_day_are_lost() -> None:
    queue = ShardQueue()
    for _ in range(30):
        queue.pass_time(3600, 1.0, 0.0)
    assert queue.lost > 0
    assert queue.oldest == 86_400


def test_polls_bound_what_a_shard_gives() -> None:
    assert ShardWork(1000, 0.001).rate == 4_000


def test_zipf_sums() -> None:
    assert harmonic(10**6, 1.0) == pytest.approx(14.392726, rel=1e-6)
    assert harmonic(3000, 0.8) == pytest.approx(sum(k**-0.8 for k in range(1, 3001)), rel=1e-9)
    assert exponent(50, 1 / harmonic(50, 1.1)) == pytest.approx(1.1)
    assert shares(50, 1.1, 1)[0] == pytest.approx(0.25, abs=0.02)
