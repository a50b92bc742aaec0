"""Structures declared again from their records: the same records come out."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Counter, Design, Entity, Id, Key, Pointer, Unique
from keyfold.design.schema import Follows
from keyfold.errors import MigrationError
from keyfold.maintain.structure import restated
from keyfold.migrations.frozen_design import design_of
from keyfold.structures import Cascade, Edge, Mirror

design = Design("restated")
table = design.table("restated", stream="NEW_AND_OLD_IMAGES")


class Shelf(Entity, table=table):
    shelf: Id
    books: Annotated[int, Counter("Book")] = 0
    pages: Annotated[int, Counter("Book", where=lambda b: b.lent == False, sums="size")] = 0  # noqa: E712
    loans: Annotated[int, Counter("Book", via={"shelf": "home"}, sync="stream", shards=4)] = 0
    key = Key("SHELF#{shelf}", "SHELF")
    contents = Cascade("Book")


class Book(Entity, table=table):
    shelf: Id
    book: Id
    home: str = ""
    title: str = ""
    size: int = 0
    lent: bool = False
    tags: set[str] = set()
    key = Key("SHELF#{shelf}", "BOOK#{book}")
    one_title = Unique("title", "home", normalise=str.casefold)


class TaggedBook(
    Pointer[Book], table=table, each="tags", overflow="stream", when=lambda b: b.size > 3
):
    tag: str
    shelf: Id
    book: Id
    title: str
    key = Key("TAG#{tag}", "BOOK#{shelf}#{book}")


class Loan(Edge, table=table):
    reader: Id
    book: Id
    key = Key("READER#{reader}", "LOAN#{book}")
    readers = Mirror("BOOK#{book}", "READER#{reader}")


def test_a_restated_structure_has_the_record_that_it_came_from() -> None:
    again = {each.name: each for each in design_of(design.schema).schema.follows}
    kept = [each for each in design.schema.follows if restated(each)]
    assert {each.kind for each in kept} == {"counter", "pointer", "unique"}
    assert len(kept) == 5
    for each in kept:
        assert again[each.name] == each


@pytest.mark.parametrize("kind", ["edge", "cascade", "volume"])
def test_what_its_record_does_not_say_in_full_is_not_restated(kind: str) -> None:
    record = next((each for each in design.schema.follows if each.kind == kind), None)
    unknown = Follows("volume Shelf.n", kind, "Book", "Shelf", "amount", writes=("n",))
    assert restated(record or unknown) is None


def test_a_normaliser_that_a_plan_cannot_store_is_named() -> None:
    told: dict[str, Any] = {"writes": ("title",), "normalise": "tidy"}
    record = Follows("unique Book.title", "unique", "Book", "", "claim", **told)
    with pytest.raises(MigrationError, match=r"unique Book\.title is normalised by tidy"):
        restated(record)
