"""Workload files: what they say, what they refuse, how they are drafted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.samples.shop import Order, design, orders_of

from keyfold.cli import main
from keyfold.errors import KeyfoldError
from keyfold_workbench.cost import bill, draft, load, loads, report
from keyfold_workbench.cost.text import text

SCHEMA = design.schema
GOOD = """
design: shop
entities:
  Order: {items: 1000, bytes: 2000, distinct: {user_id: 100}}
patterns:
  order: {rate: 10, peak: 30}
  orders_of: {rate: 600/minute, page: 10}
writes:
  create Order: {rate: 3600/hour}
  update Order (notes): {rate: 2}
"""


def test_a_bill_follows_from_rates_sizes_and_prices() -> None:
    made = bill(SCHEMA, loads(GOOD, SCHEMA))
    reads = {line.pattern.name: line for line in made.patterns}
    assert reads["order"].read.total == 1
    assert reads["orders_of"].read.total == 2.5  # ten items of 2,000 bytes: five blocks, eventual
    assert reads["orders_of"].rate.average == 10
    writes = {line.write.name: line for line in made.writes}
    assert writes["create Order"].write.units == 4  # the item and its index entry
    assert writes["create Order"].rate.average == 1
    month = 730 * 3600
    assert made.reads_dollars == pytest.approx((10 * 1 + 10 * 2.5) * month * 0.125 / 1e6)
    assert made.writes_dollars == pytest.approx((4 * 1 + 4 * 2) * month * 0.625 / 1e6)
    stored = 1000 * (2000 + 100) * 2
    assert made.storage_dollars == pytest.approx(stored / 2**30 * 0.25)


def test_an_index_shows_what_it_costs_and_serves() -> None:
    made = bill(SCHEMA, loads(GOOD, SCHEMA))
    index = next(line for line in made.paths if line.path.index == "ByUser")
    assert index.serves == ("orders_of",)
    assert index.written.average == 2 * 1 + 2 * 2
    assert made.index_share == 0.5


def test_a_hot_key_is_held_against_its_partition() -> None:
    hot = GOOD.replace("distinct: {user_id: 100}", "hottest: {user_id: 0.9}")
    hot = hot.replace("create Order: {rate: 3600/hour}", "create Order: {rate: 900, peak: 1500}")
    made = bill(SCHEMA, loads(hot, SCHEMA))
    hottest = made.hot[0]
    assert (hottest.path.index, hottest.kind) == ("ByUser", "write")
    assert hottest.units == pytest.approx((1500 * 2 + 6 * 2) * 0.9)
    assert hottest.shards == 3


def test_what_is_not_stated_is_assumed_and_listed() -> None:
    made = bill(SCHEMA, loads("patterns:\n  order: {rate: 1}\n", SCHEMA))
    told = " ".join(made.assumptions)
    assert "Order has 10,000 items" in told
    assert "orders_of is called 1 time a second" in told
    assert "Order has 10,000 items" in text(report.document(made))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("patterns:\n  ordr: {rate: 1}", "w.yaml:2:3: the design has no access pattern 'ordr'"),
        ("patterns:\n  order: {rate: -1}", "w.yaml:2:17: a rate cannot be less than 0"),
        ("patterns:\n  order: {rat: 1}", "has no 'rat'; did you mean 'rate'?"),
        ("patterns:\n  order: {rate: fast}", "'fast' is not a rate; write 20"),
        ("patterns:\n  order: {rate: 3/hous}", "'hou' is not a unit of time; did you mean 'hour'?"),
        ("patterns:\n  order: {rate: 5, peak: 2}", "the peak of 2 a second is less than"),
        ("entities:\n  Orders: {items: 1}", "no entity 'Orders'; did you mean 'Order'?"),
        ("entities:\n  Order: {bytes: 0}", "expected a whole number of bytes"),
        ("entities:\n  Order: {items: many}", "expected a number, found 'many'"),
        ("entities:\n  Order: {distinct: {userid: 3}}", "did you mean 'user_id'?"),
        ("entities:\n  Order: {hottest: {user_id: 2}}", "a share is between 0 and 1"),
        ("writes:\n  creat Order: {rate: 1}", "'creat Order' is neither an operation"),
        ("writes:\n  create Ordr: {rate: 1}", "unknown entity 'Ordr'; did you mean 'Order'?"),
        ("writes:\n  update Order (note): {rate: 1}", "no field 'note'; did you mean 'notes'?"),
        ("region: mars-1", "the prices of 'mars-1' are unknown"),
        ("prices: {writes: 1}", "did you mean 'write'?"),
        ("", "the workload file is empty; `keyfold workload` drafts one"),
        ("# nothing yet\n", "the workload file is empty"),
        (
            "- a",
            "w.yaml:1:1: expected what is known of a workload, such as design: ..., found a list",
        ),
        ("patterns:\n  order: 5", "w.yaml:2:10: expected what is known of the access pattern"),
        ("patterns: [order]", "expected access patterns with their rates, found a list"),
        ("patterns:\n  order: {rate: nan}", "'nan' is not a rate"),
        ("patterns:\n  order: {rate: 1..2/hour}", "'1..2/hour' is not a rate"),
        ("patterns:\n  order: {rate: }", "expected a rate such as 20"),
        ("patterns:\n  order: {rate: 1, rate: 2}", "w.yaml:2:20: 'rate' appears twice"),
        ("patterns:\n  order: {rate: 1}\n  order: {rate: 2}", "w.yaml:3:3: 'order' appears twice"),
        (
            "patterns:\n  order: {needs: [note]}",
            "order reads no field 'note'; did you mean 'notes'",
        ),
        ("entities:\n  Order: {bytes: }", "expected a number, found nothing"),
        ("entities:\n  Order: {bytes: 1.5}", "expected a whole number of bytes"),
        ("entities:\n  Order: {bytes: .inf}", "expected a number, found '.inf'"),
        ("entities:\n  Order: {items: true}", "expected a number, found 'true'"),
        (
            "entities:\n  Order: {share: {ByUsr: 1}}",
            "one of the indexes; did you mean 'ByUser'?",
        ),
        ("entity:\n  Order: {items: 1}", "a workload has no 'entity'; did you mean 'entities'?"),
        ("writes:\n  create Order: {once: maybe}", "expected true or false, found 'maybe'"),
        ("consumers:\n  ring: {events: 1}", "the design has no consumer 'ring'"),
        ("consumers:\n  ring*: {events: 1}", "the design has no consumer 'ring*'"),
        ("feeds:\n  home: {rate: 1}", "the design has no feed 'home'"),
        ("recovery: 7", "expected true or false, found '7'"),
        ("backups: -1", "expected a number of 0 or more, found -1"),
        ("design: other", "this workload is of the design 'other', not of 'shop'"),
        ("\tx: 1", "w.yaml:1:1: this is not YAML"),
        ("patterns:\n  order: {rate: 1\nwrites: {}", "w.yaml:3:7: this is not YAML"),
        ("patterns: [", "this is not YAML"),
    ],
)
def test_a_wrong_word_is_refused_with_its_place_and_the_nearest_right_one(
    wrong: str, words: str
) -> None:
    with pytest.raises(KeyfoldError) as caught:
        loads(wrong, SCHEMA, file="w.yaml")
    assert words in str(caught.value)
    assert str(caught.value).startswith("w.yaml:")


def test_prices_of_its_own_are_used() -> None:
    made = bill(
        SCHEMA, loads(GOOD + "prices: {read: 1, write: 0, storage: 0, recovery: 0}\n", SCHEMA)
    )
    assert made.dollars == made.reads_dollars == pytest.approx(35 * 730 * 3600 / 1e6)


def test_a_drafted_file_is_read_again_and_names_everything() -> None:
    read = loads(draft.draft(SCHEMA), SCHEMA)
    assert set(read.patterns) == set(SCHEMA.by_pattern)
    assert {write.name for write in read.writes} == {
        "create Order",
        "update Order",
        "delete Order",
    }
    assert bill(SCHEMA, read).dollars > 0


@pytest.mark.parametrize("system", ["inviter", "search_room", "tamafriends", "gg_core", "sellers"])
def test_the_systems_state_every_number(system: str) -> None:
    from keyfold.design.target import load_schema

    module = "current" if system == "sellers" else "design"
    schema = load_schema(f"keyfold_systems.{system}.{module}:design")
    folder = Path(__file__).parents[4] / "systems" / "src" / "keyfold_systems" / system
    made = bill(schema, load(folder / "workload.yaml", schema))
    told = [sentence for sentence in made.assumptions if "called" in sentence]
    assert told == []


def test_a_unit_of_work_counts_calls_by_pattern_and_by_what_is_written() -> None:
    with design.open(":memory:") as db, db.work("request") as work:
        db.create(Order(order_id="1", user_id="u"))
        db.update(Order.key(order_id="1"), notes="x")
        orders_of(db, "u")
        orders_of(db, "u")
    calls = {name: usage.calls for name, usage in work.usage.items()}
    assert calls == {"create Order": 1, "update Order": 1, "orders_of": 2}


def test_a_draft_is_written_once(tmp_path: Path, capsys: Any) -> None:
    target = tmp_path / "workload.yaml"
    asked = ["workload", "keyfold_systems.inviter.design:design", "-o", str(target)]
    assert main(asked) == 0
    assert "group_feed: {rate: 1, page: 25}" in target.read_text()
    assert main(asked) == 2
    assert "already exists" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_the_report_has_three_formats(format: str, tmp_path: Path) -> None:
    out = tmp_path / "report"
    asked = ["cost", "keyfold_systems.inviter.design:design", "--format", format, "-o", str(out)]
    assert main(asked) == 0
    written = out.read_text(encoding="utf-8")
    assert "user_upcoming" in written


def test_a_workload_without_writes_is_taken_to_write_a_little() -> None:
    made = bill(SCHEMA, loads("patterns:\n  order: {rate: 1}\n", SCHEMA))
    assert {line.write.name for line in made.writes} == {"create Order", "update Order"}
    assert any("every write is called 0.1 times" in sentence for sentence in made.assumptions)
