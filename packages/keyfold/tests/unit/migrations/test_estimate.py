"""What a migration is expected to take, held against what it took."""

from __future__ import annotations

from math import inf

import pytest

from keyfold.migrations import Backend, Migration, Migrator, ScanPace, transform_attribute
from keyfold.migrations.estimate import PhaseEstimate, estimate
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold_engine.operations import READS, WRITES

from .conftest import Shop


def taken(shop: Shop, migration: Migration) -> dict[str, tuple[float, float]]:
    """Read and write units by phase, of a run beside which nobody writes."""
    client = RecordedClient(shop.backend.client, ReadLimits(1 << 60, inf, inf), writes=True)
    pace = ScanPace(segments=1)
    migrator = Migrator(migration, Backend(client), pace=pace, without_routers=True)
    found = {}
    for phase in ("backfill", "verify"):
        client.requests.clear()
        migrator.apply(phase)
        notes = "keyfold_migrations"
        of_items = [one for one in client.requests if one.request.get("TableName") != notes]
        found[phase] = (
            sum(one.units for one in of_items if one.operation in READS),
            sum(one.units for one in of_items if one.operation in WRITES),
        )
    return found


def test_a_move_takes_the_units_that_were_expected(shop: Shop) -> None:
    for number in range(300):
        shop.old_order(f"o{number:03d}", number, f"season-{number % 7}")
    backfill, verify = estimate(shop.migration, shop.backend)
    assert (backfill.phase, backfill.items, verify.phase) == ("backfill", 300, "verify")
    assert verify.write_units == 0
    assert taken(shop, shop.migration) == {
        one.phase: (one.read_units, one.write_units) for one in (backfill, verify)
    }


def test_a_rewrite_in_place_takes_the_units_that_were_expected(shop: Shop) -> None:
    for number in range(50):
        shop.old_order(f"o{number:03d}", number, "s")
    migration = Migration("louder", [transform_attribute("Orders", "seasonId", str.upper)])
    backfill, _ = estimate(migration, shop.backend)
    assert backfill.write_units == taken(shop, migration)["backfill"][1] > 0


def test_a_page_stands_for_the_whole_table(shop: Shop) -> None:
    for number in range(600):
        shop.old_order(f"o{number:03d}", 7, "s")
    backfill, _ = estimate(shop.migration, shop.backend)
    assert backfill.items == 600
    assert backfill.write_units == pytest.approx(taken(shop, shop.migration)["backfill"][1])


def test_an_estimate_writes_nothing_and_makes_no_table(shop: Shop) -> None:
    shop.old_order("o1")
    before = shop.backend.call("Scan", {"TableName": "Orders"})["Items"]
    assert len(list(estimate(shop.migration, shop.backend))) == 2
    assert shop.backend.call("ListTables", {})["TableNames"] == ["Orders"]
    assert shop.backend.call("Scan", {"TableName": "Orders"})["Items"] == before


def test_items_that_cannot_be_copied_are_named(shop: Shop) -> None:
    shop.old_order("good", 1)
    shop.old_order("bad", -1)
    backfill, verify = estimate(shop.migration, shop.backend)
    assert (backfill.items, backfill.problem) == (2, "")
    assert "a total of -1" in verify.problem
    assert verify.problem in verify.words()


def test_what_changes_only_tables_takes_nothing(shop: Shop) -> None:
    assert list(estimate(Migration("nothing", []), shop.backend)) == []


def test_a_hundred_million_items_are_estimated_on_paper() -> None:
    work = PhaseEstimate("backfill", 10**8, 2 * 10**6, 2.5e7, 4e8)
    assert work.words(rate=2_000) == (
        "backfill: 100,000,000 items, about 2,000,000 requests, 25,000,000 read units, "
        "400,000,000 write units, $253.12 on demand, 13.9 h at 2,000 items a second"
    )
