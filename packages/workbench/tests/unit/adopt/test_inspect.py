"""`keyfold inspect`: designs drafted from items, by what the items show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adopt.public import designs
from tests.unit.adopt.public.made import Kind, Maker, Public, table
from tests.unit.adopt.scores import score

from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.review.draft.python import declaration
from keyfold.runtime.table_description import table_schema
from keyfold_engine.clients import Client, connect
from keyfold_engine.expressions.text import condition_text
from keyfold_workbench.adopt import item_sample
from keyfold_workbench.adopt.design_draft import DesignDraft, draft

PK_SK = table("things", "PK SK", "GSI1 GSI1PK GSI1SK")


def drafted(definition: dict[str, Any], *items: dict[str, Any]) -> DesignDraft:
    public = Public("", "", definition, {"": Kind((), {})})
    for item in items:
        public.add("", **item)
    return draft(table_schema(definition), [item for _, item in public.wire()], complete=True)


def keys(found: DesignDraft) -> dict[str, str]:
    return {entity.name: str(entity.key) for entity in found.schema.entities}


PUBLIC = designs()


@pytest.mark.parametrize("public", PUBLIC, ids=[public.name for public in PUBLIC])
def test_a_public_design_is_found(public: Public) -> None:
    whole, part = score(public), score(public, share=0.5)
    assert whole.wrong == []
    assert part.found >= part.entities - 1, part.wrong
    assert part.right >= 0.75 * part.templates, part.wrong


def test_drafts_of_public_designs_are_design_files() -> None:
    from tests.unit.adopt.scores import drafted as whole

    for public in PUBLIC:
        text = whole(public).text()
        assert loads(text).entities, public.name


def test_prefixes_of_any_case_and_sign_are_told_apart() -> None:
    make = Maker()
    items: list[dict[str, Any]] = []
    for number in range(20):
        user = f"{make.user(number)}"
        items.append({"PK": f"user|{user}", "SK": "profile|", "nick": make.name(), "age": 4})
        items.append({"PK": f"user|{user}", "SK": f"order|{make.hex(6)}", "total": make.price()})
    assert keys(drafted(PK_SK, *items)) == {
        "User": "user|{userId} / profile|",
        "Order": "user|{userId} / order|{orderId}",
    }


def test_the_attribute_that_splits_items_best_names_them_whatever_it_is_called() -> None:
    make = Maker()
    items: list[dict[str, Any]] = []
    for _ in range(30):
        a, b = make.uuid(), make.uuid()
        items.append(
            {"PK": a, "SK": "v1", "record_sort": "customer", "email": make.hex(), "tier": 1}
        )
        items.append(
            {
                "PK": b,
                "SK": "v1",
                "record_sort": "shipment",
                "weight": 3,
                "state": "sent",
                "legs": 1,
            }
        )
    found = drafted(PK_SK, *items)
    assert {e.name for e in found.schema.entities} == {"Customer", "Shipment"}
    assert found.schema.tables[0].type_attribute == "record_sort"
    assert any("record_sort names them" in note for note in found.notes)


def test_a_state_does_not_split_an_entity() -> None:
    make = Maker()
    items = [
        {"PK": f"ORDER#{n}", "SK": f"{state}#{n}", "status": state, "total": make.price()}
        for n in range(40)
        for state in [make.one_of("OPEN", "CLOSED")]
    ]
    assert list(keys(drafted(PK_SK, *items)).values()) == ["ORDER#{orderId} / {status}#{orderId}"]


def test_two_values_of_one_key_have_two_names() -> None:
    make = Maker()
    items = [{"PK": f"USER#{make.hex()}", "SK": f"USER#{make.hex()}", "since": 1} for _ in range(9)]
    assert list(keys(drafted(PK_SK, *items)).values()) == ["USER#{userId} / USER#{userId2}"]


def test_a_leading_sign_is_text() -> None:
    items = [{"PK": f"u{n}", "SK": f"#METADATA#u{n}", "level": n} for n in range(9)]
    assert list(keys(drafted(PK_SK, *items)).values()) == [
        "{partitionId} / #METADATA#{partitionId}"
    ]


def test_what_stands_only_in_a_key_is_asked_for() -> None:
    items = [{"PK": f"GAME#{n * 7:x}", "SK": "METADATA", "moves": n} for n in range(9)]
    found = drafted(PK_SK, *items)
    assert found.questions == ["Game.gameId is only in the key. What is it called?"]
    assert found.schema.entities[0].by_field["gameId"].in_key
    assert "# ? Game.gameId is only in the key" in found.text()


def test_keyfolds_own_markers_are_no_entities(tmp_path: Path) -> None:
    from keyfold import Design, Entity, Id, Key, Unique

    design = Design("people")
    people = design.table("people")

    class Person(Entity, table=people):
        person_id: Id
        email: str
        key = Key("PERSON#{person_id}", "PERSON")
        one_email = Unique("email")

    with design.open(str(tmp_path / "people.db")) as db:
        for number in range(5):
            db.create(Person(person_id=f"p{number}", email=f"p{number}@example.org"))
    client = connect(str(tmp_path / "people.db"))
    taken = item_sample.read(client, item_sample.Sample("people"), 100)
    client.close()
    found = draft(
        table_schema({**PK_SK, "TableName": "people", "GlobalSecondaryIndexes": []}), taken.items
    )
    assert keys(found) == {"Person": "PERSON#{personId} / PERSON"}
    assert any("5 items are keyfold's own markers" in note for note in found.notes)


def test_a_sparse_index_says_when() -> None:
    make = Maker()
    items: list[dict[str, Any]] = []
    for n in range(40):
        open_ = n % 3 == 0
        indexed = {"GSI1PK": "OPEN", "GSI1SK": f"TICKET#t{n}"} if open_ else {}
        state = "open" if open_ else make.one_of("done", "dropped")
        items.append(
            {"PK": f"TICKET#t{n}", "SK": "TICKET", "ticket": f"t{n}", "state": state, **indexed}
        )
    entity = drafted(PK_SK, *items).schema.entities[0]
    assert entity.placements[0].when is not None
    assert condition_text(entity.placements[0].when) == 'state = "open"'
    assert str(entity.placements[0].key) == "OPEN / TICKET#{ticket}"


def test_copies_and_counts_are_told_with_how_often_they_agree() -> None:
    make = Maker()
    items: list[dict[str, Any]] = []
    for n in range(12):
        name, teamed = make.words(2), n % 4
        items.append(
            {"PK": f"TEAM#t{n}", "SK": "TEAM", "teamId": f"t{n}", "name": name, "size": teamed}
        )
        items += [
            {"PK": f"TEAM#t{n}", "SK": f"MEMBER#m{n}{m}", "teamId": f"t{n}", "memberId": f"m{n}{m}",
             "teamName": name}
            for m in range(teamed)
        ]  # fmt: skip
    notes = drafted(PK_SK, *items).notes
    assert (
        "Member.teamName equals Team.name in 18 of 18 items: a copy, perhaps of a pointer." in notes
    )
    assert (
        "Team.size equals the number of Member items in 12 of 12 items: perhaps a counter." in notes
    )
    assert "Member, Team share the partition TEAM#{teamId}: one query reads all." in notes


def test_times_are_typed_only_in_a_spelling_that_is_written_again() -> None:
    items = [
        {"PK": f"E#{n}", "SK": "E", "a": f"2025-01-0{n}T10:00:00.000Z",
         "b": f"2025-01-0{n}T10:00+02:00", "c": f"2025-01-0{n}", "created": 1_750_000_000 + n,
         "size": 1_750_000_000 + n}
        for n in range(1, 9)
    ]  # fmt: skip
    found = drafted(PK_SK, *items).schema.entities[0]
    told = {a.name: f"{a.type} {a.stored}".strip() for a in found.attributes if not a.in_key}
    assert told == {
        "a": "timestamp iso_ms",
        "b": "string",
        "c": "date",
        "created": "timestamp epoch",
        "size": "number",
    }


# Sampling


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    public = next(each for each in PUBLIC if each.name == "online shop")
    client = connect(str(tmp_path_factory.mktemp("shop") / "shop.db"))
    client.call("CreateTable", public.table)
    rows = public.wire()
    for start in range(0, len(rows), 25):
        wanted = [{"PutRequest": {"Item": item}} for _, item in rows[start : start + 25]]
        client.call("BatchWriteItem", {"RequestItems": {"OnlineShop": wanted}})
    yield client
    client.close()


def test_a_sample_is_of_all_parts_and_can_be_gone_on_with(shop: Client, tmp_path: Path) -> None:
    sample = item_sample.read(shop, item_sample.Sample("OnlineShop"), 200)
    assert len(sample.items) == 200
    assert not sample.complete
    sample.save(tmp_path / "sample")
    more = item_sample.read(shop, item_sample.load(tmp_path / "sample"), 1000)
    seen = {(i["PK"]["S"], i["SK"]["S"]) for i in more.items}
    assert len(seen) == len(more.items) == 696
    assert more.complete


def test_a_sample_keeps_within_its_units(shop: Client) -> None:
    sample = item_sample.read(shop, item_sample.Sample("OnlineShop"), 600, units=3)
    assert sample.units <= 4
    assert 0 < len(sample.items) < 600


def test_names_that_were_given_are_kept(
    shop: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = str(tmp_path / "games.db")
    client = connect(backend)
    client.call("CreateTable", {**PK_SK, "TableName": "games"})
    for n in range(9):
        client.call(
            "PutItem",
            {
                "TableName": "games",
                "Item": {"PK": {"S": f"g#{n}"}, "SK": {"S": "state"}, "m": {"N": "1"}},
            },
        )
    client.close()
    made = tmp_path / "games.yaml"
    base = ["inspect", "games", "--backend", backend, "-o", str(made)]
    assert main([*base, "--sample-file", str(tmp_path / "s")]) == 0
    text = made.read_text().replace("State:", "Game:").replace("entities: State", "x")
    text = text.replace("get: State", "get: Game").replace("gId", "gameId")
    made.write_text("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    again = [*base, "--more", "--sample-file", str(tmp_path / "s"), "--keep", str(made), "--force"]
    assert main(again) == 0, capsys.readouterr().err
    kept = load(made)
    assert {e.name: str(e.key) for e in kept.entities} == {"Game": "g#{gameId} / state"}
    assert [p.name for p in kept.patterns] == ["State by key"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sample", "0"], "--sample must be at least 1"),
        (["--units", "0"], "--units must be greater than 0"),
        (["--more"], "--more needs --sample-file"),
        (["--more", "--sample-file", "none"], "Not found: sample none"),
    ],
)
def test_wrong_arguments_are_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "things", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_the_page_on_what_inspect_finds_is_what_it_finds() -> None:
    import runpy

    root = Path(__file__).parents[5]
    made = runpy.run_path(str(root / "docs" / "_ext" / "inspected.py"))["page"]()
    assert (root / "docs" / "inspected.md").read_text("utf-8") == made


def customers_and_orders(*more: dict[str, Any], buyers: bool = True) -> DesignDraft:
    make = Maker()
    ids = [make.uuid() for _ in range(40)]
    items: list[dict[str, Any]] = [
        {"PK": f"CUSTOMER#{one}", "SK": f"CUSTOMER#{one}", "type": "Customer", "name": make.name()}
        | {"customerId": one}
        for one in ids
    ]
    for number in range(60):
        order, buyer = make.uuid(), make.one_of(*ids) if buyers else make.uuid()
        items.append(
            {"PK": f"ORDER#{order}", "SK": f"ORDER#{order}", "type": "Order", "total": number}
            | {"orderId": order, "customerId": buyer}
        )
    public = Public("", "", PK_SK, {"": Kind((), {})})
    for item in (*items, *more):
        public.add("", **item)
    return draft(table_schema(PK_SK), [item for _, item in public.wire()])


def test_an_item_with_nothing_but_the_key_of_another_is_a_husk() -> None:
    husk = "CUSTOMER#ffffffff-aaaa-4444-8888-bbbbbbbbbbbb"
    found = customers_and_orders({"PK": husk, "SK": husk})
    assert set(keys(found)) == {"Customer", "Order"}
    assert any(f"such as {husk} / {husk}" in note for note in found.notes)
    declaration(loads(found.text()))


def test_items_with_nothing_but_keys_of_their_own_form_are_an_entity() -> None:
    make = Maker()
    edges = [{"PK": f"USER#{make.hex()}", "SK": f"FOLLOWS#{make.hex()}"} for _ in range(9)]
    assert len(customers_and_orders(*edges).schema.entities) == 3


@pytest.mark.parametrize("buyers", [True, False])
def test_a_reference_needs_a_value_that_is_an_id(buyers: bool) -> None:
    found = customers_and_orders(buyers=buyers)
    (order,) = [entity for entity in found.schema.entities if entity.name == "Order"]
    assert order.by_field["customerId"].refers == ("Customer" if buyers else "")
    assert not any("0 of" in note for note in found.notes)


CUSTOMERS, EVENTS = 100, 50


@pytest.fixture(scope="module")
def crowded() -> Iterator[Client]:
    """A table whose partitions are larger than a page: half of the items come last in theirs."""
    client = connect(":memory:")
    client.call("CreateTable", {**PK_SK, "BillingMode": "PAY_PER_REQUEST"})
    for customer in range(CUSTOMERS):
        for number in range(EVENTS):
            for kind in ("AUDIT", "VISIT"):
                item = {
                    "PK": {"S": f"CUSTOMER#c{customer:04}"},
                    "SK": {"S": f"{kind}#{number:04}"},
                    "type": {"S": kind.title()},
                    f"{kind.lower()}At": {"S": f"2026-01-{number % 28 + 1:02}"},
                }
                client.call("PutItem", {"TableName": "things", "Item": item})
    yield client
    client.close()


def sampled(client: Client, seed: int = 0) -> item_sample.Sample:
    return item_sample.read(client, item_sample.Sample("things"), 1000, seed=seed)


def test_a_sample_sees_what_is_far_into_a_partition_and_says_its_error(crowded: Client) -> None:
    sample = sampled(crowded)
    visits = sum(item["type"]["S"] == "Visit" for item in sample.items) / len(sample.items)
    assert 0.3 < visits < 0.7
    found = draft(table_schema(PK_SK), sample.items, visits=sample.visits)
    assert all("% ± " in entity.description for entity in found.schema.entities)


def test_another_seed_reads_other_items(crowded: Client) -> None:
    one, same, other = ({repr(item) for item in sampled(crowded, seed).items} for seed in (1, 1, 2))
    assert one == same
    assert len(one & other) < 0.6 * len(one)


def test_a_table_that_the_sample_can_hold_is_read_once_and_whole(crowded: Client) -> None:
    sample = item_sample.read(crowded, item_sample.Sample("things"), 20_000)
    assert sample.complete
    assert len(sample.items) == 2 * CUSTOMERS * EVENTS
