"""A set inside a map or a list stays a set when its item is written back."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from keyfold import Db, Design, Entity, Key

design = Design("sets")
table = design.table("sets")


class Box(BaseModel):
    colours: set[str] = set()


class Thing(Entity, table=table):
    thing_id: str
    data: dict[str, Any] = {}
    box: Box = Box()
    key = Key("THING#{thing_id}", "THING")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def stored(db: Db) -> dict[str, Any]:
    request = {"TableName": "sets", "Key": {"PK": {"S": "THING#1"}, "SK": {"S": "THING"}}}
    found: dict[str, Any] = db.client.call("GetItem", request)["Item"]
    return found


def test_sets_that_another_program_stored_stay_sets(db: Db) -> None:
    db.create(Thing(thing_id="1"))
    nested = {
        "words": {"SS": ["a", "b"]},
        "numbers": {"NS": ["1", "2.5"]},
        "blobs": {"BS": ["AAE="]},
        "deep": {"L": [{"M": {"words": {"SS": ["c"]}}}]},
    }
    item = stored(db) | {"data": {"M": nested}}
    db.client.call("PutItem", {"TableName": "sets", "Item": item})
    read = db.get(Thing.key(thing_id="1"))
    assert read.data["numbers"] == {1, Decimal("2.5")}
    db.update(read, data={**read.data, "more": True})
    assert stored(db)["data"] == {"M": nested | {"more": {"BOOL": True}}}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"b", "a"}, {"SS": ["a", "b"]}),
        ({2, Decimal("1.5")}, {"NS": ["1.5", "2"]}),
        ({b"\x01"}, {"BS": ["AQ=="]}),
        # DynamoDB has no such sets.
        (set(), {"L": []}),
        ({""}, {"L": [{"S": ""}]}),
        ({1, "a"}, {"L": [{"N": "1"}, {"S": "a"}]}),
        ({True}, {"L": [{"BOOL": True}]}),
    ],
)
def test_a_set_in_a_map_is_a_set_where_dynamodb_has_one(
    db: Db, given: set[Any], written: dict[str, Any]
) -> None:
    db.create(Thing(thing_id="1", data={"set": given}))
    assert stored(db)["data"] == {"M": {"set": written}}


def test_a_set_of_a_nested_model_reads_back(db: Db) -> None:
    db.create(Thing(thing_id="1", box=Box(colours={"red", "blue"})))
    assert stored(db)["box"] == {"M": {"colours": {"SS": ["blue", "red"]}}}
    assert db.get(Thing.key(thing_id="1")).box == Box(colours={"red", "blue"})
