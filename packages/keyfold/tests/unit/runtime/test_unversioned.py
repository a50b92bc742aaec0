"""Fields that change beside the edits: the version stays, and nobody's edit is refused for it."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import (
    AtMost,
    Db,
    Design,
    Entity,
    Id,
    Key,
    Timestamp,
    Unversioned,
    Updated,
    Version,
    add,
)
from keyfold.errors import ValueRefused, VersionConflict
from keyfold_engine.clock import ManualClock

design = Design("unversioned")
table = design.table("pages")


class Leaf(Entity, table=table):
    leaf_id: Id
    title: str = ""
    seen_by: Annotated[set[str], AtMost(2), Unversioned()] = set()
    version: Annotated[int, Version()] = 0
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("LEAF#{leaf_id}", "LEAF")


@pytest.fixture
def db() -> Db:
    return design.open(":memory:", clock=ManualClock(1_900_000_000))


def test_an_edit_goes_through_though_somebody_looked_meanwhile(db: Db) -> None:
    read = db.create(Leaf(leaf_id="a"))
    seen = db.update(read.ref(), seen_by=add({"mia"}))
    assert (seen.version, seen.updated_at, seen.seen_by) == (1, read.updated_at, {"mia"})
    edited = db.update(read, title="New")
    assert (edited.version, edited.seen_by) == (2, {"mia"})


def test_an_edit_that_has_such_a_field_too_counts(db: Db) -> None:
    read = db.create(Leaf(leaf_id="a"))
    assert db.update(read.ref(), seen_by=add({"mia"}), title="New").version == 2
    with pytest.raises(VersionConflict):
        db.update(read, title="Late")


def test_its_limit_holds_all_the_same(db: Db) -> None:
    leaf = db.create(Leaf(leaf_id="a", seen_by={"a", "b"}))
    with pytest.raises(ValueRefused, match="AtMost"):
        db.update(leaf.ref(), seen_by=add({"c"}))
