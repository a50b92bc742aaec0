"""Vector searches on the pages: listed with the patterns, run by numbers or by an item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import pytest
from starlette.testclient import TestClient

from keyfold import Design, Entity, Id, Key
from keyfold.vectors import Nearest, Vector, nearest
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .test_data import words

design = Design("notes")
table = design.table("Notes")


class Note(Entity, table=table):
    """Something that somebody wrote down."""

    owner_id: Id
    note_id: Id
    title: str
    embedding: Annotated[list[float], Vector(5, "cosine", within="owner_id")]
    key = Key("OWNER#{owner_id}", "NOTE#{note_id}")


@design.pattern()
def similar(owner_id: str, vector: list[float], limit: int = 2) -> Nearest[Note]:
    """An owner's notes that mean the same."""
    return nearest(Note, vector, owner_id=owner_id).limit(limit)


@pytest.fixture
def system() -> Iterator[StudioSystem]:
    with design.open(":memory:") as db:
        for title, vector in (
            ("tea", [1.0, 0, 0, 0, 0]),
            ("coffee", [0.9, 0.1, 0, 0, 0]),
            ("taxes", [0, 0, 1.0, 0, 0]),
        ):
            db.put(Note(owner_id="mia", note_id=title, title=title, embedding=vector))
        yield StudioSystem(
            "notes", "notes", design.schema, db.client, "notes.db", writable=True, design=design
        )


@pytest.fixture
def browser(system: StudioSystem) -> TestClient:
    gate = Gate(token="a-token")
    client = TestClient(create_studio([system], gate), base_url="http://127.0.0.1:8090")
    client.get("/?token=a-token")
    return client


def run(browser: TestClient, vector: str) -> str:
    asked = {"owner_id": "mia", "vector": vector, "limit": "2", "run": "1"}
    return browser.get("/s/notes/patterns/similar", params=asked).text


def found(page: str) -> list[str]:
    """The notes that the answer leads to."""
    return re.findall(r"isk=NOTE%23(\w+)", page)


def test_a_search_is_an_access_pattern_with_its_reasons(browser: TestClient) -> None:
    page = words(browser.get("/s/notes/patterns/similar").text)
    assert "Patterns 1" in page
    assert "the vector index by_embedding" in page
    assert "cosine of 5 numbers; a smaller score is nearer" in page


def test_numbers_find_their_neighbours_the_nearest_first(browser: TestClient) -> None:
    made = run(browser, "1, 0, 0, 0, 0")
    assert found(made) == ["tea", "coffee"]
    page = words(made)
    assert "nearest first" in page
    assert "SearchVectors" in page
    assert "Looked at" in page


def test_an_item_of_the_data_can_be_given_for_its_vector(browser: TestClient) -> None:
    offered = browser.get("/s/notes/patterns/similar").text
    assert 'value="OWNER#mia › NOTE#taxes"' in offered
    assert found(run(browser, "OWNER#mia › NOTE#taxes"))[0] == "taxes"


@pytest.mark.parametrize(
    ("vector", "said"),
    [
        ("nonsense", "No item nonsense with a vector. Give 5 numbers"),
        ("OWNER#mia › NOTE#none", "No item OWNER#mia › NOTE#none with a vector"),
        ("1, 2", "a vector has 5 numbers, not 2"),
        ("", "Give vector."),
    ],
)
def test_a_wrong_vector_is_said_to_be_wrong(browser: TestClient, vector: str, said: str) -> None:
    assert said in words(run(browser, vector))


def test_items_show_the_beginning_of_a_vector(browser: TestClient) -> None:
    page = browser.get("/s/notes/data?table=Notes&pk=OWNER%23mia&isk=NOTE%23tea").text
    assert "1, 0, 0, … (5 numbers)" in words(page)


def test_the_map_has_vector_indexes_beside_the_others(browser: TestClient) -> None:
    page = words(browser.get("/s/notes/map").text)
    assert "by_embedding embedding, cosine" in page
    assert "ownerId 5 numbers" in page


def test_a_search_of_a_design_file_shows_its_request(system: StudioSystem) -> None:
    system.design = None
    client = TestClient(create_studio([system], Gate(token="t")), base_url="http://127.0.0.1:8090")
    client.get("/?token=t")
    page = words(client.get("/s/notes/patterns/similar").text)
    assert '"SearchConditionExpression": "#owner_id = :owner_id AND #type = :type"' in page
