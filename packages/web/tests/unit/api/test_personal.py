"""A person gets their data and leaves: whole, in steps, and only they."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import httpx
import pytest

from keyfold import AsyncDb, Design, Entity, Index, Key, On
from keyfold_web import Belonging, Identity, PageRequest, PersonalData, Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.auth import DevelopmentTokens

design = Design("diary")
table = design.table("Diary", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Person(Entity, table=table):
    user_id: str
    full_name: str
    key = Key("USER#{user_id}", "PERSON")


class Page(Entity, table=table):
    user_id: str
    page_no: int
    key = Key("USER#{user_id}", "PAGE#{page_no:06d}")


class Word(Entity, table=table):
    """Something said in a room of several."""

    room_id: str
    word_id: str
    author_id: str | None = None
    text: str
    key = Key("ROOM#{room_id}", "WORD#{word_id}")
    by_author = On("GSI1", "AUTHOR#{author_id}", "{word_id}", when="author_id")


class Receipt(Entity, table=table):
    """Kept by law."""

    user_id: str
    receipt_id: str
    key = Key("USER#{user_id}", "RECEIPT#{receipt_id}")


async def forget_author(service: Diary, word: Word, _: Identity) -> None:
    service.forgotten += 1
    if service.forgotten == service.breaks_at:
        raise RuntimeError("the power went out")
    await service.db.update(word.ref(), author_id=None)


class Diary(PersonalData, Service):
    design: ClassVar[Design] = design
    personal = (
        Belonging("person", lambda id: Person.key(user_id=id)),
        Belonging("pages", lambda id: Page.key.query(user_id=id)),
        Belonging("words", lambda id: Word.by_author.query(author_id=id), leave=forget_author),
        Belonging("receipts", lambda id: Receipt.key.query(user_id=id), kept=True),
    )

    def __init__(self, db: AsyncDb) -> None:
        self.db = db
        self.forgotten, self.breaks_at = 0, -1


@pytest.fixture
async def db() -> AsyncIterator[AsyncDb]:
    async with await design.open_async(":memory:") as db:
        for who in ("mia", "ben"):
            await db.create(Person(user_id=who, full_name=who.title()))
            await db.put_many([Page(user_id=who, page_no=number) for number in range(130)])
            await db.put_many(
                [
                    Word(room_id="hall", word_id=f"{who}{n}", author_id=who, text="x")
                    for n in range(40)
                ]
            )
            await db.create(Receipt(user_id=who, receipt_id="r1"))
        yield db


@pytest.fixture
def service(db: AsyncDb) -> Diary:
    return Diary(db)


@pytest.fixture
async def client(service: Diary) -> AsyncIterator[httpx.AsyncClient]:
    tokens = DevelopmentTokens()
    app = create_app([service], ApiSettings(development=True, tokens=tokens))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=False),
        base_url="http://localhost/diary",
    ) as client:
        client.headers["authorization"] = f"Bearer {tokens.issue('mia')}"
        yield client


async def exported(client: httpx.AsyncClient, who: str = "mia") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        given = {"limit": "50", **({"cursor": cursor} if cursor else {})}
        answer = (await client.get(f"/people/{who}/data", params=given)).json()
        items += answer["items"]
        if (cursor := answer["cursor"]) is None:
            return items


async def test_the_export_has_everything_of_one_person(client: httpx.AsyncClient) -> None:
    items = await exported(client)
    kinds = [one["kind"] for one in items]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "person": 1,
        "pages": 130,
        "words": 40,
        "receipts": 1,
    }
    assert items[0]["item"] == {"userId": "mia", "fullName": "Mia"}
    assert "ben" not in str(items)


async def test_graphql_exports_the_same(client: httpx.AsyncClient) -> None:
    query = """query ($after: String) { personalData(userId: "mia", first: 200, after: $after) {
      nodes { kind item } pageInfo { endCursor } } }"""
    items: list[dict[str, Any]] = []
    after: str | None = None
    while True:
        body = {"query": query, "variables": {"after": after}}
        page = (await client.post("/graphql", json=body)).json()["data"]["personalData"]
        items += page["nodes"]
        if (after := page["pageInfo"]["endCursor"]) is None:
            break
    assert items == await exported(client)


async def of_people(db: AsyncDb) -> list[Person | Page | Receipt]:
    found: list[Person | Page | Receipt] = [one async for one in db.scan(Person)]
    found += [one async for one in db.scan(Page)]
    return found + [one async for one in db.scan(Receipt)]


async def leave(client: httpx.AsyncClient) -> list[int]:
    removed = []
    while not (answer := (await client.delete("/people/mia/data")).json())["done"]:
        removed.append(answer["removed"])
    return removed


async def test_a_deletion_is_done_when_nothing_is_left_and_touches_nobody_else(
    client: httpx.AsyncClient, db: AsyncDb
) -> None:
    others = await of_people(db)
    assert await leave(client) == [100, 71]
    assert [one["kind"] for one in await exported(client)] == ["receipts"]
    left = await of_people(db)
    assert left == [one for one in others if one.user_id == "ben" or isinstance(one, Receipt)]
    authors = [one.author_id async for one in db.scan(Word)]
    assert (authors.count("ben"), authors.count(None)) == (40, 40)


async def test_a_deletion_that_broke_off_goes_on(client: httpx.AsyncClient, service: Diary) -> None:
    service.breaks_at = 7
    assert (await client.delete("/people/mia/data")).json()["removed"] == 100
    assert (await client.delete("/people/mia/data")).status_code == 500
    assert sum(await leave(client)) == 34
    assert [one["kind"] for one in await exported(client)] == ["receipts"]


async def test_nobody_else_gets_or_deletes_it_but_an_administrator(service: Diary) -> None:
    callers = {
        "nobody": Identity(""),
        "ben": Identity.of("ben"),
        "mia": Identity.of("mia"),
        "root": Identity.of("root", "admin"),
    }
    for method in ("personal_data", "delete_personal_data"):
        verdicts = await service.verdicts(method, callers, user_id="mia")
        assert verdicts == {"nobody": 401, "ben": 403, "mia": 200, "root": 200}


def forged(*place: object) -> str:
    return urlsafe_b64encode(json.dumps(place).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        forged(),
        forged([9, None, ""]),
        forged([-1, None, ""]),
        forged([1, "forged", ""]),
        forged([10**400, None, ""]),
    ],
)
async def test_a_cursor_of_something_else_is_refused(
    client: httpx.AsyncClient, cursor: str
) -> None:
    answer = await client.get("/people/mia/data", params={"cursor": cursor})
    assert answer.status_code in (400, 422)


class Shelf(Entity, table=table):
    user_id: str
    shelf_id: str
    key = Key("USER#{user_id}", "SHELF#{shelf_id}")


class Book(Entity, table=table):
    shelf_id: str
    book_id: str
    key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")


class Library(PersonalData, Service):
    design: ClassVar[Design] = design
    personal = (
        Belonging(
            "shelves",
            lambda id: Shelf.key.query(user_id=id),
            inside=(Belonging("books", lambda shelf: Book.key.query(shelf_id=shelf.shelf_id)),),
        ),
        Belonging(
            "again",
            lambda id: Shelf.key.query(user_id=id),
            inside=(
                Belonging("first", lambda shelf: Book.key(shelf_id=shelf.shelf_id, book_id="0")),
            ),
            listed=False,
        ),
        Belonging("secret", lambda id: Shelf.key.query(user_id=id), listed=False),
        Belonging("person", lambda id: Person.key(user_id=id)),
    )


BOOKS = {"a": 3, "b": 0, "c": 5}


@pytest.fixture
async def library(db: AsyncDb) -> Library:
    for shelf, books in BOOKS.items():
        await db.create(Shelf(user_id="mia", shelf_id=shelf))
        await db.put_many([Book(shelf_id=shelf, book_id=str(n)) for n in range(books)])
    return Library(db)


@pytest.mark.parametrize("limit", [1, 2, 4, 50])
async def test_what_is_inside_a_thing_comes_after_it_whatever_the_pages(
    library: Library, limit: int
) -> None:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = await library.personal_data("mia", PageRequest(limit, cursor))
        assert len(page.items) <= limit
        found += [
            f"{one.kind} {one.item.get('shelfId', '')}{one.item.get('bookId', '')}" for one in page
        ]
        if (cursor := page.cursor) is None:
            break
    inside = [
        line
        for shelf, books in BOOKS.items()
        for line in (f"shelves {shelf}", *(f"books {shelf}{n}" for n in range(books)))
    ]
    assert found == [*inside, "first a0", "first c0", "person "]


async def test_what_is_not_listed_is_not_exported_and_goes_with_the_rest(
    library: Library,
) -> None:
    page = await library.personal_data("mia", PageRequest(50, None))
    assert "secret" not in {one.kind for one in page}
    going = {one.name async for one, _ in library.belongings("mia")}
    assert "secret" in going


async def test_an_export_goes_on_when_the_thing_that_it_was_in_is_gone(
    library: Library, db: AsyncDb
) -> None:
    page = await library.personal_data("mia", PageRequest(2, None))
    assert [one.kind for one in page] == ["shelves", "books"]
    await db.delete(Shelf.key(user_id="mia", shelf_id="a"))
    following = await library.personal_data("mia", PageRequest(3, page.cursor))
    assert [one.item.get("bookId", one.item["shelfId"]) for one in following] == ["b", "c", "0"]


async def test_a_page_of_an_export_takes_a_bounded_number_of_reads(
    library: Library, db: AsyncDb
) -> None:
    await db.put_many([Shelf(user_id="ben", shelf_id=f"e{n:03}") for n in range(90)])
    page = await library.personal_data("ben", PageRequest(50, None))
    assert page.cursor is not None
    assert 0 < len(page.items) < 50
