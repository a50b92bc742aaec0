"""Every pair of bounds, over text, whole numbers, decimals and times, finds what Python finds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, Query, Timestamp

design = Design("ranges")
texts = design.table("texts")
numbers = design.table("numbers", sort_type="N")
EARLY = datetime(2026, 1, 1, tzinfo=UTC)
LOWS: dict[str, Callable[[Any, Any], bool]] = {"after": operator.gt, "since": operator.ge}
HIGHS: dict[str, Callable[[Any, Any], bool]] = {"before": operator.lt, "until": operator.le}


class Level(Entity, table=numbers):
    place: Id
    at: int
    key = Key("LEVEL#{place}", "{at}")


class Price(Entity, table=numbers):
    place: Id
    at: Decimal
    key = Key("PRICE#{place}", "{at}")


class Visit(Entity, table=texts):
    place: Id
    at: Timestamp
    guest: Id = "mia"
    key = Key("PLACE#{place}", "VISIT#{at:iso}#{guest}")


class Word(Entity, table=texts):
    place: Id
    at: str
    key = Key("PLACE#{place}", "WORD#{at}")


VALUES: list[tuple[Any, list[Any]]] = [
    (Level, [-1, 0, 1, 2, 3, 40]),
    (Price, [Decimal(one) for one in ("-0.5", "0", "0.1", "0.11", "1", "1e20")]),
    (Visit, [EARLY + timedelta(microseconds=n) for n in (0, 1, 2, 1_000_000, 2_000_000)]),
    (Word, ["a", "ab", "b", "Ö", "öl", "z"]),
]


@pytest.fixture
def db() -> Db:
    made = design.open(":memory:")
    for entity, values in VALUES:
        for value in values:
            made.create(entity(place="here", at=value))
    return made


@pytest.mark.parametrize(("entity", "values"), VALUES, ids=lambda one: getattr(one, "__name__", ""))
def test_a_range_finds_what_lies_in_it(db: Db, entity: Any, values: list[Any]) -> None:
    def found(query: Query[Any]) -> list[Any]:
        return [item.at for item in db.read(query)]

    every: Query[Any] = entity.key.query(place="here")
    ordered = sorted(values, key=lambda one: one.encode() if isinstance(one, str) else one)
    place = {value: number for number, value in enumerate(ordered)}
    for low, high in product(ordered, repeat=2):
        for begins, above in LOWS.items():
            query = getattr(every, begins)(at=low)
            wanted = [one for one in ordered if above(place[one], place[low])]
            assert found(query) == wanted, (begins, low)
            for ends, below in HIGHS.items():
                inside = [one for one in wanted if below(place[one], place[high])]
                assert found(getattr(query, ends)(at=high)) == inside, (begins, low, ends, high)
        for ends, below in HIGHS.items():
            wanted = [one for one in ordered if below(place[one], place[high])]
            assert found(getattr(every, ends)(at=high)) == wanted, (ends, high)
