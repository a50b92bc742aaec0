"""Unique values of several items in one transaction, and of one that moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyfold import Db, Design, Entity, Id, Key, Unique, create, delete, update
from keyfold.errors import UniqueTaken

design = Design("together")
table = design.table("together")


class Person(Entity, table=table):
    team: str
    person_id: Id
    email: str
    key = Key("TEAM#{team}", "PERSON#{person_id}")
    one_email = Unique("email", normalise=str.casefold)


def person(person_id: str, email: str) -> Person:
    return Person(team="t", person_id=person_id, email=email)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        handle.create(person("a", "a@x"))
        handle.create(person("b", "b@x"))
        yield handle


def test_a_moved_item_keeps_its_unique_value(db: Db) -> None:
    moved = db.move(person("a", "a@x").ref(), team="other")
    with pytest.raises(UniqueTaken, match="TEAM#other"):
        db.create(person("c", "A@x"))
    db.delete(moved.ref())
    db.create(person("c", "A@x"))


def test_two_new_items_cannot_share_a_value_in_one_transaction(db: Db) -> None:
    with pytest.raises(UniqueTaken, match="PERSON#c") as refused:
        db.transact(create(person("c", "new@x")), create(person("d", "NEW@x")))
    assert refused.value.field == "email"
    assert db.find(person("c", "").ref()) is None


def test_two_items_swap_their_values(db: Db) -> None:
    a, b = person("a", "a@x").ref(), person("b", "b@x").ref()
    db.transact(update(a, email="b@x"), update(b, email="a@x"))
    with pytest.raises(UniqueTaken, match="PERSON#b"):
        db.create(person("c", "a@x"))


def test_a_freed_value_is_claimed_in_the_same_transaction(db: Db) -> None:
    db.transact(create(person("c", "a@x")), delete(person("a", "a@x").ref()))
    with pytest.raises(UniqueTaken, match="PERSON#c"):
        db.create(person("d", "a@x"))


def test_a_value_held_by_a_third_is_not_handed_over(db: Db) -> None:
    with pytest.raises(UniqueTaken, match="PERSON#b"):
        db.transact(create(person("c", "b@x")), delete(person("a", "a@x").ref()))
    assert db.find(person("a", "").ref()) is not None
