"""The page of a document: its lines, its questions, and answers that are written into it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keyfold_engine.clients import Client, connect
from keyfold_workbench.studio import Gate, create_studio
from keyfold_workbench.studio.process import StudioOptions, open_systems

from .conftest import TOKEN
from .test_data import words
from .test_edit import form, post

DOCUMENT = """# Shop <b>

| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
| Line | `ORDER#<orderId>` or `BOX#<boxId>` | `LINE#<n>` |
"""
PAGE = "/s/design/document"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "DESIGN.md"
    made.write_text(DOCUMENT)
    return made


@pytest.fixture
def client() -> Iterator[Client]:
    made = connect(":memory:")
    yield made
    made.close()


def browse(path: Path, client: Client, *, read_only: bool = False) -> TestClient:
    systems = open_systems(StudioOptions(str(path), ":memory:", read_only=read_only), client)
    browser = TestClient(
        create_studio(systems, Gate(token=TOKEN)), base_url="http://127.0.0.1:8090"
    )
    browser.get(f"/?token={TOKEN}")
    return browser


def test_each_line_has_its_mark_and_the_design_its_line(path: Path, client: Client) -> None:
    page = browse(path, client).get(PAGE).text
    assert "# Shop &lt;b&gt;" in page
    assert '<li id="L5" class="u">' in page
    assert '<li id="L6" class="q">' in page
    assert (
        "Line: what is ORDER#&lt;orderId&gt; or BOX#&lt;boxId&gt;?"
        in words(page).replace("PK of ", "")
        or "what is" in page
    )
    assert '<a href="#L5">line 5</a>' in page


def test_an_answer_is_written_into_the_document(path: Path, client: Client) -> None:
    browser = browse(path, client)
    fields = form(browser.get(PAGE).text, PAGE)
    fields |= {"said": "statement", "statement": "Line: PK=BOX#<boxId>, SK=LINE#<n>"}
    page = post(browser, PAGE, fields)
    assert page.status_code == 200
    assert "No questions" in page.text
    assert "<!-- keyfold: Line: PK=BOX#<boxId>, SK=LINE#<n> -->" in path.read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"said": "statement", "statement": "perhaps"}, "unknown answer"),
        ({"said": "statement", "statement": ""}, "Choose an answer"),
        ({"said": "yes", "line": "99"}, "Invalid line 99"),
        ({"said": "yes", "digest": "old"}, "The document has changed"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(
    path: Path, client: Client, given: dict[str, str], told: str
) -> None:
    browser = browse(path, client)
    fields = form(browser.get(PAGE).text, PAGE) | given
    assert told in post(browser, PAGE, fields).text
    assert path.read_text() == DOCUMENT


def test_a_studio_that_may_not_write_shows_no_button(path: Path, client: Client) -> None:
    browser = browse(path, client, read_only=True)
    page = browser.get(PAGE).text
    assert "Answer</button>" not in page
    assert post(browser, PAGE, form(page, PAGE) | {"said": "yes"}).status_code == 403
    assert path.read_text() == DOCUMENT
