"""Snapshots of other times: what they do not say, and what cannot be read."""

from __future__ import annotations

from typing import Annotated

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
    with pytest.raises(MigrationError, match=r"x\.json has format 2.*upgrade keyfold"):
        load(b'{"format": 2}', "x.json")


def test_a_snapshot_from_before_counters_were_noted_has_them_counted_anew() -> None:
    design.complete()
    body = orjson.loads(dump(design.schema))
    assert body.pop("counters")
    changes = diff(load(orjson.dumps(body)), design.schema)
    assert [str(change) for change in changes] == ["Shelf.books counts Book"]
