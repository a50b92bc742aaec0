"""Trials of the restructuring of sellers; what they lose or change is found with boto3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.migrations.witness import contents, witness

from keyfold.migrations import Backend, Migrator
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_systems.sellers import current, design, migration
from keyfold_systems.sellers.entities import Season


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine.open(":memory:")
    yield engine
    engine.close()


SEASON = {
    "profileId": {"S": "PROFILE#p1"},
    "seasonName": {"S": "Spring"},
    "catalogId": {"S": "CATALOG#c1"},
    "startDate": {"S": "2030-03-01"},
    "endDate": {"NULL": True},
    "createdAt": {"S": "2030-01-01T10:00:00.123Z"},
}
PRODUCT = {"productId": {"S": "x"}, "productName": {"S": "X"}, "price": {"N": "1.50"}}
CATALOG = {
    "ownerAccountId": {"S": "ACCOUNT#a1"},
    "catalogName": {"S": "Sweets"},
    "isPublicStr": {"S": "true"},
    "products": {"L": [{"M": PRODUCT}]},
    "createdAt": {"S": "2030-01-01T10:00:00.123Z"},
}


def fill(backend: Backend) -> None:
    for number in range(40):
        item = {**SEASON, "seasonId": {"S": f"SEASON#s{number}"}}
        if number < 4:
            item["goalAmount"] = {"N": f"1{number}.50"}
            item["labels"] = {"SS": ["b", "a"]}
        backend.call("PutItem", {"TableName": "SellersSeasons", "Item": item})


def test_undeclared_attributes_survive_a_move_and_its_rollback(engine: Engine) -> None:
    client = EmbeddedClient(engine)
    current.design.open(client)
    backend = Backend(client)
    fill(backend)
    with witness(engine) as boto:
        before = contents(boto, "SellersSeasons")
        migrator = Migrator(migration.seasons, backend, without_routers=True)
        migrator.apply("hold")
        goals = [
            item["goalAmount"]["N"]
            for item in boto.scan(TableName="SellersSeasonsByProfile")["Items"]
            if "goalAmount" in item
        ]
        assert sorted(goals) == ["10.5", "11.5", "12.5", "13.5"]
        migrator.rollback()
        assert contents(boto, "SellersSeasons") == before


def test_numbers_that_a_plan_counted_in_a_table_that_stays_go_with_its_rollback(
    engine: Engine,
) -> None:
    client = EmbeddedClient(engine)
    current.design.open(client)
    backend = Backend(client)
    fill(backend)
    catalog = {**CATALOG, "catalogId": SEASON["catalogId"], "extra": {"NULL": True}}
    backend.call("PutItem", {"TableName": "SellersCatalogs", "Item": catalog})
    with witness(engine) as boto:
        before = contents(boto, "SellersSeasons", "SellersCatalogs")
        migrator = Migrator(migration.seasons, backend, without_routers=True)
        migrator.apply("hold")
        (counted,) = boto.scan(TableName="SellersCatalogs")["Items"]
        assert counted["seasons"]["N"] == "40"
        migrator.rollback()
        assert contents(boto, "SellersSeasons", "SellersCatalogs") == before


def test_what_the_new_side_changed_comes_back_with_all_that_the_old_one_had(
    engine: Engine,
) -> None:
    client = EmbeddedClient(engine)
    current.design.open(client)
    backend = Backend(client)
    fill(backend)
    migrator = Migrator(migration.seasons, backend, without_routers=True)
    migrator.apply("hold")
    new = design.design.open(client, create_tables=False)
    new.update(Season.key(profile_id="p1", season_id="s1"), season_name="Autumn")
    migrator.rollback()
    found = backend.call(
        "GetItem", {"TableName": "SellersSeasons", "Key": {"seasonId": {"S": "SEASON#s1"}}}
    )["Item"]
    expected = {**SEASON, "seasonId": {"S": "SEASON#s1"}, "seasonName": {"S": "Autumn"}}
    expected |= {"goalAmount": {"N": "11.5"}, "labels": {"SS": ["a", "b"]}}
    assert found.pop("updatedAt")
    assert found == expected


def test_a_rewrite_is_undone_to_the_last_byte(engine: Engine) -> None:
    client = EmbeddedClient(engine)
    current.design.open(client)
    backend = Backend(client)
    for number in range(10):
        item = {
            "accountId": {"S": f"ACCOUNT#a{number}"},
            "email": {"S": f"Ada{number}@X.org"},
            "isAdmin": {"BOOL": number == 3},
            "createdAt": {"S": "2030-01-01T10:00:00.123Z"},
        }
        backend.call("PutItem", {"TableName": "SellersAccounts", "Item": item})
    with witness(engine) as boto:
        before = contents(boto, "SellersAccounts")
        migrator = Migrator(migration.accounts, backend, without_routers=True)
        migrator.apply("hold")
        assert len(contents(boto, "SellersAccounts")) == 20
        migrator.rollback()
        assert contents(boto, "SellersAccounts") == before
