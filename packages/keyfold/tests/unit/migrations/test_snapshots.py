"""Snapshots of other times: what they do not say, and what cannot be read."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import pytest

from keyfold import Counter, Design, Entity, Id, Key
from keyfold.errors import MigrationError
from keyfold.migrations import diff
from keyfold.migrations.snapshot import dump, load

design = Design("library")
table = design.table("library")


class Shelf(Entity, table=table):
    shelf_id: Id
    books: Annotated[int, Counter("Book")] = 0
    key = Key("SHELF#{shelf_id}", "SHELF")


class Book(Entity, table=table):
    shelf_id: Id
    book_id: Id
    key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")


def test_a_snapshot_of_a_later_format_says_what_to_do() -> None:
    with pytest.raises(MigrationError, match=r"x\.json has format 3.*upgrade keyfold"):
        load(b'{"format": 3}', "x.json")


def _first_format(body: dict[str, Any]) -> dict[str, Any]:
    """What the first format noted of the same design."""
    follows = body.pop("follows")
    for entity in body["entities"]:
        copies = [f["source"] for f in follows if f.get("target") == entity["name"] and "copy" in f]
        entity |= {"uniques": [], "copy_of": copies[0] if copies else None}
    body["counters"] = [
        {
            "name": each["name"].removeprefix("counter "),
            "counts": each["source"],
            "target": each["target"],
            "attribute": each["writes"][0],
        }
        for each in follows
        if each["fact"] == "amount"
    ]
    return {**body, "format": 1}


def test_a_snapshot_of_the_first_format_is_read_and_says_nothing_of_what_has_no_condition() -> None:
    body = _first_format(orjson.loads(dump(design.schema)))
    assert diff(load(orjson.dumps(body)), design.schema) == []


def test_a_snapshot_from_before_counters_were_noted_has_them_counted_anew() -> None:
    design.complete()
    body = _first_format(orjson.loads(dump(design.schema)))
    del body["counters"]
    changes = diff(load(orjson.dumps(body)), design.schema)
    assert [str(change) for change in changes] == ["Shelf.books counts Book"]
