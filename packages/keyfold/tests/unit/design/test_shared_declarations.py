"""Entities that inherit fields and keys, pointers with fields of other names, more types."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from keyfold import (
    Counter,
    Created,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Normalised,
    On,
    Pointer,
    Timestamp,
    Unique,
)
from keyfold.design.file import dumps, loads
from keyfold.errors import DeclarationError, UniqueTaken
from keyfold.maintain.verify import verify
from keyfold.review.docs import files
from keyfold.review.draft.python import declaration
from keyfold.structures import From

design = Design("shared")
table = design.table(
    "shared",
    indexes=[Index("GSI1", "GSI1PK", "GSI1SK"), Index("Long", "GSI2PK", "length", sort_type="N")],
)


class Owned(Entity):
    """What somebody owns: fields and keys that several entities share."""

    thing_id: Id
    owner: str
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("THING#{thing_id}", "THING")
    by_owner = On("GSI1", "OWNER#{owner}", "{thing_id}")


class Car(Owned, table=table):
    doors: int = 4
    key = Key("CAR#{thing_id}", "CAR")


class House(Owned, table=table):
    owner: Annotated[str, Normalised(str.casefold)]
    rooms: int = 1
    one_owner = Unique("owner")


class Villa(House, table=table):
    pool: bool = True
    key = Key("VILLA#{thing_id}", "VILLA")


class Rank(IntEnum):
    LOW = 1
    HIGH = 20


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str


class Transfer(BaseModel):
    kind: Literal["transfer"] = "transfer"
    iban: str
    held: timedelta = timedelta(days=1)


class Film(Entity, table=table):
    film_id: Id
    title: str
    length: timedelta
    rank: Rank = Rank.LOW
    mood: Mood = Mood.GOOD
    paid: Annotated[Card | Transfer, Field(discriminator="kind")] = Card(number="1")
    likes: Annotated[int, Counter("Like")] = 0
    shelves: set[str] = set()

    key = Key("FILM#{film_id}", "{mood}#{rank:03d}")
    by_length = On("Long", "FILMS", "{length}")
    by_text = On("GSI1", "MOOD#{mood}", "{length:012.3f}#{film_id}")


class Like(Entity, table=table):
    film_id: Id
    mood: Mood
    rank: Rank
    user_id: Id
    key = Key("LIKE#{film_id}", "{user_id}")


class OnShelf(Pointer[Film], table=table, each="shelves", when=lambda film: film.rank == Rank.HIGH):
    shelf: str
    ident: Annotated[Id, From("film_id")]
    heading: Annotated[str, From("title")]
    popular: Annotated[int, From("likes")]
    mood: Mood
    rank: Rank
    key = Key("SHELF#{shelf}", "{ident}")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def film(**given: Any) -> Film:
    values = {"film_id": "f", "title": "Fog", "length": timedelta(hours=1)}
    return Film(**{**values, **given})


def test_entities_share_fields_and_keys_and_each_has_its_own(db: Db) -> None:
    car = db.create(Car(thing_id="1", owner="Ada"))
    house = db.create(House(thing_id="1", owner="Ada"))
    assert car.created_at is not None
    assert house.owner == "ada"
    assert car.ref().wire()["PK"] == {"S": "CAR#1"}
    assert house.ref().wire()["PK"] == {"S": "THING#1"}
    # The key of a parent knows how each of its children writes a field.
    assert db.read(House.by_owner.query(owner="ADA")).items == [house]
    assert db.read(Car.by_owner.query(owner="Ada")).items == [car]
    assert Car.by_owner.declared is not House.by_owner.declared


def test_an_entity_extends_another_of_its_table(db: Db) -> None:
    villa = db.create(Villa(thing_id="1", owner="Bob", rooms=9))
    assert db.get(Villa.key(thing_id="1")) == villa
    with pytest.raises(UniqueTaken):
        db.create(Villa(thing_id="2", owner="BOB"))
    db.create(House(thing_id="3", owner="bob"))


def test_a_length_of_time_is_seconds_and_sorts(db: Db) -> None:
    lengths = [timedelta(hours=10), timedelta(seconds=9.5), timedelta(days=400, milliseconds=1)]
    for number, length in enumerate(lengths):
        made = db.create(film(film_id=str(number), length=length))
        assert made.length == length
    query = Film.by_length.query().since(length=timedelta(minutes=1))
    assert [one.length for one in db.read(query)] == [lengths[0], lengths[2]]
    stored = db.client.call(
        "GetItem", {"TableName": "shared", "Key": film(film_id="1").ref().wire()}
    )
    assert stored["Item"]["length"] == {"N": "9.5"}
    found = db.read(Film.by_text.query(mood=Mood.GOOD).before(length=timedelta(hours=11)))
    assert [one.film_id for one in found] == ["1", "0"]


def test_members_of_enums_stand_in_keys_by_their_values(db: Db) -> None:
    made = db.create(film(mood=Mood.BAD, rank=Rank.HIGH))
    assert made.ref().wire()["SK"] == {"S": "bad#020"}
    assert db.get(Film.key(film_id="f", mood=Mood.BAD, rank=Rank.HIGH)) == made


def test_a_union_is_read_by_its_type_field(db: Db) -> None:
    paid = Transfer(iban="NO1", held=timedelta(hours=3))
    made = db.create(film(paid=paid))
    assert db.get(made.ref()).paid == paid
    assert db.update(made, paid=Card(number="7")).paid == Card(number="7")


def test_a_pointer_gives_fields_other_names_and_follows_them(db: Db) -> None:
    made = db.create(film(rank=Rank.HIGH, shelves={"a", "b"}))
    db.create(Like(film_id="f", mood=made.mood, rank=made.rank, user_id="u"))
    made = db.update(db.get(made.ref()), title="Mist", shelves={"a"})
    [shown] = db.read(OnShelf.key.query(shelf="a"))
    assert (shown.ident, shown.heading, shown.popular) == ("f", "Mist", 1)
    assert db.read(OnShelf.key.query(shelf="b")).items == []
    assert verify(db).clean
    db.delete(made)
    assert db.read(OnShelf.key.query(shelf="a")).items == []


def test_a_pointer_with_a_condition_is_there_for_some(db: Db) -> None:
    db.create(film(rank=Rank.LOW, shelves={"a"}))
    assert db.read(OnShelf.key.query(shelf="a")).items == []


def test_a_copy_of_a_field_that_is_not_there_is_refused() -> None:
    with pytest.raises(DeclarationError, match="'name', which is not a field of Film"):

        class Wrong(Pointer[Film], table=table):
            heading: Annotated[str, From("name")]
            film_id: Id
            key = Key("WRONG#{film_id}", "X")


def test_a_pointer_to_a_pointer_is_refused_in_words() -> None:
    with pytest.raises(DeclarationError, match=r"is a pointer itself.*Pointer\[Film\]"):

        class Second(Pointer[OnShelf], table=table):
            shelf: str
            ident: Id
            key = Key("SECOND#{shelf}", "{ident}")


def test_documents_and_design_files_say_what_is_a_copy_of_what() -> None:
    schema = design.schema
    assert schema.by_entity["OnShelf"].by_field["heading"].copies == "title"
    assert schema.by_entity["Film"].by_field["length"].type == "duration"
    assert "a copy of title" in next(iter(files(schema, Path("d.md")).values()))
    again = loads(dumps(schema))
    assert again.by_entity["OnShelf"].attributes == schema.by_entity["OnShelf"].attributes
    text, _ = declaration(again)
    assert 'heading: Annotated[str, From("title")]' in text
    assert "length: timedelta" in text
