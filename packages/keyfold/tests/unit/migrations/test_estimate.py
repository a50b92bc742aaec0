"""What a migration is expected to take, held against what it took."""

from __future__ import annotations

import pytest

from keyfold.errors import MigrationError
from keyfold.migrations import Migration, Migrator, Progress, Stream, add, transform_attribute
from keyfold.migrations.estimate import JobEstimate, compared, estimate, words_of

from .conftest import Shop


def test_a_move_takes_the_units_that_were_expected(shop: Shop) -> None:
    for number in range(300):
        shop.old_order(f"o{number:03d}", number, f"season-{number % 7}")
    backfill, verify = estimate(shop.migration, shop.backend)
    assert (backfill.phase, backfill.items, backfill.written) == ("backfill", 300, 600)
    assert (verify.phase, verify.items, verify.write_units) == ("verify", 300, 0)
    migrator = shop.migrator()
    migrator.apply("verify")
    assert migrator.work["backfill Orders"].write_units == backfill.write_units
    assert next(compared([backfill], migrator.work)).startswith(
        "backfill Orders: 300 items (expected 300), 1,800 write units (expected 1,800), "
    )


def test_what_the_stream_brings_is_among_the_units_of_the_backfill(shop: Shop) -> None:
    add(Stream(), "Orders").apply(shop.backend)
    for number in range(50):
        shop.old_order(f"o{number:03d}", number, "s")
    (backfill, _), reported = estimate(shop.migration, shop.backend), list[Progress]()
    migrator = shop.migrator(report=reported.append)
    migrator.apply("follow")  # all that the stream has
    assert len(shop.new_items()) == 100
    migrator.apply("verify")
    done = migrator.work["backfill Orders"]
    assert done.write_units == done.followed_units == backfill.write_units == 300
    assert next(compared([backfill], migrator.work)).startswith(
        "backfill Orders: 50 items (expected 50), 300 write units (expected 300), "
        "all for changes that the stream brought, "
    )
    assert reported[0].as_data()["followed_units"] == 300


def test_a_run_that_goes_on_counts_what_was_used_before_it_was_killed(shop: Shop) -> None:
    for number in range(50):
        shop.old_order(f"o{number:03d}", number, "s")
    (backfill, _) = estimate(shop.migration, shop.backend)
    shop.migrator().apply("backfill")
    store = shop.migrator().store
    store.change(store.load(), phase="follow")
    again = shop.migrator()
    again.apply("backfill")
    assert again.work["backfill Orders"].write_units == backfill.write_units


def test_a_rewrite_in_place_takes_the_units_that_were_expected(shop: Shop) -> None:
    for number in range(50):
        shop.old_order(f"o{number:03d}", number, "s")
    migration = Migration("louder", [transform_attribute("Orders", "seasonId", str.upper)])
    backfill, _ = estimate(migration, shop.backend)
    migrator = Migrator(migration, shop.backend, without_routers=True)
    migrator.apply("verify")
    assert backfill.write_units > 0
    assert migrator.work["backfill Orders"].write_units == backfill.write_units


def test_an_estimate_writes_nothing_and_makes_no_table(shop: Shop) -> None:
    shop.old_order("o1")
    before = shop.backend.call("Scan", {"TableName": "Orders"})["Items"]
    assert len(estimate(shop.migration, shop.backend)) == 2
    assert shop.backend.call("ListTables", {})["TableNames"] == ["Orders"]
    assert shop.backend.call("Scan", {"TableName": "Orders"})["Items"] == before


def test_items_that_cannot_be_copied_do_not_stop_an_estimate(shop: Shop) -> None:
    shop.old_order("good", 1)
    shop.old_order("bad", -1)
    backfill, _ = estimate(shop.migration, shop.backend)
    assert (backfill.items, backfill.written) == (2, 2)
    with pytest.raises(MigrationError, match="a total of -1"):
        shop.migrator().apply("verify")


def test_a_hundred_million_items_are_estimated_on_paper() -> None:
    work = JobEstimate("backfill", "Orders", 10**8, 10**11, 10**8, 2 * 10**6, 2.5e7, 4e8)
    *_, last = words_of([work], rate=2_000)
    assert last == (
        "in all: about 2,000,000 requests, 25,000,000 read units, 400,000,000 write units, "
        "$253.12 on demand, 13.9 h at 2,000 items a second"
    )
