"""A backend that takes long to answer: pages come with a notice, and follow when it has."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from starlette.testclient import TestClient

from keyfold_engine.clients import Client
from keyfold_workbench.studio import Gate, StudioSystem, create_studio, data

from .conftest import TOKEN
from .test_data import words

CLUB = "/s/clubs/data?table=Clubs&pk=CLUB%23c2"


class Slow:
    """A client whose requests wait until they are let through."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.answers = threading.Event()
        self.held = 0

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.held += not self.answers.is_set()
        self.answers.wait()
        return self.client.call(operation, request)

    def close(self) -> None: ...


@pytest.fixture
def slow(system: StudioSystem) -> Iterator[Slow]:
    made = Slow(system.client)
    system.client = made
    yield made
    made.answers.set()


@pytest.fixture
def visitor(system: StudioSystem, slow: Slow) -> TestClient:
    app = create_studio([system], Gate(token=TOKEN), patience=0.05)
    client = TestClient(app, base_url="http://localhost")
    client.get(f"/?token={TOKEN}")
    return client


@pytest.mark.parametrize("page", ["/", CLUB, "/s/clubs/streams"])
def test_a_page_comes_in_its_frame_with_a_notice_before_the_backend_answers(
    visitor: TestClient, page: str
) -> None:
    answer = visitor.get(page)
    assert answer.status_code == 202
    assert "data-late" in answer.text
    assert "clubs.db has not answered yet" in words(answer.text)
    assert 'href="/s/clubs/map"' in answer.text


def test_the_browser_gets_the_page_of_its_first_request_when_it_asks_again(
    visitor: TestClient, slow: Slow
) -> None:
    assert visitor.get(CLUB).status_code == 202
    held = slow.held
    assert visitor.get(CLUB).status_code == 202
    assert slow.held == held
    slow.answers.set()
    answer = visitor.get(CLUB)
    while answer.status_code == 202:
        answer = visitor.get(CLUB)
    assert answer.status_code == 200
    assert "Rowing" in answer.text


def test_another_browser_does_not_get_the_page_of_the_first(
    system: StudioSystem, slow: Slow
) -> None:
    app = create_studio([system], Gate(token=TOKEN), patience=0.05)
    first, stranger = (TestClient(app, base_url="http://localhost") for _ in range(2))
    first.get(f"/?token={TOKEN}")
    assert first.get(CLUB).status_code == 202
    slow.answers.set()
    assert stranger.get(CLUB).status_code == 401


def test_pages_of_the_design_need_no_answer(system: StudioSystem, slow: Slow) -> None:
    """Without patience every page is waited for, so these would hang if they needed data."""
    client = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://localhost")
    client.get(f"/s/clubs/map?token={TOKEN}")
    for page in ("map", "review", "patterns", "patterns/clubs_of_city", "try"):
        assert client.get("/s/clubs/data").status_code == 200, page
    assert not slow.answers.is_set()
    assert slow.held == 1


def test_numbers_that_are_missing_are_explained_until_they_come(
    system: StudioSystem, slow: Slow
) -> None:
    survey = system.survey
    assert survey.tables(0.0) == {}
    assert "The backend has not answered yet" in survey.notice
    slow.answers.set()
    assert survey.tables(60.0)["Clubs"].items > 0
    assert survey.notice == ""


def test_numbers_that_are_not_there_yet_come_by_themselves(
    system: StudioSystem, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "PATIENCE", 0.05)
    visitor = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://localhost")
    visitor.get(f"/?token={TOKEN}", follow_redirects=False)
    early = visitor.get("/s/clubs/data").text
    assert "The numbers appear when it does." in words(early)
    assert 'id="tables" data-live class="stack"' in early
    slow.answers.set()
    system.survey.tables(60.0)
    later = visitor.get("/s/clubs/data", headers={"X-Part": "tables"}).text
    assert "CITY# rome" in words(later)
    assert "data-live" not in later
