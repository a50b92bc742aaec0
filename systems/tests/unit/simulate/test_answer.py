"""From a design and a workload to what breaks first and what cures it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import keyfold_systems
from keyfold.cli import main
from keyfold.design.schema import Schema
from keyfold.design.target import load_schema
from keyfold.errors import KeyfoldError
from keyfold_workbench.cost import Workload, bill, load, loads
from keyfold_workbench.simulate.answer.prediction import Prediction, predict
from keyfold_workbench.simulate.load.design_load import Setup, design_load
from keyfold_workbench.simulate.load.schedule import DAY, Day
from keyfold_workbench.simulate.load.users import scale_users
from keyfold_workbench.simulate.traffic import Provisioned

SYSTEMS = Path(keyfold_systems.__file__).parent
DAYS = 2.0


def _loaded(name: str, users: float, design: str = "design") -> tuple[Schema, Workload]:
    schema = load_schema(f"keyfold_systems.{name}.{design}:design")
    return schema, scale_users(schema, load(SYSTEMS / name / "workload.yaml", schema), users)


def _network(users: float) -> tuple[Schema, Workload]:
    """A social network without its wall, which reads more than everything else together."""
    schema, workload = _loaded("tamafriends", users)
    wall = ("profiles", "posts_of_users", "following")
    quiet = {name: replace(workload.patterns[name], rate=0.0) for name in wall}
    return schema, replace(workload, patterns={**workload.patterns, **quiet})


@pytest.fixture(scope="module")
def network() -> Prediction:
    return predict(design_load(*_network(1e8)), DAYS)


def test_a_celebritys_post_is_what_breaks_first(network: Prediction) -> None:
    first = network.outcome.first
    assert first is not None
    assert first.key == "POST#{post_id} (no. 1)"
    assert first.reason == "key range"
    assert DAY < first.at < 2 * DAY
    assert network.outcome.calls["create Like"].lost > 0
    assert network.outcome.calls["profile"].lost_share < 0.001


def test_a_hundred_million_users_take_little_more_steps_than_ten_thousand() -> None:
    small = predict(design_load(*_loaded("inviter", 1e4)), DAYS)
    large = predict(design_load(*_loaded("inviter", 1e8)), DAYS)
    assert small.outcome.firsts == []
    assert large.outcome.steps < 5 * small.outcome.steps
    assert large.outcome.calls["hangout_detail"].calls == pytest.approx(
        1e4 * small.outcome.calls["hangout_detail"].calls, rel=1e-3
    )


@pytest.mark.parametrize("name", ["inviter", "search_room"])
def test_a_month_costs_what_the_bill_says_where_nothing_is_refused(name: str) -> None:
    schema, workload = _loaded(name, 1e6)
    flat = replace(workload, peak_factor=1.5, bursts=())
    answer = predict(design_load(schema, flat), 7.0)
    asked = bill(schema, flat)
    assert answer.cost.total == pytest.approx(asked.dollars, rel=0.03)


def test_a_new_table_throttles_at_its_launch_and_one_that_has_grown_does_not() -> None:
    schema, workload = _loaded("search_room", 1e7)
    calm = replace(workload, bursts=())
    cold = predict(design_load(schema, calm, Setup(cold=True)), 0.2)
    grown = predict(design_load(schema, calm), 0.2)
    assert cold.outcome.lost_share > 0.01
    assert grown.outcome.lost_share == 0
    assert cold.outcome.stores[cold.load.model.stores[0].store].splits > 0


def test_provisioned_capacity_follows_the_day() -> None:
    schema, workload = _loaded("inviter", 1e7)
    answer = predict(design_load(schema, workload, Setup(provisioned=0.7)), 1.0)
    bought = answer.outcome.stores[answer.load.model.stores[0].store].capacity_write
    peak = answer.load.model.stores[0].mode
    assert isinstance(peak, Provisioned)
    assert 0 < bought < peak.most * DAY
    assert answer.cost.total > 0


def test_growth_adds_partitions() -> None:
    schema, workload = _network(1e6)
    entities = {
        name: replace(each, growth=2 * (each.items or 0.0))
        for name, each in workload.entities.items()
    }
    grown = design_load(schema, replace(workload, entities=entities))
    early, late = predict(grown, 1.0), predict(grown, 20.0)
    assert sum(each.partitions for each in late.outcome.stores.values()) > sum(
        each.partitions for each in early.outcome.stores.values()
    )


def test_a_day_has_a_mean_of_one() -> None:
    hours = [Day().factor(hour * 3600.0) for hour in range(24)]
    assert sum(hours) / 24 == pytest.approx(1.0)
    assert min(hours) / max(hours) == pytest.approx(1 / 3)
    assert max(hours) == Day().factor(20 * 3600.0)


def test_users_scale_items_and_rates_but_no_categories() -> None:
    schema = load_schema("keyfold_systems.sellers.current:design")
    before = load(SYSTEMS / "sellers" / "workload.yaml", schema)
    after = scale_users(schema, before, 1e6)
    assert after.entities["Catalog"].distinct["is_public_str"] == 2
    assert after.entities["Order"].items == 60_000 * 1000
    assert after.patterns["catalog"].rate == 25_000
    with pytest.raises(KeyfoldError, match="users: 50000"):
        scale_users(schema, replace(before, users=None), 1e6)


def test_a_popular_key_gets_a_smaller_share_among_more_keys() -> None:
    _, small = _loaded("tamafriends", 3e4)
    _, large = _loaded("tamafriends", 1e8)
    assert small.entities["Like"].hottest["post_id"] == pytest.approx(0.01)
    assert large.entities["Like"].hottest["post_id"] < 0.005


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("bursts: {sale: {calls: [profile], hour: 24}}", "an hour of the day"),
        ("bursts: {sale: {factor: 3}}", "must name its calls"),
        ("bursts: {sale: {calls: [profil]}}", "neither an operation"),
        ("bursts: {sale: {calls: [profile], focus: 0.5}}", "must name the fields"),
        ("bursts: {s: {calls: [profile], focus: 0.5, on: [post]}}", "no entity has"),
        ("users: 0", "more than 0"),
        ("brusts: {}", "bursts"),
    ],
)
def test_wrong_words_of_a_burst_are_refused(words: str, told: str) -> None:
    schema = load_schema("keyfold_systems.tamafriends.design:design")
    with pytest.raises(KeyfoldError, match=told):
        loads(words, schema)


def _simulate(*words: str) -> list[str]:
    target = "keyfold_systems.inviter.design:design"
    return ["simulate", target, "-w", str(SYSTEMS / "inviter" / "workload.yaml"), *words]


def test_the_command_writes_json_with_its_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--users", "1e6", "--days", "0.5", "--format", "json")
    assert main(_simulate(*asked)) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["design"] == "inviter"
    assert data["assumptions"]["heat_threshold"] == 0.8
    assert data["dollars"]["total"] > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--days", "0"), "--days must be greater than 0"),
        (("--users", "0"), "--users must be between"),
        (("--provisioned", "2"), "--provisioned must be between"),
    ],
)
def test_wrong_arguments_are_refused(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(_simulate(*words)) == 2
    assert told in capsys.readouterr().err
