"""A migration from its first phase to its last, with writes in between, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyfold.errors import (
    Drifted,
    Irreversible,
    NotFound,
    Pending,
    TableNotFound,
    VerifyFailed,
)
from keyfold.migrations import (
    PHASES,
    Backend,
    Index,
    Migration,
    Phase,
    ScanPace,
    add,
    remove,
    runner,
)
from keyfold.migrations.changes import ItemChange
from keyfold.migrations.copier import Copier
from keyfold.migrations.direction import Direction
from keyfold.migrations.progress import silent
from keyfold.migrations.table_scan import Scan
from keyfold_engine.clients import Client
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults

from .conftest import (
    OldOrder,
    Order,
    OrderById,
    Shop,
    after,
    before,
    new_table,
    old_table,
    order_move,
)


def fill(shop: Shop, count: int = 60) -> None:
    for number in range(count):
        shop.old_order(f"o{number:03d}", number, f"s{number % 7}")


def test_all_phases_bring_every_item_and_its_pointer_to_the_new_side(shop: Shop) -> None:
    fill(shop)
    expected = shop.expected_items()
    state = shop.migrator().apply("contract")
    assert (state.phase, state.writes) == ("contract", "new")
    assert shop.new_items() == expected
    assert shop.backend.describe("Orders") is None


def test_writes_after_every_phase_arrive(shop: Shop) -> None:
    fill(shop)
    for number, phase in enumerate(["expand", "follow", "backfill", "verify"]):
        shop.migrator().apply(phase)  # type: ignore[arg-type]
        shop.old_order(f"new-{number}", 5)
        shop.old.update(OldOrder.key(order_id=f"o{number:03d}"), total=1000 + number)
        shop.old.update(OldOrder.key(order_id=f"o{number + 10:03d}"), season_id="moved")
        shop.old.delete(OldOrder.key(order_id=f"o{number + 20:03d}"))
    expected = shop.expected_items()
    shop.migrator().apply("switch-writes")
    assert shop.new_items() == expected


def test_rollback_after_writes_on_the_new_side_loses_none_of_them(shop: Shop) -> None:
    fill(shop)
    shop.migrator().apply("hold")
    shop.new.create(Order(season_id="s9", order_id="late", cents=700))
    shop.new.delete(Order.key(season_id="s1", order_id="o001"))
    shop.new.update(Order.key(season_id="s2", order_id="o002"), cents=4200)
    state = shop.migrator().rollback()
    assert (state.phase, state.writes) == ("planned", "old")
    assert shop.old.get(OldOrder.key(order_id="late")).total == 7
    assert shop.old.get(OldOrder.key(order_id="o002")).total == 42
    assert shop.old.find(OldOrder.key(order_id="o001")) is None
    assert shop.backend.describe("SeasonOrders") is None
    expected = shop.expected_items()
    shop.migrator().apply("hold")
    assert shop.new_items() == expected


def test_a_migrator_that_dies_right_after_the_switch_does_not_switch_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shop, 10)
    shop.migrator().apply("verify")
    dying = shop.migrator()
    switch = dying._switch_writes

    def die() -> None:
        switch()
        raise KeyboardInterrupt

    monkeypatch.setattr(dying, "_switch_writes", die)
    with pytest.raises(KeyboardInterrupt):
        dying.apply("hold")
    shop.new.create(Order(season_id="s9", order_id="after", cents=100))
    shop.migrator().apply("hold")
    assert shop.old.get(OldOrder.key(order_id="after")).total == 1


@pytest.mark.parametrize("phase", ["expand", "follow", "backfill", "verify"])
def test_rollback_from_any_early_phase_leaves_the_old_side_alone(shop: Shop, phase: str) -> None:
    fill(shop, 20)
    before = list(shop.old.scan(OldOrder))
    shop.migrator().apply(phase)  # type: ignore[arg-type]
    shop.migrator().rollback()
    assert list(shop.old.scan(OldOrder)) == before
    assert shop.backend.describe("SeasonOrders") is None


def test_there_is_no_way_back_from_contract(shop: Shop) -> None:
    shop.migrator().apply("contract")
    with pytest.raises(Irreversible, match="the old side was removed"):
        shop.migrator().rollback()


def test_an_item_whose_transform_raises_is_listed_and_blocks_the_switch(shop: Shop) -> None:
    fill(shop, 20)
    shop.old_order("bad", -1)
    migrator = shop.migrator()
    with pytest.raises(VerifyFailed, match=r"bad.*a total of -1"):
        migrator.apply("hold")
    status = migrator.status()
    assert status.state.phase == "backfill"
    assert [problem.key for problem in status.problems] == [{"orderId": {"S": "bad"}}]
    assert len(shop.new_items()) == 40
    shop.old.update(OldOrder.key(order_id="bad"), total=3)
    expected = shop.expected_items()
    assert shop.migrator().apply("hold").phase == "hold"
    assert shop.new_items() == expected
    assert shop.migrator().status().problems == []


def test_a_bad_item_that_arrives_by_the_stream_blocks_the_switch_of_writes(shop: Shop) -> None:
    fill(shop, 20)
    shop.migrator().apply("verify")
    shop.old_order("o003", -5)
    with pytest.raises(VerifyFailed, match="o003"):
        shop.migrator().apply("hold")
    assert shop.migrator().status().state.writes == "old"
    assert shop.old.get(OldOrder.key(order_id="o003")).total == -5


def test_a_plan_that_changed_under_way_is_refused(shop: Shop) -> None:
    shop.migrator().apply("expand")
    shop.migration = Migration(shop.migration.name, [order_move()])
    with pytest.raises(Drifted, match="other steps"):
        shop.migrator().apply("hold")


def test_a_plan_made_for_other_tables_is_refused(shop: Shop) -> None:
    other = replace(old_table.schema, indexes=(Index("byTotal", "total", partition_type="N"),))
    shop.migration = Migration("stale", shop.migration.steps, expects={"Orders": other})
    with pytest.raises(
        Drifted, match="as the plan expects: Orders no longer has the index byTotal"
    ):
        shop.migrator().apply("expand")
    assert shop.backend.describe("SeasonOrders") is None


def test_a_table_with_items_that_no_step_moves_is_not_dropped(shop: Shop) -> None:
    shop.migrator().apply("hold")
    shop.backend.call("PutItem", {"TableName": "Orders", "Item": {"orderId": {"S": "x"}}})
    steps = [s for s in shop.migration.steps if s is not shop.migration.steps[1]]
    shop.migration = Migration("drop-only", steps)
    with pytest.raises(Pending, match="no step moves"):
        shop.migrator().apply("contract")
    assert shop.backend.describe("Orders") is not None


def test_items_moved_from_a_table_that_stays_are_gone_from_it_in_the_end(shop: Shop) -> None:
    fill(shop, 20)
    shop.migration = Migration("split", [add(new_table.schema), order_move()])
    shop.migrator().apply("hold")
    shop.new.delete(Order.key(season_id="s1", order_id="o001"))
    other = {"orderId": {"S": "other"}, "kind": {"S": "nobody moves this"}}
    shop.backend.call("PutItem", {"TableName": "Orders", "Item": other})
    assert shop.backend.call("Scan", {"TableName": "Orders"})["Count"] == 21
    shop.migrator().apply("contract")
    assert shop.backend.call("Scan", {"TableName": "Orders"})["Items"] == [other]
    assert len(shop.new_items()) == 2 * 19


def record(shop: Shop, sequence: int, old: OldOrder | None, new: OldOrder | None) -> ItemChange:
    """A change, which is made as well."""
    spec = OldOrder.__spec__
    item = new or old
    assert item is not None
    if new is not None:
        shop.old.put(new)
    else:
        shop.old.delete(item.ref())
    return ItemChange(
        "Orders",
        f"{sequence:040d}",
        item.ref().wire(),
        spec.encode(old) if old else None,
        spec.encode(new) if new else None,
    )


@pytest.fixture
def copier(shop: Shop) -> Copier:
    migrator = shop.migrator()
    migrator.apply("expand")
    return Copier(migrator.store, Direction(shop.backend, [order_move().forward]), "new")


def order(total: int, season: str = "s1") -> OldOrder:
    return OldOrder(order_id="o1", season_id=season, total=total)


def test_a_change_delivered_again_has_no_second_effect(shop: Shop, copier: Copier) -> None:
    first = record(shop, 1, None, order(1))
    copier.copy_changes([first])
    copier.copy_changes([record(shop, 2, order(1), order(2))])
    shop.new.update(Order.key(season_id="s1", order_id="o1"), cents=200)
    copier.copy_changes([first])
    assert shop.new.get(Order.key(season_id="s1", order_id="o1")).cents == 200


def test_a_scanned_item_never_overwrites_a_newer_change(shop: Shop, copier: Copier) -> None:
    scanned = OldOrder.__spec__.encode(order(1))
    copier.copy_changes([record(shop, 1, order(1), order(2))])
    copier.copy_scanned("Orders", [scanned])
    assert shop.new.get(Order.key(season_id="s1", order_id="o1")).cents == 200


def test_a_scanned_item_is_not_brought_back_after_its_deletion(shop: Shop, copier: Copier) -> None:
    scanned = OldOrder.__spec__.encode(order(1))
    copier.copy_changes([record(shop, 1, order(1), None)])
    copier.copy_scanned("Orders", [scanned])
    assert shop.new_items() == []


def test_an_item_whose_new_key_changes_leaves_nothing_under_the_old_one(
    shop: Shop, copier: Copier
) -> None:
    copier.copy_changes([record(shop, 1, None, order(1))])
    copier.copy_changes([record(shop, 2, order(1), order(1, "s2"))])
    with pytest.raises(NotFound):
        shop.new.get(Order.key(season_id="s1", order_id="o1"))
    assert shop.new.get(OrderById.key(order_id="o1")).season_id == "s2"


def test_drift_on_the_new_side_is_found_and_repaired(shop: Shop) -> None:
    fill(shop, 30)
    shop.migrator().apply("backfill")
    shop.new.update(Order.key(season_id="s1", order_id="o001"), cents=1)
    shop.backend.call(
        "DeleteItem", {"TableName": "SeasonOrders", "Key": OrderById.key(order_id="o002").wire()}
    )
    shop.new.create(Order(season_id="s1", order_id="stranger", cents=1))
    with pytest.raises(VerifyFailed, match=r"differs|missing|no original"):
        shop.migrator().apply("verify", repair=False)
    shop.migrator().apply("verify")
    assert shop.new_items() == shop.expected_items()


@pytest.mark.parametrize("phase", ["follow", "backfill", "verify"])
def test_an_absence_longer_than_streams_remember_loses_nothing(phase: Phase) -> None:
    clock = ManualClock()
    engine = Engine.open(":memory:", clock=clock)
    client = EmbeddedClient(engine)
    old, new = before.open(client), after.open(client, create_tables=False)
    migration = Migration("away", [add(new_table.schema), order_move(), remove(old_table.schema)])
    shop = Shop(engine, Backend(client, clock=clock), old, new, migration)
    fill(shop, 20)
    shop.migrator().apply(phase)
    clock.advance(60)
    shop.old_order("o001", 77)
    shop.old_order("fresh", 5)
    shop.old.delete(OldOrder.key(order_id="o002"))
    clock.advance(25 * 3600)
    engine.sweep()
    shop.old_order("o003", 78)
    expected = shop.expected_items()
    shop.migrator().apply("hold")
    assert shop.new_items() == expected
    shop.new.create(Order(season_id="s1", order_id="late", cents=100))
    clock.advance(25 * 3600)
    engine.sweep()
    shop.migrator().rollback()
    assert shop.old.get(OldOrder.key(order_id="late")).total == 1
    engine.close()


def test_a_backfill_that_was_cut_off_goes_on_where_it_was(shop: Shop) -> None:
    fill(shop, 40)
    store = shop.migrator().store
    store.prepare()
    handled: list[str] = []

    def handle(items: list[dict[str, Any]]) -> None:
        handled.extend(item["orderId"]["S"] for item in items)
        if len(handled) == 20:
            raise KeyboardInterrupt

    pace = ScanPace(segments=1, page=5)
    with pytest.raises(KeyboardInterrupt):
        Scan(store, "job", "Orders", pace, silent).run(handle)
    again = Scan(store, "job", "Orders", pace, silent)
    again.run(handle)
    assert again.progress.done == 40
    assert len(set(handled)) == 40
    assert len(handled) == 45


@pytest.mark.parametrize("seed", range(3))
def test_throttling_conflicts_and_lost_answers_change_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "shop.db"
    calm = EmbeddedClient(Engine.open(path, durability="relaxed"))
    faults = Faults(seed=seed, throttle=0.1, conflict=0.1, unprocessed=0.2, lose_answer=0.05)
    troubled = Engine.open(path, durability="relaxed", faults=faults)
    old, new = before.open(calm), after.open(calm, create_tables=False)
    migration = Migration(
        "troubled", [add(new_table.schema), order_move(), remove(old_table.schema)]
    )
    backend = Backend(EmbeddedClient(troubled))
    shop = Shop(troubled, backend, old, new, migration)
    fill(shop)
    for number, phase in enumerate(PHASES[1:5]):
        shop.migrator().apply(phase)
        shop.old_order(f"new-{number}", 5)
        shop.old_order(f"o{number:03d}", 1000 + number)
        shop.old.delete(OldOrder.key(order_id=f"o{number + 20:03d}"))
    expected = shop.expected_items()
    shop.migrator().apply("hold")
    found = sorted(calm.call("Scan", {"TableName": "SeasonOrders"})["Items"], key=repr)
    assert found == expected
    troubled.close()
    calm.close()


def test_a_design_of_before_does_not_make_a_dropped_table_again(shop: Shop) -> None:
    fill(shop, 3)
    shop.migrator().apply("contract")
    with pytest.raises(TableNotFound, match="orders-by-season dropped the table Orders"):
        before.open(shop.backend.client)
    assert shop.backend.describe("Orders") is None
    asked = before.open(shop.backend.client, create_tables=True)
    assert list(asked.scan(OldOrder)) == []


def test_a_table_that_a_later_migration_makes_again_is_not_refused(shop: Shop) -> None:
    shop.migrator().apply("contract")
    again = Migration("again", [add(old_table.schema)])
    runner.Migrator(again, shop.backend, without_routers=True).apply("contract")
    before.open(shop.backend.client)


class Split:
    """A client whose streams have an ended, empty shard before each of the backend's."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if request.get("ShardId") == "before":
            return {"ShardIterator": "end of it"}
        if request.get("ShardIterator") == "end of it":
            return {"Records": []}
        answer = self.client.call(operation, request)
        if operation == "DescribeStream":
            described = answer["StreamDescription"]
            after = [{**one, "ParentShardId": "before"} for one in described["Shards"]]
            return {"StreamDescription": {**described, "Shards": [{"ShardId": "before"}, *after]}}
        return answer

    def close(self) -> None:
        """Leaves the client open."""


def test_copying_catches_up_with_the_shards_that_follow_an_ended_one(shop: Shop) -> None:
    shop.migrator().apply("follow")
    shop.old_order("late")
    shop.backend = Backend(Split(shop.backend.client))
    shop.migrator().items.copier("new").catch_up()
    assert shop.new_items() == shop.expected_items()


def test_every_phase_says_what_it_does_how_long_and_whether_it_can_be_undone(shop: Shop) -> None:
    said: list[str] = []
    for number in range(3):
        shop.old_order(f"o{number}")
    shop.migrator(say=said.append).apply("backfill")
    shop.migrator(say=said.append, pace=ScanPace(items_per_second=2)).apply("contract")
    told = [one.removeprefix("orders-by-season: ") for one in said]
    found = {phase: told[told.index(phase) + 1] for phase in PHASES[1:]}
    undone = {phase: "rollback" in words for phase, words in found.items()}
    assert undone == {phase: phase != "contract" for phase in PHASES[1:]}
    assert "there is no way back" in found["contract"]
    assert "(about 3 items, 0.0 s at 1,000 a second)" in found["backfill"]
    assert "(about 3 items, 1.5 s at 2 a second)" in found["verify"]
    assert "(seconds)" in found["switch-writes"]
