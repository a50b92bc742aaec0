"""Trials as a team would make them; what they lose or change is found with boto3."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import VerifyFailed
from keyfold.migrations import Backend, Index, Migration, Migrator, add, fill_indexes

from .conftest import Shop
from .test_steps import Person, people
from .witness import contents, witness


def test_apply_stops_where_the_application_has_to_follow(shop: Shop) -> None:
    said: list[str] = []
    shop.old_order("o1")
    migrator = shop.migrator(without_routers=False, say=said.append)
    assert migrator.apply("contract").phase == "verify"
    assert "migration=" in said[-1]


def old_writer(backend: Backend, number: int) -> None:
    """An application from before the index: it writes no keys of it."""
    item = {
        "PK": {"S": f"PERSON#{number}"},
        "SK": {"S": "PERSON"},
        "type": {"S": "Person"},
        "personId": {"S": str(number)},
        "name": {"S": "Ada"},
        "town": {"S": "Turin"},
    }
    backend.call("PutItem", {"TableName": "People", "Item": item})


def test_contract_names_what_an_old_application_has_written_since(shop: Shop) -> None:
    db = people.open(shop.backend.client)
    for number in range(5):
        old_writer(shop.backend, number)
    migrator = Migrator(
        Migration("by-town", [fill_indexes(Person)]), shop.backend, without_routers=True
    )
    migrator.apply("hold")
    old_writer(shop.backend, 99)
    with pytest.raises(VerifyFailed, match=r"PERSON#99.*lacks what the new design needs"):
        migrator.apply("contract")
    migrator.apply("contract")
    assert len(list(db.read(Person.by_town.query(town="Turin")))) == 6


def test_contract_takes_nothing_away_that_the_old_side_alone_has(shop: Shop) -> None:
    shop.old_order("o1", total=1)
    migrator = shop.migrator()
    migrator.apply("hold")
    shop.old_order("late", total=7)
    with pytest.raises(VerifyFailed, match="late"):
        migrator.apply("contract")
    assert shop.backend.describe("Orders") is not None


def test_a_new_index_goes_as_it_came(shop: Shop) -> None:
    people.open(shop.backend.client)
    old_writer(shop.backend, 1)
    with witness(shop.engine) as boto:
        before = contents(boto, "People")
        steps: list[Any] = [
            add(Index("by-name", "nameKey", "PK"), "People"),
            fill_indexes(Person),
        ]
        migrator = Migrator(Migration("by-name", steps), shop.backend, without_routers=True)
        migrator.apply("hold")
        assert contents(boto, "People") != before
        migrator.rollback()
        assert contents(boto, "People") == before
