"""Snapshots, differences in words, and plans that run as they were written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from keyfold import Design, Entity, Index, Key, cli
from keyfold.design.schema import Schema
from keyfold.errors import MigrationError
from keyfold.migrations.plan import draft
from keyfold.migrations.refusals import Dangerous
from keyfold.migrations.snapshot import load
from keyfold_engine.clients import Client, connect

from .answers import answer, decide, write

V1 = """
from keyfold import Design, Entity, Index, Key, On
design = Design("shop")
by_season = Index("by-season", "seasonKey", "orderKey")
table = design.table("Orders", partition="orderId", sort=None, indexes=[by_season])
class Order(Entity, table=table):
    order_id: str
    season_id: str
    note: str = ""
    key = Key("{order_id}")
    by_season = On("by-season", "SEASON#{season_id}", "{order_id}")
"""
COUNTED = """
from typing import Annotated
from keyfold import Counter, Design, Entity, Key
design = Design("shop")
table = design.table("Shop")
class Season(Entity, table=table):
    season_id: str
    orders: Annotated[int, Counter("Order")] = 0
    key = Key("SEASON#{season_id}", "SEASON")
class Order(Entity, table=table):
    order_id: str
    season_id: str
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")
"""
UNCOUNTED = COUNTED.replace('Annotated[int, Counter("Order")]', "int")
V2 = """
from keyfold import Design, Entity, Index, Key, On
design = Design("shop")
table = design.table("SeasonOrders", indexes=[Index("by-order", "orderKey")], ttl="gone")
class Order(Entity, table=table):
    order_id: str
    season_id: str
    note: str = ""
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")
    by_order = On("by-order", "ORDER#{order_id}")
"""


SEASON_1 = {
    "TableName": "Orders",
    "IndexName": "by-season",
    "KeyConditionExpression": "seasonKey = :s",
    "ExpressionAttributeValues": {":s": {"S": "SEASON#s1"}},
}


def mark_as_legacy(client: Client) -> None:
    """An attribute that no declaration knows."""
    client.call(
        "UpdateItem",
        {
            "TableName": "Orders",
            "Key": {"orderId": {"S": "o4"}},
            "UpdateExpression": "SET legacy = :l",
            "ExpressionAttributeValues": {":l": {"S": "kept"}},
        },
    )


def test_a_file_that_is_no_snapshot_is_refused_by_name() -> None:
    with pytest.raises(MigrationError, match=r"x\.json is not a snapshot"):
        load(b"[1]", "x.json")


def shop(declare: Callable[[Design], None]) -> Schema:
    made = Design("shop")
    declare(made)
    return made.schema


def plain(made: Design) -> None:
    made.table("T", partition="a", sort="b", indexes=[Index("idx", "x")])


def test_a_tables_key_cannot_change_and_the_safe_way_is_printed() -> None:
    def other(made: Design) -> None:
        made.table("T", partition="c", sort=None)

    with pytest.raises(Dangerous, match=r"a to c|from a / b to c.*another name"):
        draft("x", shop(plain), shop(other))


def test_an_index_cannot_change_under_its_name() -> None:
    def other(made: Design) -> None:
        made.table("T", partition="a", sort="b", indexes=[Index("idx", "y")])

    with pytest.raises(Dangerous, match="under another name"):
        draft("x", shop(plain), shop(other))


def test_an_attribute_that_keys_are_made_of_cannot_change_its_type_in_place() -> None:
    def day(made: Design) -> None:
        class Thing(Entity, table=made.table("T")):
            id: str
            since: date
            key = Key("{id}", "THING#{since}")

    def text(made: Design) -> None:
        class Thing(Entity, table=made.table("T")):
            id: str
            since: str
            key = Key("{id}", "THING#{since}")

    with pytest.raises(Dangerous, match=r"keys contain it.*another name, fill it with derive"):
        draft("x", shop(day), shop(text))


def test_an_attribute_that_an_index_needs_is_not_dropped() -> None:
    def with_town(made: Design) -> None:
        class Thing(Entity, table=made.table("T", indexes=[Index("idx", "town")])):
            id: str
            town: str
            key = Key("{id}", "THING")

    def without(made: Design) -> None:
        class Thing(Entity, table=made.table("T", indexes=[Index("idx", "town")])):
            id: str
            key = Key("{id}", "THING")

    live = shop(with_town)
    with pytest.raises(Dangerous, match="would lose all"):
        draft("x", live, shop(without))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "keyfold.toml").write_text('design = "shopdesign:design"\nbackend = "shop.db"\n')
    return tmp_path


def declare(project: Path, text: str) -> None:
    (project / "shopdesign.py").write_text(text)
    sys.modules.pop("shopdesign", None)


def shop_module() -> Any:
    import importlib

    importlib.invalidate_caches()
    return importlib.import_module("shopdesign")


def test_commands_that_only_look_make_no_data_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, V1)
    assert cli.main(["migrations", "diff"]) == 0
    assert "Orders" in capsys.readouterr().out
    assert cli.main(["migrations", "plan", "first"]) == 0
    assert cli.main(["migrations", "status", "0001_first"]) == 0
    assert cli.main(["migrations", "rollback", "0001_first"]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert not (project / "shop.db").exists()


def test_a_whole_change_by_commands_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, V1)
    module = shop_module()
    with module.design.open("shop.db") as db:
        order = module.Order
        for number in range(30):
            db.create(order(order_id=f"o{number}", season_id=f"s{number % 3}", note="n"))
        mark_as_legacy(db.client)
    assert cli.main(["migrations", "snapshot"]) == 0
    assert cli.main(["migrations", "check"]) == 0

    declare(project, V2)
    assert cli.main(["migrations", "check"]) == 1
    assert cli.main(["migrations", "diff"]) == 0
    assert "Order moves from Orders to SeasonOrders" in capsys.readouterr().out
    assert cli.main(["migrations", "plan", "by-season"]) == 0
    plan = (project / "migrations" / "0001_by_season.yaml").read_text()
    assert "create table: SeasonOrders" in plan
    assert "move: Order" in plan
    assert cli.main(["migrations", "plan", "again"]) == 2

    assert cli.main(["migrations", "apply", "0001_by_season", "--without-routers"]) == 0
    capsys.readouterr()
    assert cli.main(["migrations", "rollback", "0001_by_season", "--to", "verify"]) == 0
    assert "back at verify\nBoth sides are written. Deploy" in capsys.readouterr().out
    assert cli.main(["migrations", "rollback", "0001_by_season"]) == 0
    client = connect("shop.db")
    found = client.call("Query", SEASON_1)["Items"]
    assert {item["orderId"]["S"] for item in found} == {f"o{n}" for n in range(1, 30, 3)}
    client.close()
    assert (
        cli.main(["migrations", "apply", "0001_by_season", "--to", "contract", "--without-routers"])
        == 0
    )
    capsys.readouterr()
    assert cli.main(["migrations", "status", "0001_by_season"]) == 0
    assert "0001_by_season: contract" in capsys.readouterr().out
    assert cli.main(["migrations", "check"]) == 0

    module = shop_module()
    with module.design.open("shop.db") as db:
        order = module.Order
        found = list(db.read(order.key.query(season_id="s1")))
        assert {o.order_id for o in found} == {f"o{n}" for n in range(1, 30, 3)}
        assert db.read(order.by_order.query(order_id="o4")).items[0].note == "n"
        key = order.key(season_id="s1", order_id="o4").wire()
        item = db.client.call("GetItem", {"TableName": "SeasonOrders", "Key": key})["Item"]
        assert item["legacy"] == {"S": "kept"}
        assert "seasonKey" not in item


def test_a_new_counter_is_counted_for_what_was_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, UNCOUNTED)
    module = shop_module()
    with module.design.open("shop.db") as db:
        db.create(module.Season(season_id="s"))
        for number in range(5):
            db.create(module.Order(order_id=str(number), season_id="s"))
    cli.main(["migrations", "snapshot"])
    declare(project, COUNTED)
    cli.main(["migrations", "plan", "count-orders"])
    assert (
        cli.main(
            ["migrations", "apply", "0001_count_orders", "--to", "contract", "--without-routers"]
        )
        == 0
    )
    module = shop_module()
    with module.design.open("shop.db") as db:
        assert db.get(module.Season.key(season_id="s")).orders == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["apply", "nothing"], "was not found"),
        (["apply", "nomodule:x"], "unknown module 'nomodule'"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert cli.main(["migrations", *arguments]) == 2
    assert message in capsys.readouterr().err


SHARED = """
from keyfold import Design, Entity, Key
design = Design("shop")
table = design.table("Shop")
class Order(Entity, table=table):
    order_id: str
    note: str = ""
    key = Key("ORDER#{order_id}", "ORDER")
class Season(Entity, table=table):
    season_id: str
    note: str
    key = Key("SEASON#{season_id}", "SEASON")
"""


def test_a_plan_drops_an_attribute_of_one_entity_and_not_of_the_whole_table(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    module = shop_module()
    with module.design.open("shop.db") as db:
        db.create(module.Order(order_id="o", note="gone soon"))
        db.create(module.Season(season_id="s", note="kept"))
    cli.main(["migrations", "snapshot"])
    declare(project, SHARED.replace('    note: str = ""\n', ""))
    assert cli.main(["migrations", "plan", "no-notes"]) == 0
    answer(project / "migrations" / "0001_no_notes.yaml", "drop")
    assert (
        cli.main(["migrations", "apply", "0001_no_notes", "--to", "contract", "--without-routers"])
        == 0
    )
    client = connect("shop.db")
    items = client.call("Scan", {"TableName": "Shop"})["Items"]
    client.close()
    assert {item["type"]["S"]: item.get("note") for item in items} == {
        "Order": None,
        "Season": {"S": "kept"},
    }


def test_a_plan_finds_the_design_in_the_working_directory(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(project, V1)
    cli.main(["migrations", "snapshot"])
    declare(project, V2)
    cli.main(["migrations", "plan", "by-season"])
    sys.modules.pop("shopdesign", None)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(project))])
    assert cli.main(["migrations", "status", "0001_by_season"]) == 0


def test_a_plan_that_cannot_be_imported_is_named_with_its_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project / "migrations"
    folder.mkdir()
    for name in ("0001_bad", "0002_worse", "0003_worst"):
        derived = {"derive": "size", "table": "Shop", "value": "size"}
        write(folder / f"{name}.yaml", {"steps": [derived]})
    (folder / "0004_no_yaml.yaml").write_text("steps: [")
    (folder / "0001_bad.py").write_text("x = 1\ny = (")
    (folder / "0002_worse.py").write_text("1 / 0")
    (folder / "0003_worst.py").write_text("raise SystemExit(3)")
    assert cli.main(["migrations", "apply", "0004_no_yaml"]) == 2
    assert "0004_no_yaml.yaml:1:9: this is not YAML" in capsys.readouterr().err
    assert cli.main(["migrations", "apply", "0001_bad"]) == 2
    assert "0001_bad.py:2: '(' was never closed" in capsys.readouterr().err
    assert cli.main(["migrations", "apply", "0002_worse"]) == 2
    assert "0002_worse.py:1: ZeroDivisionError" in capsys.readouterr().err
    assert cli.main(["migrations", "apply", "0003_worst"]) == 2
    assert "ends the program when it is imported (exit code 3)" in capsys.readouterr().err


def test_a_plan_that_names_no_entity_of_the_design_says_which_there_are(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    assert cli.main(["migrations", "plan", "first"]) == 0
    (plan,) = (project / "migrations").glob("*first.yaml")
    plan.write_text("steps:\n- create table: Shop\n- rebuild: Ordr\n")
    capsys.readouterr()
    assert cli.main(["migrations", "apply", plan.stem]) == 2
    told = capsys.readouterr().err
    assert f"{plan.name}:3" in told
    assert "the new design has no entity 'Ordr'; did you mean 'Order'?" in told


def test_a_plan_is_refused_when_its_tables_changed_since(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, V1)
    module = shop_module()
    module.design.open("shop.db").close()
    cli.main(["migrations", "snapshot"])
    declare(project, V2)
    cli.main(["migrations", "plan", "by-season"])
    client = connect("shop.db")
    client.call("DeleteTable", {"TableName": "Orders"})
    client.close()
    assert cli.main(["migrations", "apply", "0001_by_season"]) == 2
    assert "the table Orders does not exist. Make the table" in capsys.readouterr().err


def test_a_plan_is_not_made_from_nothing_for_tables_that_are_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    with shop_module().design.open("shop.db"):
        pass
    assert cli.main(["migrations", "plan", "first"]) == 2
    said = capsys.readouterr().err
    assert "has no snapshot" in said
    assert "has Shop already" in said
    assert not list((project / "migrations").glob("*"))


def test_planning_again_says_how(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declare(project, SHARED)
    assert cli.main(["migrations", "plan", "first"]) == 0
    assert cli.main(["migrations", "plan", "second"]) == 2
    assert "schema.json to its previous version" in capsys.readouterr().err


def test_a_plan_waits_for_what_only_its_reader_can_decide(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    module = shop_module()
    with module.design.open("shop.db") as db:
        db.create(module.Order(order_id="o"))
    cli.main(["migrations", "snapshot"])
    declare(project, SHARED.replace('    note: str = ""\n', '    note: str = ""\n    size: int\n'))
    assert cli.main(["migrations", "plan", "sizes"]) == 0
    assert "decide order_size: what do existing items get as size?" in capsys.readouterr().out
    path = project / "migrations" / "0001_sizes.yaml"
    assert cli.main(["migrations", "apply", "0001_sizes"]) == 2
    said = capsys.readouterr().err
    assert "0001_sizes.py:" in said
    assert "order_size is undecided" in said
    decide(path, "order_size", "7")
    assert (
        cli.main(["migrations", "apply", "0001_sizes", "--to", "contract", "--without-routers"])
        == 0
    )
    module = shop_module()
    with module.design.open("shop.db") as db:
        assert db.get(module.Order.key(order_id="o")).size == 7


def test_a_field_that_may_have_been_renamed_is_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    cli.main(["migrations", "snapshot"])
    declare(project, SHARED.replace('    note: str = ""\n', '    remark: str = ""\n'))
    assert cli.main(["migrations", "plan", "remarks"]) == 0
    assert "note is removed in this plan" in capsys.readouterr().out
    assert cli.main(["migrations", "apply", "0001_remarks"]) == 2
    assert "use rename instead" in capsys.readouterr().err


def test_what_items_can_be_read_without_needs_no_decision(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, SHARED)
    with shop_module().design.open("shop.db"):
        pass
    cli.main(["migrations", "snapshot"])
    declare(project, SHARED.replace("    note: str\n", "    note: str\n    size: int = 0\n"))
    assert cli.main(["migrations", "plan", "sizes"]) == 0
    assert cli.main(["migrations", "apply", "0001_sizes", "--without-routers"]) == 0
