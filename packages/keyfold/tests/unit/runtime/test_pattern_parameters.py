"""Parameters of patterns: without a value, moved by an amount, as the beginning of a sort field."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query, Timestamp
from keyfold.errors import DeclarationError, KeyValueRefused
from keyfold.review.check import check
from keyfold.review.docs import files

design = Design("calendar", description="What happens when.")
table = design.table("main", indexes=[Index("ByRank", "GSI1PK", "rank", sort_type="N")])
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Event(Entity, table=table, per_partition=1000):
    """Something that happens."""

    town: Id
    at: Timestamp
    name: Id
    rank: int = 0
    key = Key("TOWN#{town}", "EVENT#{at}")
    by_rank = On("ByRank", "TOWN#{town}", "{rank}")


class Street(Entity, table=table, per_partition=1000):
    """A street of a town."""

    town: Id
    street: Id
    number: Id
    key = Key("TOWN#{town}", "STREET#{street}#{number}")


@design.pattern(requests=1)
def happening(
    town: str,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> Query[Event]:
    """What happens, from a time and to a time where they are given."""
    return Event.key.query(town=town).since(at=since).until(at=until).limit(limit)


@design.pattern(requests=1)
def on_day(town: str, day: datetime) -> Query[Event]:
    """What happens on a day."""
    return Event.key.query(town=town).since(at=day).before(at=day + timedelta(days=1))


@design.pattern(requests=1)
def near_rank(town: str, rank: int) -> Query[Event]:
    """Those of about this rank."""
    return Event.by_rank.query(town=town).since(rank=rank - 1).until(rank=rank + 1)


class Person(Entity, table=table):
    town: str
    name: str
    key = Key("PEOPLE#{town}", "NAME#{name:lowercase}")


class Sign(Entity, table=table):
    town: str
    name: str
    key = Key("SIGNS#{town}", "NAME#{name:uppercase}#END")


class Shop(Entity, table=table):
    town: str
    name: str
    key = Key("SHOPS#{town}", "NAME#{name:lower}")


@design.pattern(requests=1)
def soon(town: str, now: datetime) -> Query[Event]:
    """A filter with a moved parameter."""
    return Event.key.query(town=town).where(lambda e: e.at < now + timedelta(hours=1))


@design.pattern(requests=1, silence=(("Q14", "The filter is what is tested."),))
def ranked(town: str, rank: int | None = None, below: int | None = None) -> Query[Event]:
    """A filter whose parameters may have no value."""
    events = Event.key.query(town=town).where(lambda e: e.rank < below)  # type: ignore[operator]
    return events.where(lambda e: (e.rank == rank) | (e.rank > 0))


@design.pattern(requests=1)
def streets(town: str, beginning: str | None = None) -> Query[Street]:
    """The streets whose name begins so."""
    return Street.key.query(town=town).begins_with(street=beginning)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        for hours in range(5):
            at = NOON + timedelta(hours=12 * hours)
            opened.create(Event(town="t", at=at, name=str(hours), rank=hours))
        for street in ("Main", "Mainz", "Mill", "Oak"):
            opened.create(Street(town="t", street=street, number="1"))
        yield opened


def names(page: object) -> str:
    assert isinstance(page, list) or hasattr(page, "items")
    return "".join(one.name for one in page)  # type: ignore[attr-defined]


def test_a_parameter_without_a_value_leaves_its_end_of_the_range_open(db: Db) -> None:
    assert names(happening(db, "t")) == "01234"
    assert names(happening(db, "t", since=NOON + timedelta(hours=12))) == "1234"
    assert names(happening(db, "t", until=NOON + timedelta(hours=12))) == "01"
    assert names(happening(db, "t", NOON, NOON)) == "0"
    assert names(happening(db, "t", limit=2)) == "01"


def test_a_filter_takes_a_parameter_without_a_value_as_a_missing_one_or_an_open_end(
    db: Db,
) -> None:
    assert names(ranked(db, "t")) == "1234"
    assert names(ranked(db, "t", rank=0, below=3)) == "012"


def test_an_amount_can_be_added_to_a_parameter(db: Db) -> None:
    assert names(on_day(db, "t", NOON)) == "01"
    assert names(near_rank(db, "t", 2)) == "123"
    assert names(soon(db, "t", NOON)) == "0"


def test_a_page_goes_on_where_it_ended_with_an_open_end(db: Db) -> None:
    pages = list(happening.pages(db, "t", since=NOON + timedelta(hours=12), limit=2))
    assert [names(page) for page in pages if page.items] == ["12", "34"]


def test_a_sort_field_can_be_asked_by_its_beginning(db: Db) -> None:
    assert [one.street for one in streets(db, "t", "M")] == ["Main", "Mainz", "Mill"]
    assert [one.street for one in streets(db, "t", "Main")] == ["Main", "Mainz"]
    assert [one.street for one in streets(db, "t", "X")] == []
    assert [one.street for one in streets(db, "t")] == ["Main", "Mainz", "Mill", "Oak"]


def test_a_beginning_cannot_reach_beyond_its_field(db: Db) -> None:
    with pytest.raises(KeyValueRefused, match="key delimiter"):
        streets(db, "t", "Main#1")


def test_a_field_in_another_case_can_be_asked_by_its_beginning(db: Db) -> None:
    for name in ("Ann", "anna", "Bea"):
        db.create(Person(town="t", name=name))
        db.create(Sign(town="t", name=name))
    by_name = Person.key.query(town="t").begins_with(name="AN")
    assert [one.name for one in db.read(by_name)] == ["Ann", "anna"]
    shouted = Sign.key.query(town="t").begins_with(name="an")
    assert [one.name for one in db.read(shouted)] == ["Ann", "anna"]


def test_a_text_without_a_fixed_beginning_says_why() -> None:
    with pytest.raises(DeclarationError, match=r"Shop\.name is in the format 'lower'"):
        Shop.key.query(town="t").begins_with(name="a")


def test_only_text_begins_with_something() -> None:
    with pytest.raises(DeclarationError, match="kind timestamp"):
        Event.key.query(town="t").begins_with(at="2026")
    with pytest.raises(DeclarationError, match="next sort field is street"):
        Street.key.query(town="t").begins_with(number="1")


def test_a_parameter_cannot_be_joined_with_text_or_another_parameter() -> None:
    with pytest.raises(DeclarationError, match="reads the value of its parameter 'town'"):

        @Design("other").pattern()
        def joined(town: str) -> Query[Event]:
            return Event.key.query(town=town + "x")


def test_documents_and_checks_know_them() -> None:
    document = files(design.schema, Path("calendar.md"))[Path("calendar.md")]
    assert "day_plus_1_day" in document
    assert "STREET#{street}" in document
    found = [f for f in check(design.schema).findings if f.subject in design.patterns]
    assert [(f.code, f.subject, f.suggestion) for f in found] == [
        ("Q14", "soon", "at is in the sort key: query the range there.")
    ]
