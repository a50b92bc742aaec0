"""The pages of served services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect
from starlette.applications import Starlette

from keyfold_web import Identity, Payload, Service, anyone, authenticated, mutation, query
from keyfold_web.app import ApiSettings, create_app

from .conftest import served


class Note(Payload):
    note_id: str
    author_id: str
    text: str


class Notes(Service):
    """Notes that everybody can read."""

    def __init__(self) -> None:
        self.notes = {"n0": Note(note_id="n0", author_id="mia", text="The first")}

    @mutation("/notes", allow=authenticated, status=201)
    async def write(self, text: str, caller: Identity) -> Note:
        """Write a note."""
        note = Note(note_id=f"n{len(self.notes)}", author_id=caller.id, text=text)
        self.notes[note.note_id] = note
        return note

    @query("/notes/{note_id}", allow=anyone)
    async def note(self, note_id: str) -> Note:
        """One note."""
        return self.notes[note_id]

    @query("/notes", allow=anyone)
    async def notes_so_far(self) -> list[Note]:
        """All notes."""
        return list(self.notes.values())


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    people = {"notes": [Identity.of("mia"), Identity.of("root", "admin")]}

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        settings = ApiSettings(development=True, people=people, examples={"notes": stored})
        yield create_app([Notes()], settings)

    with served(opened) as address:
        yield address


def stored(fields: Sequence[str], user: str) -> dict[str, str]:
    """What a service's data would offer."""
    known = {"text": f"A note of {user}", "note_id": "n0"}
    return {name: known[name] for name in fields if name in known}


def sign_in(page: Page, site: str) -> None:
    page.goto(f"{site}/")
    with page.expect_navigation():
        page.select_option("#who", "mia")


def test_a_demo_user_tries_an_operation_on_the_rest_page(page: Page, site: str) -> None:
    sign_in(page, site)
    page.click("text=REST")
    expect(page.locator("#who")).to_have_value("mia")
    page.click(".opblock-post .opblock-summary-control")
    assert "A note of mia" in page.input_value(".opblock-post textarea")
    page.click(".opblock-post button.execute")
    page.wait_for_selector(".live-responses-table .response-col_status >> text=201")
    assert '"authorId": "mia"' in page.inner_text(".live-responses-table")


def test_who_you_are_stands_there_before_a_large_script_has_come(page: Page, site: str) -> None:
    sign_in(page, site)
    waiting: list[Route] = []
    page.route("**/swagger-ui-bundle.js", lambda one: waiting.append(one))
    page.goto(f"{site}/notes/docs", wait_until="commit")
    expect(page.locator("#who")).to_have_value("mia")
    page.unroute("**/swagger-ui-bundle.js")
    for one in waiting:
        one.continue_()
    expect(page.get_by_text("Notes").first).to_be_visible()


def test_parameters_are_filled_with_ids_that_exist(page: Page, site: str) -> None:
    sign_in(page, site)
    page.goto(f"{site}/notes/docs#/notes/note")
    page.click("#operations-notes-note button.execute")
    assert page.input_value("#operations-notes-note input") == "n0"
    page.wait_for_selector(".live-responses-table .response-col_status >> text=200")


def test_somebody_else_is_asked_who_they_are(page: Page, site: str) -> None:
    page.goto(f"{site}/notes/docs")
    page.once("dialog", lambda asked: asked.accept("zoe, keepers admin"))
    with page.expect_navigation():
        page.select_option("#who", label="somebody else…")
    page.goto(f"{site}/notes/graphql")
    expect(page.locator("#who")).to_have_value("zoe")
    claims = page.evaluate("JSON.parse(atob(localStorage.getItem('keyfold-token').split('.')[1]))")
    assert (claims["sub"], claims["groups"]) == ("zoe", ["admin", "keepers"])
    token = page.evaluate("localStorage.getItem('keyfold-token')")
    page.once("dialog", lambda asked: asked.dismiss())
    page.select_option("#who", label="somebody else…")
    expect(page.locator("#who")).to_have_value("zoe")
    assert page.evaluate("localStorage.getItem('keyfold-token')") == token
    with page.expect_navigation():
        page.select_option("#who", label="nobody")
    assert page.evaluate("localStorage.getItem('keyfold-token')") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_has_the_way_back_the_same_name_and_the_chosen_look(
    page: Page, site: str, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for name in ("docs", "graphql"):
        page.goto(f"{site}/notes/{name}")
        expect(page.locator(".crumbs [aria-current]")).to_have_text("Notes")
        expect(page.locator(".tabs [aria-current]")).to_have_attribute("href", name)
        shade = page.evaluate(
            "getComputedStyle(document.querySelector('.top')).backgroundColor.match(/\\d+/)[0]"
        )
        assert (int(shade) < 128) == (scheme == "dark")
        page.click(".crumbs a")
        page.wait_for_url(f"{site}/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_for_developers(page: Page, site: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for place in ("", "notes/docs", "notes/graphql"):
        page.goto(f"{site}/{place}")
        page.wait_for_load_state("networkidle")
        page.locator("h1").first.wait_for(state="attached")  # Swagger UI draws when all is loaded
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [n["html"] for n in one["nodes"]]) for one in found] == [], place


def test_a_query_is_composed_and_run_on_the_graphql_page(page: Page, site: str) -> None:
    sign_in(page, site)
    page.goto(f"{site}/notes/graphql")
    page.click("#schema button >> text=write(text: String!): Note")
    assert "write(text: $text)" in page.input_value("#query")
    assert "A note of mia" in page.input_value("#variables")
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
    expect(page.locator("#answer")).to_contain_text("not valid JSON")


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
    page.fill("#query", "")
    page.focus("#query")
    page.keyboard.type('{ note(noteId: "')
    expect(page.locator("#offers li")).to_have_text(['n0" stored'])
    page.keyboard.press("Tab")
    expect(page.locator("#query")).to_have_value('{ note(noteId: "n0"')


def open_explorer(page: Page, site: str) -> None:
    sign_in(page, site)
    page.goto(f"{site}/notes/graphql")
    page.wait_for_selector("#schema button")


def test_the_graphql_page_colours_lays_out_and_runs_the_operation_at_the_caret(
    page: Page, site: str
) -> None:
    open_explorer(page, site)
    page.fill("#query", 'mutation W{write(text:"One"){nope noteId}} query R{notesSoFar{text}}')
    expect(page.locator(".q-unknown")).to_have_text(["nope"])
    expect(page.locator(".q-keyword")).to_have_text(["mutation", "query"])
    page.fill("#query", 'mutation W{write(text:"One"){noteId}} query R{notesSoFar{text}}')
    expect(page.locator(".q-unknown")).to_have_count(0)
    page.click("#prettify")
    laid_out = 'mutation W {\n  write(text: "One") {\n    noteId\n  }\n}\n\nquery R {\n'
    assert page.input_value("#query").startswith(laid_out)
    page.focus("#query")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer")).to_contain_text('"write"')
    expect(page.locator("#took")).to_contain_text("200, ")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer")).to_contain_text('"notesSoFar"')
    page.fill("#query", "{ notesSoFar {")
    page.click("#prettify")
    expect(page.locator("#answer")).to_contain_text("This cannot be laid out: line 1")
    assert page.input_value("#query") == "{ notesSoFar {"


def test_the_graphql_page_says_what_is_wrong_and_where(page: Page, site: str) -> None:
    open_explorer(page, site)
    problems = page.locator("#problems li")
    expect(problems).to_have_count(0)
    page.fill("#query", '{\n  note(noteid: "n0") {\n    txet\n    noteId { x }\n  }\n}')
    expect(problems).to_have_text(
        [
            "2:8 note takes no noteid; did you mean noteId?",
            "3:5 Note has no field txet; did you mean text?",
            "4:12 noteId is one value, of type String: it has no fields",
        ]
    )
    problems.nth(1).locator("button").click()
    assert page.evaluate("document.querySelector('#query').selectionStart") == 29
    page.keyboard.press("Control+A")
    page.keyboard.type("{ note(noteId: 3) { text } }")
    expect(problems).to_have_count(0)

    # What only the service knows is shown at its place too, until the query changes.
    page.keyboard.press("Control+Enter")
    expect(problems).to_have_text(["1:16 String cannot represent a non string value: 3"])
    expect(page.locator(".q-unknown")).to_have_text(["3"])
    page.keyboard.press("End")
    page.keyboard.type(" ")
    expect(problems).to_have_count(0)


def test_the_graphql_page_walks_through_types_and_back(page: Page, site: str) -> None:
    open_explorer(page, site)
    page.click("#schema button[aria-label='About Note'] >> nth=0")
    expect(page.locator("#schema h3")).to_have_text("Note")
    expect(page.locator("#schema")).to_contain_text("authorId: String!")
    page.click("#schema button.type >> nth=0")
    expect(page.locator("#schema h3")).to_have_text("String")
    page.click("#schema .back")
    expect(page.locator("#schema h3")).to_have_text("Note")
    page.click("#schema .back")
    expect(page.locator("#schema")).to_contain_text("notesSoFar: [Note!]")
    page.fill("#filter", "note")
    expect(page.locator("#schema button.type", has_text="Note")).to_be_visible()


def test_the_graphql_page_remembers_what_ran_and_shares_it_without_the_token(
    page: Page, site: str
) -> None:
    open_explorer(page, site)
    asked = "{ notesSoFar { text } }"
    page.fill("#query", asked)
    page.fill("#variables", '{"a": 1}')
    page.click("#run")
    expect(page.locator("#answer")).to_contain_text("notesSoFar")
    page.fill("#query", "{ __typename }")
    page.click("#past summary")
    page.click("#runs button >> text=notesSoFar")
    assert page.input_value("#query") == asked
    assert page.input_value("#variables") == '{"a": 1}'
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-link")
    expect(page.locator("#took")).to_contain_text("holds no token")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "eyJ" not in link
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    assert page.input_value("#query") == asked
    expect(page.locator("#past")).to_be_hidden()


def test_headers_are_sent_and_wrong_ones_are_told(page: Page, site: str) -> None:
    open_explorer(page, site)
    page.click("summary:has-text('Headers')")
    page.fill("#headers", '{"x-trace": "t1"}')
    with page.expect_request("**/notes/graphql") as sent:
        page.click("#run")
    assert sent.value.headers["x-trace"] == "t1"
    page.fill("#headers", "{")
    page.click("#run")
    expect(page.locator("#answer")).to_contain_text("Headers are not valid JSON")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious_on_the_graphql_page(
    page: Page, site: str, scheme: str, width: int
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    open_explorer(page, site)
    page.click("#schema button[aria-label='About Note'] >> nth=0")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
