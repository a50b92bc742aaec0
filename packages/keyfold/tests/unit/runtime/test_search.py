"""Vectors in a design: declared on a field, searched by an access pattern, refused when wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError

from keyfold import Design, Entity, Id, Key, Name, Query, Ttl
from keyfold.errors import DeclarationError, MissingKeyField, PlanError
from keyfold.vectors import Nearest, Neighbour, Vector, nearest


class Title(BaseModel):
    note_id: str
    title: str


def _notes() -> Any:
    design = Design("notes")
    table = design.table("Notes", ttl="ttl")

    class Note(Entity, table=table):
        owner: Id
        note_id: Id
        title: str
        language: str | None = None
        embedding: Annotated[
            list[float], Vector(3, "cosine", within="owner", filters=("language",))
        ]
        gone_at: Annotated[datetime | None, Ttl()] = None
        key = Key("OWNER#{owner}", "NOTE#{note_id}")

    class Photo(Entity, table=table):
        owner: Id
        photo_id: Id
        language: str = "none"
        embedding: Annotated[
            list[float], Vector(3, "cosine", within="owner", filters=("language",))
        ]
        key = Key("OWNER#{owner}", "PHOTO#{photo_id}")

    @design.pattern()
    def similar(owner: str, vector: list[float], limit: int = 2) -> Nearest[Note]:
        """Notes like this one."""
        return nearest(Note, vector, owner=owner).limit(limit)

    @design.pattern()
    def similar_titles(owner: str, language: str, vector: list[float]) -> Nearest[Title]:
        """Titles of notes in a language."""
        return nearest(Note, vector, owner=owner, language=language).only(Title)

    @design.pattern()
    def notes_of(owner: str) -> Query[Note]:
        """All notes of an owner."""
        return Note.key.query(owner=owner)

    return design, Note, Photo, similar, similar_titles


@pytest.fixture
def notes() -> Any:
    return _notes()


def _fill(db: Any, note: Any, photo: Any) -> None:
    for id, vector in (("tea", [1.0, 0, 0]), ("coffee", [0.9, 0.1, 0]), ("taxes", [0, 0, 1.0])):
        db.put(note(owner="mia", note_id=id, title=id, language="en", embedding=vector))
    db.put(note(owner="mia", note_id="thé", title="thé", language="fr", embedding=[1, 0, 0]))
    db.put(note(owner="noa", note_id="milk", title="milk", embedding=[1, 0, 0]))
    db.put(photo(owner="mia", photo_id="cup", embedding=[1, 0, 0]))


def test_a_search_gives_neighbours_of_one_entity_and_owner_with_scores(notes: Any) -> None:
    design, note, photo, similar, _ = notes
    with design.open(":memory:", create_tables=True) as db:
        _fill(db, note, photo)
        found = similar(db, "mia", [1.0, 0.0, 0.0], limit=3)
        assert [(one.item.note_id, round(one.score, 4)) for one in found] == [
            ("tea", 0.0),
            ("thé", 0.0),
            ("coffee", 0.0061),
        ]
        assert isinstance(found[0], Neighbour)
        assert found[0].item == db.get(note.key(owner="mia", note_id="tea"))
        assert len(similar(db, "mia", [1.0, 0.0, 0.0])) == 2
        assert similar(db, "nobody", [1.0, 0.0, 0.0]) == []


def test_a_search_asks_for_filters_and_reads_less(notes: Any) -> None:
    design, note, photo, _, similar_titles = notes
    with design.open(":memory:", create_tables=True) as db:
        _fill(db, note, photo)
        found = similar_titles(db, "mia", "fr", [1, 0, 0])
        assert [one.item for one in found] == [Title(note_id="thé", title="thé")]


async def test_a_search_is_awaited_on_an_async_handle(notes: Any) -> None:
    design, note, _, similar, _ = notes
    async with await design.open_async(":memory:", create_tables=True) as db:
        await db.put(note(owner="mia", note_id="tea", title="tea", embedding=[1, 0, 0]))
        [found] = await similar(db, "mia", [1, 0, 0])
        assert (found.item.title, found.score) == ("tea", 0.0)


def test_what_has_expired_is_not_found(notes: Any) -> None:
    design, note, _, similar, _ = notes
    past = datetime.now(UTC) - timedelta(days=1)
    with design.open(":memory:", create_tables=True) as db:
        gone = note(owner="mia", note_id="a", title="a", embedding=[1, 0, 0], gone_at=past)
        db.put(gone)
        assert similar(db, "mia", [1, 0, 0]) == []


@pytest.mark.parametrize("vector", [[1.0], [1.0, 0, float("nan")], [1e39, 0, 0]])
def test_a_wrong_vector_is_refused_before_it_is_sent(notes: Any, vector: list[float]) -> None:
    design, note, _, similar, _ = notes
    with pytest.raises(ValidationError, match="a vector"):
        note(owner="mia", note_id="a", title="a", embedding=vector)
    with (
        design.open(":memory:", create_tables=True) as db,
        pytest.raises(PlanError, match=r"Note\.embedding: a vector"),
    ):
        similar(db, "mia", vector)


def test_the_schema_has_the_index_and_the_search(notes: Any) -> None:
    schema = notes[0].schema
    [index] = schema.tables[0].vectors
    assert (index.name, index.attribute, index.dimensions) == ("by_embedding", "embedding", 3)
    assert (index.within, index.filters) == ("owner", ("language", "type"))
    similar, titles = schema.searches
    assert (similar.entity, similar.index, similar.given, similar.limit) == (
        "Note",
        "by_embedding",
        ("owner",),
        2,
    )
    assert titles.projection == ("note_id", "title")
    assert [pattern.name for pattern in schema.patterns] == ["notes_of"]


def _declared(mark: Vector, **more: Any) -> None:
    design = Design("wrong")
    table = design.table("Wrong", **more)

    class Thing(Entity, table=table):
        thing_id: Id
        owner: str | None = None
        flags: dict[str, int] = {}
        embedding: Annotated[list[float], mark]
        key = Key("THING#{thing_id}", "THING")

    assert design.schema


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (Vector(0), "0 dimensions cannot be indexed"),
        (Vector(5000), "5000 dimensions cannot be indexed"),
        (Vector(3, "manhattan"), "'manhattan' is not a distance"),  # type: ignore[arg-type]
        (Vector(3, within="nobody"), "'nobody' is not a stored text"),
        (Vector(3, within="owner"), "owner may be missing"),
        (Vector(3, filters=("flags",)), "'flags' is not a stored text"),
        (Vector(3, filters=("owner",) * 18), "18 filters"),
    ],
    ids=["none", "many", "distance", "unknown", "optional", "map", "filters"],
)
def test_a_wrong_declaration_is_refused(mark: Vector, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        _declared(mark)


def test_a_vector_stands_on_a_list() -> None:
    design = Design("wrong")
    table = design.table("Wrong")
    with pytest.raises(DeclarationError, match="Vector is on a field of kind string"):

        class Thing(Entity, table=table):
            thing_id: Id
            embedding: Annotated[str, Vector(3)]
            key = Key("THING#{thing_id}", "THING")


def test_an_attribute_of_the_index_is_nothing_else_elsewhere() -> None:
    design = Design("wrong")
    table = design.table("Wrong")

    class Thing(Entity, table=table):
        thing_id: Id
        embedding: Annotated[list[float], Vector(3)]
        key = Key("THING#{thing_id}", "THING")

    class Other(Entity, table=table):
        other_id: Id
        meaning: Annotated[str, Name("embedding")]
        key = Key("OTHER#{other_id}", "OTHER")

    with pytest.raises(DeclarationError, match=r"Other\.meaning is stored as 'embedding'"):
        assert design.schema


def test_a_search_has_to_say_within_what_and_knows_its_filters(notes: Any) -> None:
    _, note, _, _, _ = notes
    with pytest.raises(MissingKeyField, match="needs owner"):
        nearest(note, [1, 0, 0])
    with pytest.raises(MissingKeyField, match="cannot filter by title"):
        nearest(note, [1, 0, 0], owner="mia", title="x")
    with pytest.raises(DeclarationError, match="no vector 'title'"):
        nearest(note, [1, 0, 0], field="title", owner="mia")


@pytest.mark.parametrize("items", [0, 101])
def test_a_search_for_more_neighbours_than_dynamodb_returns_is_refused(
    notes: Any, items: int
) -> None:
    _, note, _, _, _ = notes
    with pytest.raises(DeclarationError, match=f"cannot return {items} neighbours"):
        nearest(note, [1, 0, 0], owner="mia").limit(items)
