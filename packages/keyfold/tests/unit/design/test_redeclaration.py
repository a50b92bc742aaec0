"""A notebook's cell that is run twice."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from keyfold import Db, Design
from keyfold.errors import DeclarationError
from keyfold.maintain.verify import verify

TABLE = """
table = design.table("films", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
"""
FILM = """
class Film(Entity, table=table):
    film_id: Id
    title: str = ""
    tags: set[str] = set()
    likes: Annotated[int, Counter("Like")] = 0
    key = Key("FILM#{film_id}", "FILM")
    one_title = Unique("title")
"""
LIKE = """
class Like(Entity, table=table):
    film_id: Id
    user_id: Id
    key = Key("LIKE#{film_id}", "{user_id}")
"""
POINTER = """
class Tagged(Pointer[Film], table=table, each="tags"):
    tag: str
    film_id: Id
    key = Key("TAG#{tag}", "{film_id}")
"""
PATTERN = """
@design.pattern(requests=1)
def film(film_id: str) -> Get[Film]:
    return get(Film.key(film_id=film_id))
"""


def cell(source: str, names: dict[str, Any]) -> None:
    exec(compile(source, "<cell>", "exec", dont_inherit=True), names)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    names: dict[str, Any] = {"__name__": "__main__", "design": Design("films")}
    cell("from typing import Annotated\nfrom keyfold import *", names)

    def run(*sources: str) -> Any:
        for source in sources:
            cell(source, names)
        return names

    return run


def used(db: Db, names: Any) -> None:
    film, like = names["Film"], names["Like"]
    db.create(film(film_id="f", title="Fog", tags={"old"}))
    db.create(like(film_id="f", user_id="u"))
    assert db.get(film.key(film_id="f")).likes == 1
    assert verify(db).clean


def test_every_cell_may_be_run_again_and_the_last_counts(cells: Any) -> None:
    everything = (TABLE, FILM, LIKE, POINTER, PATTERN)
    cells(*everything)
    with pytest.warns(UserWarning, match="Tagged copies Film"):
        cells(TABLE, FILM.replace('title: str = ""', 'title: str = ""\n    year: int = 0'))
    cells(POINTER)
    names = cells(LIKE, PATTERN)
    with names["design"].open(":memory:") as db:
        used(db, names)
        assert len(db.read(names["Tagged"].key.query(tag="old"))) == 1
        assert names["film"](db, "f").title == "Fog"


def test_a_counter_finds_the_entity_that_was_declared_again(cells: Any) -> None:
    names = cells(TABLE, FILM, LIKE)
    names["design"].complete()
    names = cells(LIKE)
    with names["design"].open(":memory:") as db:
        used(db, names)
        assert len([m for m in names["design"].maintainers if m.kind == "counter"]) == 1


def test_a_program_that_declares_a_thing_twice_is_refused() -> None:
    names: dict[str, Any] = {"__name__": "__main__", "design": Design("films")}
    cell("from typing import Annotated\nfrom keyfold import *", names)
    cell(TABLE + FILM, names)
    with pytest.raises(DeclarationError, match="declares the entity Film twice"):
        cell(FILM, names)
