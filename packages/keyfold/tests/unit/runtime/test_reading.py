"""Parts of an item, pages to the end, and reads that may be a moment old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from keyfold import Db, Design, Entity, First, Get, Id, Index, Key, On, Projected, Query, get
from keyfold.design.schema import PatternSchema
from keyfold.errors import DeclarationError, Undecodable
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("reading")
table = design.table(
    "reading",
    indexes=[
        Index("ByTag", "GSI1PK", "GSI1SK", projection="INCLUDE", included=("title", "type")),
        Index("ByAuthor", "GSI2PK", "GSI2SK", projection="KEYS_ONLY"),
    ],
)


class Note(Entity, table=table):
    user_id: Id
    note_id: Id
    title: str
    body: str = ""
    tag: str = "none"
    key = Key("USER#{user_id}", "NOTE#{note_id}")
    by_tag = On("ByTag", "TAG#{tag}", "NOTE#{note_id}")
    by_author = On("ByAuthor", "AUTHOR#{user_id}", "{tag}")


class Heading(BaseModel):
    note_id: str
    title: str


class Title(BaseModel):
    title: str


@design.pattern(requests=1)
def headings(user_id: str, limit: int = 2) -> Projected[Heading]:
    return Note.key.query(user_id=user_id).limit(limit).only(Heading)


@design.pattern(requests=1)
def titles_of(tag: str) -> Projected[Title]:
    return Note.by_tag.query(tag=tag).only(Title)


@design.pattern(requests=1)
def notes_of(user_id: str, limit: int = 2) -> Query[Note]:
    return Note.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def note(user_id: str, note_id: str) -> Get[Note]:
    return get(Note.key(user_id=user_id, note_id=note_id)).eventual()


class Recorded(EmbeddedClient):
    """The embedded client, with every request kept."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.requests: list[tuple[str, Mapping[str, Any]]] = []

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.requests.append((operation, request))
        return super().call(operation, request)


@pytest.fixture
def client() -> Recorded:
    return Recorded(Engine.open(":memory:"))


@pytest.fixture
def db(client: Recorded) -> Iterator[Db]:
    with design.open(client) as handle:
        for number in range(5):
            handle.create(
                Note(user_id="u", note_id=f"n{number}", title=f"t{number}", body="x", tag="a")
            )
        client.requests.clear()
        yield handle


def test_a_projection_asks_for_its_fields_and_the_key(db: Db, client: Recorded) -> None:
    page = headings(db, "u")
    assert page.items == [Heading(note_id="n0", title="t0"), Heading(note_id="n1", title="t1")]
    ((operation, request),) = client.requests
    assert operation == "Query"
    assert request == {
        "TableName": "reading",
        "KeyConditionExpression": "#0 = :0 AND begins_with(#1, :1)",
        "ProjectionExpression": "#2, #3, #0, #1",
        "ExpressionAttributeNames": {"#0": "PK", "#1": "SK", "#2": "noteId", "#3": "title"},
        "ExpressionAttributeValues": {":0": {"S": "USER#u"}, ":1": {"S": "NOTE#"}},
        "Limit": 2,
    }


def test_a_projection_reads_an_index_that_holds_its_fields(db: Db) -> None:
    assert [found.title for found in titles_of(db, "a")] == ["t0", "t1", "t2", "t3", "t4"]


def test_the_plan_of_a_projection_names_its_fields() -> None:
    assert headings.describe().projection == ("note_id", "title")


def test_an_item_that_does_not_fit_the_smaller_model_is_reported(db: Db, client: Recorded) -> None:
    client.call(
        "PutItem",
        {
            "TableName": "reading",
            "Item": {
                "PK": {"S": "USER#u"},
                "SK": {"S": "NOTE#"},
                "type": {"S": "Note"},
                "noteId": {"S": ""},
            },
        },
    )
    with pytest.raises(Undecodable, match=r"SK='NOTE#'.*cannot be read as Heading: title"):
        headings(db, "u")


def test_a_model_with_a_field_of_its_own_is_refused_where_it_is_declared() -> None:
    class Wrong(BaseModel):
        title: str
        colour: str

    with pytest.raises(DeclarationError, match="Wrong has the fields colour"):
        Note.key.query(user_id="u").only(Wrong)


def test_a_whole_entity_cannot_be_read_from_an_index_with_a_part_of_it(db: Db) -> None:
    with pytest.raises(DeclarationError, match=r"ByTag \(INCLUDE\) does not hold user_id") as found:

        @design.pattern()
        def notes_with(tag: str) -> Query[Note]:
            return Note.by_tag.query(tag=tag)

    assert found.value.code == "X10"
    with pytest.raises(DeclarationError, match="ByAuthor"):

        @design.pattern()
        def first_of(user_id: str) -> First[Note]:
            return Note.by_author.query(user_id=user_id).first()

    with pytest.raises(DeclarationError, match="ByAuthor"):
        db.read(Note.by_author.query(user_id="u"))


def test_a_count_needs_no_fields(db: Db) -> None:
    assert db.read(Note.by_author.query(user_id="u").count()) == 5


def test_pages_of_a_pattern_go_to_the_end(db: Db, client: Recorded) -> None:
    pages = list(notes_of.pages(db, "u"))
    assert [[found.note_id for found in page] for page in pages] == [
        ["n0", "n1"],
        ["n2", "n3"],
        ["n4"],
    ]
    assert len(client.requests) == 3


def test_pages_of_a_pattern_continue_behind_a_cursor(db: Db) -> None:
    first = headings(db, "u")
    rest = [found.note_id for page in headings.after(first.cursor).pages(db, "u") for found in page]
    assert rest == ["n2", "n3", "n4"]


async def test_pages_of_a_pattern_on_an_async_handle() -> None:
    async with await design.open_async(":memory:") as db:
        for number in range(3):
            await db.create(Note(user_id="u", note_id=f"n{number}", title="t"))
        found = [note.note_id async for page in notes_of.pages(db, "u") for note in page]
    assert found == ["n0", "n1", "n2"]


def test_everything_of_a_projected_read(db: Db) -> None:
    wanted = Note.key.query(user_id="u").only(Title)
    assert [found.title for found in db.iterate(wanted)] == ["t0", "t1", "t2", "t3", "t4"]


def test_an_eventual_get_asks_for_no_consistency(db: Db, client: Recorded) -> None:
    assert note(db, "u", "n1") is not None
    assert "ConsistentRead" not in client.requests[0][1]
    described = note.describe()
    assert isinstance(described, PatternSchema)
    assert not described.consistent
