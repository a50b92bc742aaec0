"""`keyfold sample` and `keyfold load`: made items, and rows of files as items."""

from __future__ import annotations

import builtins
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from keyfold.cli import main
from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.draft.declarations import declarations_of
from keyfold_engine.clients import connect
from keyfold_engine.values.size import item_size
from keyfold_workbench.adopt.coverage import cover
from keyfold_workbench.adopt.made_items import ItemMaker

SHOP = """\
design: shop
tables:
  shop: {key: [PK, SK], indexes: {ByEmail: {key: [GPK]}}}
entities:
  Customer:
    key: {PK: CUSTOMER#<customerId>, SK: CUSTOMER}
    indexes: {ByEmail: {GPK: "EMAIL#{email:lower}"}}
    attributes:
      customerId: id
      name: string
      email: string
      tier: string one of gold, plain
      city: optional string
      orders: number
  Order:
    key: {PK: CUSTOMER#<customerId>, SK: ORDER#<orderId>}
    attributes:
      customerId: id -> Customer
      orderId: id
      customerName: string
      total: decimal
      tags: string_set
      createdAt: timestamp iso_ms
      updatedAt: timestamp iso_ms
      description: string
    bytes: 900
counters:
  orders: {counts: Order, target: Customer, attribute: orders}
"""

MEMBERS = """\
from keyfold import Design, Entity, Id, Key, Unique

design = Design("members")

class Member(Entity, table=design.table("members")):
    member_id: Id
    email: str
    key = Key("MEMBER#{member_id}", "MEMBER")
    one_email = Unique("email")
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    return path


def made(seed: int, items: int = 300, **counts: int) -> list[Any]:
    schema = loads(SHOP)
    return list(ItemMaker(declarations_of(schema, "shop.yaml"), seed, schema).make(items, counts))


def test_made_items_are_consistent() -> None:
    items = made(7)
    customers = {i.customer_id: i for i in items if type(i).__name__ == "Customer"}
    orders = [i for i in items if type(i).__name__ == "Order"]
    assert 250 < len(items) < 350
    assert len(orders) > 3 * len(customers)
    assert all(order.customer_id in customers for order in orders)
    assert all(order.customer_name == customers[order.customer_id].name for order in orders)
    assert all(order.created_at <= order.updated_at for order in orders)
    assert len({customer.email for customer in customers.values()}) == len(customers)
    assert {customer.tier for customer in customers.values()} == {"gold", "plain"}
    sizes = [item_size(type(order).__spec__.encode(order)) for order in orders]
    assert 800 < min(sizes) <= max(sizes) < 1000


def test_a_seed_makes_the_same_items_and_another_makes_others() -> None:
    one, again, other = (
        [type(item).__spec__.encode(item) for item in made(seed, 40)] for seed in (7, 7, 8)
    )
    assert one == again
    assert one[0] != other[0]


def test_counts_can_be_given() -> None:
    kinds = [type(item).__name__ for item in made(1, Customer=5, Order=12)]
    assert (kinds.count("Customer"), kinds.count("Order")) == (5, 12)


def test_made_items_in_a_table_are_what_the_design_says(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sample", "shop.yaml", "--items", "60", "--backend", "shop.db"]) == 0
    assert main(["adopt", "shop.yaml", "--backend", "shop.db", "--at-least", "100"]) == 0
    assert "A put would change nothing." in capsys.readouterr().out
    client = connect("shop.db")
    found = client.call("Scan", {"TableName": "shop"})["Items"]
    client.close()
    orders = [i for i in found if i["type"]["S"] == "Order"]
    for item in found:
        if item["type"]["S"] == "Customer":
            held = sum(o["PK"] == item["PK"] for o in orders)
            assert int(item["orders"]["N"]) == held


def test_samples_that_are_there_already_are_told(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sample", "shop.yaml", "--items", "20", "--backend", "shop.db"]
    assert main(command) == 0
    assert main(command) == 2
    assert capsys.readouterr().err == (
        "keyfold: samples of seed 0 are in shop.db already; generate others with --seed 1, "
        "or name another data file with --backend FILE\n"
    )
    assert main([*command, "--seed", "1"]) == 0


def test_what_follows_from_samples_is_counted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("their_members.py").write_text(MEMBERS)
    command = ["sample", "their_members:design", "--backend", "members.db", "--items"]
    assert main([*command, "20"]) == 0
    told = "20 items of members in members.db, which has 40 now, with all that follows from them\n"
    assert capsys.readouterr().out == told


def test_made_items_as_a_file_can_be_loaded(shop: Path) -> None:
    assert main(["sample", "shop.yaml", "--items", "30", "-o", "items.jsonl"]) == 0
    lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    design = declarations_of(loads(SHOP), "shop.yaml")
    found = cover(design, design.tables["shop"], [line["Item"] for line in lines], name="shop")
    assert found.share == 1.0
    assert main(["sample", "shop.yaml", "-o", "items.jsonl"]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--items", "0"], "--items must be at least 1"),
        (["--count", "Order"], "--count Order: write ENTITY=N"),
        (["--count", "Lamp=3"], "shop has no entity Lamp"),
    ],
)
def test_wrong_arguments_of_sample_are_told(
    shop: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sample", "shop.yaml", "--backend", ":memory:", *arguments]) == 2
    assert told in capsys.readouterr().err


CSV = """\
Order No,customerId,name,total,tags,createdAt,updatedAt,description,internal
o1,c1,Ada,12.50,a;b,2025-01-01T00:00:00Z,2025-01-02T00:00:00Z,"one, two",x
o2,c1,Ada,3,,2025-01-01T00:00:00Z,2025-01-02T00:00:00Z,,y
"""
MAPPED = ["--map", "Order No=order_id", "--map", "name=customer_name", "--map", "internal="]


def load(*arguments: str) -> int:
    return main(["load", "shop.db", "Order", *arguments, "--design", "shop.yaml"])


def stored() -> list[dict[str, Any]]:
    client = connect("shop.db")
    found: list[dict[str, Any]] = client.call("Scan", {"TableName": "shop"})["Items"]
    client.close()
    return sorted((i for i in found if i["type"]["S"] == "Order"), key=lambda i: i["SK"]["S"])


@pytest.fixture
def customer(shop: Path) -> Path:
    row = {"customerId": "c1", "name": "Ada", "email": "a@x", "tier": "gold"}
    Path("customers.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["load", "shop.db", "Customer", "customers.jsonl", "--design", "shop.yaml"]) == 0
    return shop


def test_rows_of_csv_are_items_by_a_mapping(customer: Path) -> None:
    Path("orders.csv").write_text(CSV)
    assert load("orders.csv", *MAPPED) == 0
    first, second = stored()
    assert first["PK"] == {"S": "CUSTOMER#c1"}
    assert first["total"] == {"N": "12.5"}
    assert first["tags"] == {"SS": ["a", "b"]}
    assert first["createdAt"] == {"S": "2025-01-01T00:00:00.000Z"}
    assert (second["description"], "tags" in second) == ({"S": ""}, False)


def test_json_lines_keep_exact_numbers(customer: Path) -> None:
    row = {
        "orderId": "o9", "customerId": "c1", "customerName": "Ada", "tags": ["x"],
        "createdAt": "2025-01-01T00:00:00Z", "updatedAt": "2025-01-01T00:00:00Z",
        "description": "d",
    }  # fmt: skip
    text = json.dumps(row)[:-1] + ', "total": 0.1000000000000000055}'
    Path("orders.jsonl").write_text(f"{text}\n\n")
    assert load("orders.jsonl") == 0
    assert stored()[0]["total"] == {"N": "0.1000000000000000055"}


@pytest.mark.parametrize(
    ("name", "text", "arguments", "told"),
    [
        ("a.csv", CSV.replace("12.50", "much"), MAPPED, "a.csv:2: total: Input should be a valid"),
        ("a.csv", CSV, MAPPED[:4], "a.csv:2: Order has no field internal: add --map"),
        ("a.csv", CSV, ["--map", "x=nope"], "--map x=nope: Order has no field nope"),
        ("a.csv", CSV, ["--map", "x"], "--map x: write COLUMN=FIELD"),
        ("a.csv", CSV.replace(",y\n", ",y,z\n"), MAPPED, "a.csv:3: the row has more values"),
        ("a.jsonl", "{]\n", [], "a.jsonl:1: this is not JSON"),
        ("a.jsonl", "[]\n", [], "a.jsonl:1: expected an object of fields"),
        ("a.jsonl", "{}\n", [], "a.jsonl:1: customerId: Field required; orderId: Field required"),
    ],
)
def test_wrong_rows_are_told_by_line_and_nothing_is_written(
    shop: Path,
    name: str,
    text: str,
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(name).write_text(text)
    assert load(name, *arguments) == 2
    assert told in capsys.readouterr().err
    assert not Path("shop.db").exists()


def test_an_entity_that_is_not_there_is_told(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", "shop.db", "Ordr", "x.csv", "--design", "shop.yaml"]) == 2
    assert "shop has no entity Ordr; did you mean 'Order'?" in capsys.readouterr().err
    assert main(["load", "shop.db", "shop", "x.csv", "--map", "a=b"]) == 2
    assert "--map needs --design" in capsys.readouterr().err


EVIL = "x = __import__('builtins').__dict__.update(ran=True)"
ODD = (EVIL, f"x\n{EVIL}\n", f'"""\n{EVIL}\n"""', f"x'); {EVIL} #", f'x"); {EVIL} #', "x\\")


@pytest.mark.parametrize("odd", ODD)
def test_no_word_of_a_design_file_runs_as_code(odd: str) -> None:
    shapes = (
        {"design": odd},
        {"description": odd},
        {"entities": {odd: {"key": {"PK": "E#<id>"}, "attributes": {"id": "id"}}}},
        {"entities": {"E": {"key": {"PK": "E#<id>"}, "attributes": {"id": "id", odd: "string"}}}},
        {"entities": {"E": {"key": {"PK": f"{odd}#<id>"}, "attributes": {"id": "id"}}}},
        {
            "entities": {
                "E": {"key": {"PK": "E#<id>"}, "attributes": {"id": f"string one of {odd}"}}
            }
        },
        {"tables": {odd: {"key": ["PK"]}}},
    )
    for shape in shapes:
        text = yaml.safe_dump({"design": "d", "tables": {"Things": {"key": ["PK"]}}, **shape})
        with suppress(KeyfoldError):
            declarations_of(loads(text), "d.yaml")
        assert "ran" not in vars(builtins)
