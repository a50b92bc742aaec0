"""Indexes whose keys are several attributes: declared, queried, refused in words, exported."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from keyfold import Collection, Design, Entity, Id, Index, Key, On, Page, Query, collection, merge
from keyfold.design.file import dumps, loads
from keyfold.design.schema import Schema
from keyfold.design.yaml_text import DesignFileError
from keyfold.errors import DeclarationError, MissingKeyField
from keyfold.maintain.verify import verify
from keyfold.migrations import snapshot
from keyfold.migrations.diff import diff
from keyfold.review.check import check
from keyfold.review.docs import files
from keyfold.review.draft.python import declaration

design = Design("rentals")
table = design.table(
    "rentals",
    indexes=[
        Index("ByPlace", ("country", "city"), ("rooms", "rent", "title"), "S", ("N", "N", "S")),
        Index("ByOwner", ("owner", "year"), "opened", partition_type=("S", "N")),
    ],
)
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


class Flat(Entity, table=table):
    flat_id: Id
    country: str
    city: str
    rooms: int
    rent: Decimal
    title: str
    owner: str | None = None
    year: int = 2026
    opened: datetime = NOON

    key = Key("FLAT#{flat_id}", "FLAT")
    by_place = On("ByPlace", ("country", "city"), ("rooms", "rent", "title"))
    by_owner = On("ByOwner", ("owner", "year"), "{opened:iso_ms}", when="owner")


@design.pattern(requests=1)
def in_city(country: str, city: str, limit: int = 20) -> Query[Flat]:
    """Flats of a city, the small ones first."""
    return Flat.by_place.query(country=country, city=city).limit(limit)


@design.pattern(requests=1)
def cheap(country: str, city: str, rooms: int, most: Decimal) -> Query[Flat]:
    """Flats of a size up to a rent."""
    return Flat.by_place.query(country=country, city=city, rooms=rooms).until(rent=most)


@design.pattern(requests=1)
def titled(country: str, city: str, rooms: int, rent: Decimal, words: str) -> Query[Flat]:
    """Flats whose title begins so."""
    asked = Flat.by_place.query(country=country, city=city, rooms=rooms, rent=rent)
    return asked.begins_with(title=words)


@design.pattern(requests=1)
def owned(owner: str, year: int) -> Query[Flat]:
    """What somebody let in a year."""
    return Flat.by_owner.query(owner=owner, year=year).limit(20)


@design.pattern(requests=1)
def everything(country: str, city: str) -> Collection[Flat]:
    """All that is in a city."""
    return collection(Flat.by_place, country=country, city=city)


@pytest.fixture
def db() -> Any:
    with design.open(":memory:") as opened:
        rows = [
            ("a", "de", "Bonn", 2, "900.50", "by the river"),
            ("b", "de", "Bonn", 10, "80", "a hall"),
            ("c", "de", "Bonn", 2, "1000", "by the park"),
            ("d", "de", "Kiel", 2, "10", "at sea"),
            ("e", "at", "Bonn", 2, "10", "elsewhere"),
        ]
        for name, country, city, rooms, rent, title in rows:
            opened.create(
                Flat(
                    flat_id=name,
                    country=country,
                    city=city,
                    rooms=rooms,
                    rent=Decimal(rent),
                    title=title,
                )
            )
        yield opened


def ids(page: Page[Flat]) -> list[str]:
    return [flat.flat_id for flat in page]


def test_items_stand_in_the_order_of_each_attributes_own_type(db: Any) -> None:
    assert ids(db.read(Flat.by_place.query(country="de", city="Bonn"))) == ["a", "c", "b"]


def test_sort_attributes_are_given_from_the_left_and_a_range_is_over_the_next(db: Any) -> None:
    two = Flat.by_place.query(country="de", city="Bonn", rooms=2)
    assert ids(db.read(two)) == ["a", "c"]
    assert ids(db.read(two.since(rent=Decimal("900.51")))) == ["c"]
    assert ids(db.read(two.before(rent=Decimal(1000)))) == ["a"]
    assert ids(db.read(two.after(rent=Decimal("900.50")).until(rent=Decimal(1000)))) == ["c"]
    whole = Flat.by_place.query(country="de", city="Bonn", rooms=2, rent=Decimal(1000))
    assert ids(db.read(whole.begins_with(title="by"))) == ["c"]
    assert ids(db.read(whole.begins_with(title="at"))) == []
    large = Flat.by_place.query(country="de", city="Bonn").after(rooms=2)
    assert ids(db.read(large)) == ["b"]


def test_patterns_pages_counts_and_collections_read_it(db: Any) -> None:
    assert ids(in_city(db, country="de", city="Bonn", limit=2)) == ["a", "c"]
    bonn = Flat.by_place.query(country="de", city="Bonn")
    first = db.read(bonn, limit=2)
    assert ids(db.read(bonn, limit=2, cursor=first.cursor)) == ["b"]
    assert ids(cheap(db, "de", "Bonn", 2, Decimal(900))) == []
    assert ids(titled(db, "de", "Bonn", 2, Decimal(1000), "by")) == ["c"]
    assert len(everything(db, "de", "Bonn").of(Flat)) == 3
    assert db.read(Flat.by_place.query(country="de", city="Bonn").count()) == 3
    latest = Flat.by_place.query(country="de", city="Bonn").descending().first()
    assert db.read(latest).flat_id == "b"


def test_an_update_of_one_attribute_moves_the_item(db: Any) -> None:
    flat = db.get(Flat.key(flat_id="a"))
    db.update(flat, city="Kiel", rent=Decimal(5))
    assert ids(db.read(Flat.by_place.query(country="de", city="Kiel"))) == ["a", "d"]
    assert not verify(db).drifts


def test_an_item_without_one_of_the_attributes_is_not_in_the_index(db: Any) -> None:
    flat = db.get(Flat.key(flat_id="a"))
    assert ids(db.read(Flat.by_owner.query(owner="ann", year=2026))) == []
    owned = db.update(flat, owner="ann")
    assert ids(db.read(Flat.by_owner.query(owner="ann", year=2026).since(opened=NOON))) == ["a"]
    db.update(owned, owner=None)
    assert ids(db.read(Flat.by_owner.query(owner="ann", year=2026))) == []


def test_items_hold_nothing_more_than_their_fields(db: Any) -> None:
    key = Flat.key(flat_id="a").wire()
    item = db.client.call("GetItem", {"TableName": "rentals", "Key": key})["Item"]
    assert item["rent"] == {"N": "900.5"}
    assert item["country"] == {"S": "de"}
    assert not [name for name in item if name.startswith(("GSI", "ByPlace"))]


def test_a_query_that_the_key_cannot_serve_is_refused_in_words() -> None:
    with pytest.raises(MissingKeyField, match="the whole partition key: city missing"):
        Flat.by_place.query(country="de")
    with pytest.raises(MissingKeyField, match="leading sort fields only: rooms, rent, title"):
        Flat.by_place.query(country="de", city="Bonn", rent=Decimal(1))
    with pytest.raises(DeclarationError, match="the next sort field is rooms"):
        Flat.by_place.query(country="de", city="Bonn").since(rent=Decimal(1))
    query = Flat.by_place.query(country="de", city="Bonn")
    with pytest.raises(DeclarationError, match="no sort key of one text or number"):
        merge(query, query)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (Index("X12", ("a", "b", "c", "d", "e")), "5 attributes as its partition key"),
        (Index("X12", ()), "0 attributes as its partition key"),
        (Index("X12", "a", ("b", "c"), sort_type=("S", "N", "N")), "2 sort attributes and 3 types"),
        (Index("X12", "PK", ("b", "c"), local=True), "Only a global index has several"),
        (Index("X12", ("a", "b"), ("b", "c")), "has b as partition and as sort key"),
        (Index("X12", ("a", "a")), "attribute of its partition key twice"),
    ],
)
def test_an_index_that_dynamodb_would_refuse_is_refused_in_words(index: Index, said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        Design("wrong").table("wrong", indexes=[index])


def test_a_placement_that_does_not_fit_its_index_is_refused_in_words() -> None:
    wrong = Design("wrong")
    place = wrong.table("wrong", indexes=[Index("ByPlace", ("country", "city"), "rent")])

    with pytest.raises(DeclarationError, match="keyed by country and city"):

        class Few(Entity, table=place):
            few_id: Id
            country: str
            rent: str
            key = Key("F#{few_id}", "F")
            by_place = On("ByPlace", "{country}", "{rent}")

    with pytest.raises(DeclarationError, match="'town', which Other does not declare"):

        class Other(Entity, table=place):
            other_id: Id
            country: str
            rent: str
            key = Key("O#{other_id}", "O")
            by_place = On("ByPlace", ("country", "town"), "{rent}")

    with pytest.raises(DeclarationError, match="without padding"):

        class Typed(Entity, table=place):
            typed_id: Id
            country: str
            city: int
            rent: str
            key = Key("T#{typed_id}", "T")
            by_place = On("ByPlace", ("country", "city"), "{rent}")

    with pytest.raises(DeclarationError, match="cannot be one of several key attributes"):
        On("ByPlace", ("country", 3), "{rent}")  # type: ignore[arg-type]


def test_a_condition_that_cannot_keep_items_out_is_refused() -> None:
    wrong = Design("wrong")
    place = wrong.table("wrong", indexes=[Index("ByPlace", ("country", "city"))])

    with pytest.raises(DeclarationError, match="as soon as it has country and city"):

        class Open(Entity, table=place):
            open_id: Id
            country: str
            city: str
            is_open: bool
            key = Key("O#{open_id}", "O")
            by_place = On("ByPlace", ("country", "city"), when=lambda o: o.is_open)


def test_fields_may_stand_in_attributes_of_other_names() -> None:
    other = Design("other")
    place = other.table("other", indexes=[Index("Wide", ("g1", "g2"), ("g3", "g4"))])

    class Thing(Entity, table=place):
        thing_id: Id
        kind: str
        shelf: str
        key = Key("T#{thing_id}", "T")
        wide = On("Wide", ("KIND#{kind}", "shelf"), ("kind", "thing_id"))

    with other.open(":memory:") as db:
        db.create(Thing(thing_id="1", kind="k", shelf="s"))
        asked = Thing.wide.query(kind="k", shelf="s", thing_id="1")
        assert [one.thing_id for one in db.read(asked)] == ["1"]
        wire = Thing.key(thing_id="1").wire()
        item = db.client.call("GetItem", {"TableName": "other", "Key": wire})["Item"]
        assert [item[f"g{n}"]["S"] for n in range(1, 5)] == ["KIND#k", "s", "k", "1"]


def test_a_design_file_says_it_and_comes_back_the_same() -> None:
    schema = design.schema
    text = dumps(schema)
    assert "partition: [country, city]" in text
    again = loads(text)
    assert again.tables == schema.tables
    assert [e.placements for e in again.entities] == [e.placements for e in schema.entities]
    assert again.patterns == schema.patterns


FILE = """
design: flats
tables:
  rentals:
    key: [PK, SK]
    indexes:
      ByPlace: {key: {partition: [country, city], sort: {rooms: N, rent: N}}}
entities:
  Flat:
    key: {PK: "FLAT#{flatId}", SK: FLAT}
    attributes: {flatId: id, country: string, city: string, rooms: number, rent: number}
"""


def test_a_file_over_plain_attributes_needs_no_more_than_the_index() -> None:
    [placement] = loads(FILE).entities[0].placements
    assert str(placement.key) == "{country}, {city} / {rooms}, {rent}"
    assert [*loads(FILE).tables[0].indexes[0].sort_types.values()] == ["N", "N"]


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ("[country, city]", "[a, b, c, d, e]", "1 to 4 attributes, found 5"),
        ("{partition: [country, city],", "{", "partition: "),
        ("key: {PK:", "indexes: {ByPlace: {country: x}}\n    key: {PK:", "ByPlace needs city"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(now: str, then: str, said: str) -> None:
    with pytest.raises(DesignFileError, match=said):
        loads(FILE.replace(now, then))


def test_the_reviewer_finds_nothing_wrong_with_it() -> None:
    found = check(design.schema).findings
    assert [f for f in found if f.severity in ("error", "warning")] == []


def test_the_document_shows_the_request_with_every_attribute() -> None:
    pages = "\n".join(files(design.schema, Path("design.md")).values())
    assert "country, city" in pages
    assert '"#pk1 = :pk1 AND #pk2 = :pk2 AND #sk1 = :sk1 AND #sk2 <= :high"' in pages
    assert "begins_with(#sk3, :sk3)" in pages


def test_the_python_draft_declares_it_again() -> None:
    text = declaration(design.schema)[0]
    assert '("country", "city")' in text
    assert 'sort_type=("N", "N", "S")' in text


def test_a_migration_sees_what_changed_in_its_key() -> None:
    after = design.schema
    assert snapshot.load(snapshot.dump(after), "here").tables == after.tables
    before = changed(after, Index("ByPlace", ("country", "city"), ("rooms", "rent"), sort_type="N"))
    kinds = [change.kind for change in diff(before, after)]
    assert "index changed" in kinds


def changed(schema: Schema, index: Index) -> Schema:
    [one] = schema.tables
    return replace(schema, tables=(replace(one, indexes=(index, *one.indexes[1:])),))
