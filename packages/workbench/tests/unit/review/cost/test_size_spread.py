"""Item sizes as distributions: units are those of each size, not of the mean."""

from __future__ import annotations

import random
from statistics import fmean
from textwrap import dedent

import pytest

from keyfold import Design, Entity, Id, Key
from keyfold.errors import KeyfoldError
from keyfold_engine.values.units import write_units
from keyfold_workbench.cost import bill
from keyfold_workbench.cost.size_spread import SizeSpread
from keyfold_workbench.cost.workload import Workload
from keyfold_workbench.cost.workload_file import loads
from keyfold_workbench.simulate.load.design_load import design_load
from keyfold_workbench.simulate.load.users import scale_users

design = Design("notes")
table = design.table("notes")


class Note(Entity, table=table):
    note_id: Id
    text: str
    key = Key("NOTE#{note_id}", "NOTE")


MIXED = "sizes: {p0: 200, p50: 400, p90: 3000, p100: 40000}"


def _workload(size: str) -> Workload:
    stated = f"""
    users: 1000
    entities:
      Note: {{items: 1000, {size}}}
    writes:
      create Note: {{rate: 1}}
    """
    return loads(dedent(stated), design.schema)


def _written(size: str) -> float:
    [write] = bill(design.schema, _workload(size)).writes
    return sum(part.units for part in write.write.parts if part.entity == "Note")


def test_a_write_costs_the_mean_of_the_units_of_each_size() -> None:
    dice = random.Random(1)
    sizes = sorted(round(dice.lognormvariate(6.2, 1.0)) + 1 for _ in range(20_000))
    asked = ", ".join(f"p{at}: {sizes[200 * at]}" for at in (10, 25, 50, 75, 90, 95, 99))
    paid = fmean(write_units(size) for size in sizes)
    by_mean = write_units(round(fmean(sizes)))
    assert _written(f"sizes: {{{asked}}}") == pytest.approx(paid, rel=0.05)
    assert abs(_written(f"sizes: {{{asked}}}") - paid) < abs(by_mean - paid)


def test_items_of_one_size_cost_what_they_did() -> None:
    assert _written("sizes: {p50: 1500}") == _written("bytes: 1500") == 2


def test_the_mean_follows_from_the_quantiles() -> None:
    assert SizeSpread(((0.5, 700),)).mean == 700
    assert _workload(MIXED).entities["Note"].bytes == pytest.approx(1900, rel=0.2)


def test_sizes_reach_the_simulation_and_stay_with_more_users() -> None:
    grown = scale_users(design.schema, _workload(MIXED), 1e6)
    lines = [line for line in design_load(design.schema, grown).model.lines if line.kind == "write"]
    assert grown.entities["Note"].sizes == _workload(MIXED).entities["Note"].sizes
    assert lines[0].units == _written(MIXED) > write_units(1900)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("bytes: 100, sizes: {p50: 100}", "both bytes and sizes"),
        ("sizes: {median: 100}", "'median' is not a quantile; write p50"),
        ("sizes: {p101: 100}", "'p101' is not a quantile"),
        ("sizes: {p50: 100, p90: 50}", "higher quantile has fewer bytes"),
        ("sizes: {p50: 0}", "1 or more"),
        ("sizes: {}", "found none"),
    ],
)
def test_sizes_that_cannot_be_are_refused(wrong: str, says: str) -> None:
    with pytest.raises(KeyfoldError, match=says):
        _workload(wrong)
