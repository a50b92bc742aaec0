"""The pages of served services."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from keyfold.api import Identity, Payload, Service, anyone, authenticated, mutation, query
from keyfold.api.app import ApiSettings, create_app

from .conftest import served


class Note(Payload):
    note_id: str
    author_id: str
    text: str


class Notes(Service):
    """Notes that everybody can read."""

    def __init__(self) -> None:
        self.notes: dict[str, Note] = {}

    @mutation("/notes", allow=authenticated, status=201, example={"text": "Buy milk"})
    async def write(self, text: str, caller: Identity) -> Note:
        """Write a note."""
        note = Note(note_id=f"n{len(self.notes)}", author_id=caller.id, text=text)
        self.notes[note.note_id] = note
        return note

    @query("/notes", allow=anyone)
    async def notes_so_far(self) -> list[Note]:
        """All notes."""
        return list(self.notes.values())


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    people = {"notes": [Identity.of("mia"), Identity.of("root", "admin")]}

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        yield create_app([Notes()], ApiSettings(development=True, people=people))

    with served(opened) as address:
        yield address


def sign_in(page: Page, site: str) -> None:
    page.goto(f"{site}/")
    page.click("text=Sign in as a demo user")
    page.wait_for_url("**/sign-in")
    page.click("button[data-user=mia]")
    expect(page.locator("#token")).to_have_value(re.compile(r".+\..+\..+"))


def test_a_demo_user_signs_in_and_tries_an_operation_on_the_rest_page(
    page: Page, site: str
) -> None:
    sign_in(page, site)
    page.goto(f"{site}/")
    expect(page.locator("#who")).to_have_text("Signed in as mia")
    page.click("text=REST: try it")
    page.click(".opblock-post .opblock-summary-control")
    assert "Buy milk" in page.input_value(".opblock-post textarea")
    page.click(".opblock-post button.execute")
    page.wait_for_selector(".live-responses-table .response-col_status >> text=201")
    assert '"authorId": "mia"' in page.inner_text(".live-responses-table")


def test_the_reference_page_shows_every_operation(page: Page, site: str) -> None:
    page.goto(f"{site}/notes/redoc")
    page.wait_for_selector("h2 >> text=Write a note.")
    page.wait_for_selector("h2 >> text=All notes.")


def test_a_query_is_composed_and_run_on_the_graphql_page(page: Page, site: str) -> None:
    sign_in(page, site)
    page.goto(f"{site}/notes/graphql")
    page.click("#schema button >> text=write(text: String!): Note")
    assert "write(text: $text)" in page.input_value("#query")
    page.fill("#variables", '{"text": "From the browser"}')
    page.click("#run")
    expect(page.locator("#answer")).to_contain_text("From the browser")
    page.fill("#filter", "sofar")
    page.click("#schema button >> text=notesSoFar")
    page.press("#query", "Control+Enter")
    expect(page.locator("#answer")).to_contain_text("notesSoFar")
    expect(page.locator("#answer")).to_contain_text("From the browser")
    page.fill("#variables", "{")
    page.click("#run")
    expect(page.locator("#answer")).to_contain_text("no JSON")


def test_the_graphql_page_offers_what_can_stand_at_the_caret(page: Page, site: str) -> None:
    sign_in(page, site)
    page.goto(f"{site}/notes/graphql")
    page.wait_for_selector("#schema button")
    page.fill("#query", "")
    page.focus("#query")
    page.keyboard.type("mut")
    expect(page.locator("#offers li")).to_have_text(["mutation "])
    page.keyboard.press("Tab")
    page.keyboard.type(" { wr")
    page.keyboard.press("Enter")
    page.keyboard.type("(")
    page.keyboard.press("Control+Space")
    expect(page.locator("#offers li")).to_have_text(["text: String!"])
    page.keyboard.press("Tab")
    page.keyboard.type('"By keys") { n')
    page.keyboard.press("Tab")
    page.keyboard.type(" te")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.keyboard.type(" }}")
    expected = 'mutation { write(text: "By keys") { noteId text }}'
    expect(page.locator("#query")).to_have_value(expected)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer")).to_contain_text("By keys")
