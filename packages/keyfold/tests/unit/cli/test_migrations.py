"""The commands of migrations, from a change of a design to its end."""

from __future__ import annotations

import importlib
import json
import socket
import sys
from pathlib import Path

import pytest

from keyfold.cli import _progress, main, migrations

DESIGN = """
from keyfold import Design, Entity, Key

design = Design("shop")
table = design.table({table})


class Order(Entity, table=table):
    order_id: str
    season_id: str
    key = Key({key})
"""
BEFORE = DESIGN.format(table='"Orders", partition="orderId", sort=None', key='"{order_id}"')
AFTER = DESIGN.format(table='"SeasonOrders"', key='"SEASON#{season_id}", "ORDER#{order_id}"')
ON_SHOP = ("--backend", "shop.db")


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A shop of 30 orders, whose design has changed, with a plan that nobody named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "migrated_shop"
    module = tmp_path / f"{name}.py"
    module.write_text(BEFORE)
    before = importlib.import_module(name)
    with before.design.open("shop.db") as db:
        for number in range(30):
            db.create(before.Order(order_id=f"o{number}", season_id="s"))
    assert main(["migrations", "snapshot", "--design", f"{name}:design"]) == 0
    monkeypatch.delitem(sys.modules, name)
    module.write_text(AFTER + "\n# another size, so that it is compiled again\n")
    assert main(["migrations", "plan", "--design", f"{name}:design", *ON_SHOP]) == 0
    monkeypatch.delitem(sys.modules, name)
    return "0001_order_moved"


def test_a_plan_is_called_after_its_change_and_says_its_steps(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Path("migrations", f"{planned}.yaml").is_file()
    capsys.readouterr()
    assert main(["migrations", "show", planned]) == 0
    assert "move Order from Orders to SeasonOrders" in capsys.readouterr().out


def test_a_new_key_in_one_table_says_what_other_programs_see_and_asks_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    told = 'begins_with(PK, "ORDER#") AND SK = "ORDER" gives each once; a new table avoids it'
    module = tmp_path / "rekeyed_shop.py"
    for key in ('"ORDER#{order_id}", "ORDER"', '"SEASON#{season_id}", "ORDER#{order_id}"'):
        module.write_text(DESIGN.format(table='"Orders"', key=key))
        monkeypatch.delitem(sys.modules, "rekeyed_shop", raising=False)
        importlib.invalidate_caches()
        shop = importlib.import_module("rekeyed_shop")
        if "ORDER" in key.partition(",")[2]:
            with shop.design.open("shop.db") as db:
                db.put(shop.Order(order_id="o1", season_id="s"))
        action = "plan" if "SEASON" in key else "snapshot"
        backend = ON_SHOP if action == "plan" else ()
        capsys.readouterr()
        assert main(["migrations", action, "--design", "rekeyed_shop:design", *backend]) == 0
    assert told in capsys.readouterr().out
    for asked in (["apply", "--dry-run", *ON_SHOP], ["show", "0001_order_re_keyed"]):
        assert main(["migrations", *asked]) == 0
        assert told in capsys.readouterr().out
    applied = ["migrations", "apply", "--without-routers", *ON_SHOP]
    assert main(applied) == 2
    assert "apply with --allow-duplicates" in capsys.readouterr().err
    assert main([*applied, "--to", "backfill", "--allow-duplicates"]) == 0
    assert main(applied) == 0  # it has begun


def test_a_dry_run_says_what_it_takes_and_changes_nothing(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    size = Path("shop.db").stat().st_size
    assert main(["migrations", "apply", "--dry-run", "--rate", "10", *ON_SHOP]) == 0
    said = capsys.readouterr().out
    assert "backfill: 30 items" in said
    assert "3.0 s at 10 items a second" in said
    assert Path("shop.db").stat().st_size == size
    assert main(["migrations", "status", *ON_SHOP]) == 0
    assert f"{planned}: planned" in capsys.readouterr().out


def test_a_server_that_never_answers_is_named_instead_of_waited_for(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert main(["migrations", "status", "--backend", address]) == 2
    assert f"the backend {address} has not answered for 2 seconds" in capsys.readouterr().err


def test_a_file_is_waited_for_however_busy_the_machine_is(
    planned: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(migrations, "PATIENCE_SECONDS", 0.0)
    assert main(["migrations", "status", *ON_SHOP]) == 0
    assert f"{planned}: planned" in capsys.readouterr().out


def test_all_plans_are_applied_and_their_history_is_kept(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    applied = ["migrations", "apply", "--without-routers", *ON_SHOP]
    assert main(applied) == 0
    capsys.readouterr()
    assert main(["migrations", "status", *ON_SHOP]) == 0
    assert f"{planned}: hold" in capsys.readouterr().out
    assert main([*applied, "--to", "contract"]) == 0
    capsys.readouterr()
    assert main(["migrations", "status", *ON_SHOP]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said if "+00:00" in line] == [
        "expand",
        "follow",
        "backfill",
        "verify",
        "switch-writes",
        "hold",
        "contract",
    ]


def test_a_rollback_is_in_the_history(planned: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrations", "apply", "--to", "verify", *ON_SHOP]) == 0
    assert main(["migrations", "rollback", planned, *ON_SHOP]) == 0
    capsys.readouterr()
    assert main(["migrations", "status", planned, *ON_SHOP]) == 0
    assert capsys.readouterr().out.rstrip().endswith("rolled back")


def test_without_a_terminal_progress_is_lines_of_json(
    planned: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "LINE_SECONDS", 0.0)
    assert main(["migrations", "apply", "--to", "backfill", *ON_SHOP]) == 0
    *_, last = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (last["job"], last["done"], last["expected"]) == ("backfill Orders", 30, 30)
    assert last["lag"] >= 0


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--segments", "0", "segments must be at least 1, not 0"),
        ("--rate", "-5", "the rate must be more than 0 items a second"),
        ("--rate", "nan", "the rate must be more than 0 items a second"),
        ("--settle", "-1", "settle must be at least 0 seconds"),
        ("--settle", "inf", "settle must be at least 0 seconds"),
    ],
)
def test_a_pace_that_cannot_be_is_refused_before_anything_is_made(
    planned: str, capsys: pytest.CaptureFixture[str], flag: str, value: str, words: str
) -> None:
    assert main(["migrations", "apply", "--to", "backfill", flag, value, *ON_SHOP]) == 2
    assert words in capsys.readouterr().err
    assert main(["migrations", "status", planned, *ON_SHOP]) == 0
    assert f"{planned}: planned" in capsys.readouterr().out


def test_a_design_is_named_as_in_every_other_command(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["migrations", "diff", "migrated_shop:design", *ON_SHOP]) == 0
    assert "Since the snapshot: nothing" in capsys.readouterr().out


def test_a_design_in_place_of_a_plans_name_is_refused(
    planned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["migrations", "plan", "migrated_shop:design", *ON_SHOP])
    assert refused.value.code == 2
    assert "name a design with --design" in capsys.readouterr().err
    assert sorted(path.name for path in Path("migrations").glob("*.yaml")) == [f"{planned}.yaml"]
