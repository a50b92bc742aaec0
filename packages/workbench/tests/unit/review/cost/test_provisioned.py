"""What a month costs provisioned, worked out by hand from the price list."""

from __future__ import annotations

import pytest
from tests.samples.shop import design

from keyfold_workbench.cost import bill, bill_json, loads
from keyfold_workbench.cost.bill import PathLine

WORKLOAD = """
design: shop
region: us-east-1
entities:
  Order: {items: 1000, bytes: 2000}
patterns:
  order: {rate: 10, peak: 30}
  orders_of: {rate: 10, peak: 20, page: 10}
writes:
  create Order: {rate: 1, peak: 7}
"""
# Dollars for a unit of capacity for an hour, in us-east-1.
READ, WRITE = 0.00013, 0.00065
HOURS = 730
GB = 2**30
STORED = 1000 * (2000 + 100) / GB * 0.25
RECOVERABLE = 1000 * (2000 + 100) / GB * 0.20


def _lines() -> dict[str | None, PathLine]:
    made = bill(design.schema, loads(WORKLOAD, design.schema))
    return {line.path.index: line for line in made.paths}


def test_a_table_is_provisioned_for_the_peak_of_its_reads_and_writes() -> None:
    # A get reads 2,000 bytes at once: one unit. A put writes two blocks of 1 KB: two units.
    assert _lines()[None].provisioned == pytest.approx((30 * 1 * READ + 7 * 2 * WRITE) * HOURS)
    assert _lines()[None].provisioned == pytest.approx(9.49)


def test_an_index_is_provisioned_apart_from_its_table() -> None:
    # A page of ten reads 20,000 bytes eventually: two and a half units.
    line = _lines()["ByUser"]
    assert line.provisioned == pytest.approx((20 * 2.5 * READ + 7 * 2 * WRITE) * HOURS)
    assert line.provisioned == pytest.approx(11.388)


def test_capacity_that_scales_follows_the_average_with_room() -> None:
    # Seventy per cent of what is provisioned is used, and capacity comes in whole units.
    assert _lines()[None].scaled == pytest.approx((15 * READ + 3 * WRITE) * HOURS)
    assert _lines()["ByUser"].scaled == pytest.approx((36 * READ + 3 * WRITE) * HOURS)


def test_the_bill_has_both_with_what_is_stored() -> None:
    made = bill(design.schema, loads(WORKLOAD, design.schema))
    # Items lie in the table and in the index; only the table can be recovered.
    stored = 2 * STORED + RECOVERABLE
    assert made.provisioned_dollars == pytest.approx(9.49 + 11.388 + stored)
    scaled = ((15 + 36) * READ + (3 + 3) * WRITE) * HOURS
    assert made.scaled_dollars == pytest.approx(scaled + stored)
    dollars = bill_json.as_json(made)["dollars"]
    assert dollars["provisioned"] == pytest.approx(made.provisioned_dollars)
    assert dollars["provisioned_scaled"] == pytest.approx(made.scaled_dollars)


def test_a_table_that_nobody_uses_keeps_one_unit_of_each() -> None:
    idle = WORKLOAD.replace("{rate: 10, peak: 20, page: 10}", "{rate: 0}")
    idle = idle.replace("{rate: 1, peak: 7}", "{rate: 0}")
    made = bill(design.schema, loads(idle, design.schema))
    [index] = [line for line in made.paths if line.path.index == "ByUser"]
    assert index.provisioned == index.scaled == pytest.approx((READ + WRITE) * HOURS)


def test_prices_of_the_workload_count() -> None:
    dearer = WORKLOAD + "prices: {read_hour: 0.001, write_hour: 0.01}\n"
    made = bill(design.schema, loads(dearer, design.schema))
    [line] = [line for line in made.paths if line.path.index is None]
    assert line.provisioned == pytest.approx((30 * 0.001 + 14 * 0.01) * 730)
