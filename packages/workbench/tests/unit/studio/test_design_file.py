"""A design file runs: the studio builds its Python in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from keyfold.cli import main
from keyfold_engine.clients import Client, connect
from keyfold_workbench.studio import Gate, create_studio
from keyfold_workbench.studio.process import StudioOptions, open_systems

from .conftest import TOKEN
from .test_data import words
from .test_edit import form, post

TASKS = """
design: tasks
tables:
  Tasks:
    key: [PK, SK]
    stream: NEW_AND_OLD_IMAGES
entities:
  Task:
    key: {PK: LIST#<listId>, SK: TASK#<taskId>}
    attributes: {listId: id, taskId: id, title: string, done: optional boolean}
patterns:
  tasks of a list: {query: Task, where: "PK = LIST#<listId>, SK begins_with TASK#"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.yaml"
    path.write_text(TASKS)
    return path


@pytest.fixture
def backend(tmp_path: Path) -> str:
    path = str(tmp_path / "tasks.db")
    client = connect(path)
    key = [{"AttributeName": n, "KeyType": k} for n, k in (("PK", "HASH"), ("SK", "RANGE"))]
    types = [{"AttributeName": n, "AttributeType": "S"} for n in ("PK", "SK")]
    made = {"KeySchema": key, "AttributeDefinitions": types, "BillingMode": "PAY_PER_REQUEST"}
    client.call("CreateTable", {"TableName": "Tasks", **made})
    for number in range(5):
        item = {
            "PK": {"S": "LIST#home"}, "SK": {"S": f"TASK#t{number}"}, "type": {"S": "Task"},
            "listId": {"S": "home"}, "taskId": {"S": f"t{number}"},
            "title": {"S": f"Task {number}"},
        }  # fmt: skip
        client.call("PutItem", {"TableName": "Tasks", "Item": item})
    client.close()
    return path


@pytest.fixture
def client(backend: str) -> Iterator[Client]:
    client = connect(backend)
    yield client
    client.close()


def visit(options: StudioOptions, client: Client) -> TestClient:
    app = create_studio(open_systems(options, client), Gate(token=TOKEN))
    browser = TestClient(app, base_url="http://127.0.0.1:8090")
    assert browser.get(f"/?token={TOKEN}").status_code == 200
    return browser


def test_a_pattern_of_a_design_file_is_run(file: Path, backend: str, client: Client) -> None:
    browser = visit(StudioOptions(str(file), backend), client)
    page = words(browser.get("/s/tasks/patterns/tasks_of_a_list?list_id=home&run=1").text)
    assert "Task 4" in page
    assert "Requests 1" in page


def test_what_a_design_file_declares_is_shown_in_its_own_words(
    tmp_path: Path, backend: str, client: Client
) -> None:
    file = tmp_path / "long.yaml"
    # A bracket that its line does not close, above: no Python begins or ends there.
    file.write_text(TASKS.replace("design: tasks", "design: tasks\ndescription: tasks (all"))
    browser = visit(StudioOptions(target=str(file), backend=backend, write=True), client)
    page = browser.get("/s/tasks/patterns/tasks_of_a_list").text
    assert "tasks of a list: {query: Task" in words(page)
    shown = words(browser.get("/s/tasks/data?entity=Task").text)
    assert "Task: key: {PK: LIST#<listId>" in shown


def test_an_item_is_edited_by_a_design_file(file: Path, backend: str, client: Client) -> None:
    browser = visit(StudioOptions(str(file), backend), client)
    where = "/s/tasks/edit?table=Tasks&pk=LIST%23home&sk=TASK%23t1"
    page = browser.get(where).text
    assert "writable" in words(page)
    plan = post(browser, "/s/tasks/plan", form(page, "/s/tasks/plan") | {"f-title": "Swept"}).text
    sent = post(browser, "/s/tasks/send", form(plan, "/s/tasks/send")).text
    assert "Sent:" in words(sent)
    key = {"PK": {"S": "LIST#home"}, "SK": {"S": "TASK#t1"}}
    assert client.call("GetItem", {"TableName": "Tasks", "Key": key})["Item"]["title"]["S"] == (
        "Swept"
    )


def test_a_draft_runs_patterns_and_says_why_it_writes_nothing(backend: str, client: Client) -> None:
    browser = visit(StudioOptions("", backend), client)
    page = browser.get("/s/Tasks/map").text
    assert "read-only" in words(page)
    assert "save it with keyfold inspect" in page


def test_a_file_that_cannot_be_declared_says_why(file: Path, backend: str, client: Client) -> None:
    file.write_text(TASKS.replace("listId: id, taskId: id", "list-id: id, listId: id, taskId: id"))
    browser = visit(StudioOptions(str(file), backend), client)
    assert "rename one of them" in browser.get("/s/tasks/map").text
    assert browser.get("/s/tasks/data?entity=Task").status_code == 200


@pytest.mark.parametrize("command", [["verify"], ["streams", "status"], ["repair"]])
def test_commands_run_with_a_design_file(
    command: list[str], file: Path, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, str(file), "--backend", backend]) == 0, capsys.readouterr().err


BINARY = """
design: files
tables:
  Files: {key: [PK, SK]}
entities:
  File:
    key: {PK: FILE#<fileId>, SK: FILE}
    attributes: {fileId: id, content: binary, hashes: optional binary_set, more: optional map,
      rest: optional map}
"""
HELD: dict[str, Any] = {
    "PK": {"S": "FILE#1"}, "SK": {"S": "FILE"}, "fileId": {"S": "1"}, "content": {"B": "AP8="},
    "type": {"S": "File"}, "hashes": {"BS": ["/v8="]},
    "more": {"M": {
        "in": {"B": "AP8="}, "name": {"S": "x"}, "build": {"N": "10.1"},
        "long": {"N": "1.2345678901234567890123456789012345678"}, "great": {"N": "9" * 38},
    }},
    "rest": {"M": {"tags": {"SS": ["a", "b"]}, "ids": {"NS": ["1", "2.5"]}}},
}  # fmt: skip


def test_values_of_every_type_are_edited_and_the_others_stay(
    file: Path, backend: str, client: Client
) -> None:
    file.write_text(BINARY)
    key = [{"AttributeName": n, "KeyType": k} for n, k in (("PK", "HASH"), ("SK", "RANGE"))]
    types = [{"AttributeName": n, "AttributeType": "S"} for n in ("PK", "SK")]
    made = {"KeySchema": key, "AttributeDefinitions": types, "BillingMode": "PAY_PER_REQUEST"}
    client.call("CreateTable", {"TableName": "Files", **made})
    client.call("PutItem", {"TableName": "Files", "Item": HELD})
    browser = visit(StudioOptions(str(file), backend), client)
    page = browser.get("/s/files/edit?table=Files&pk=FILE%231&sk=FILE").text
    fields = form(page, "/s/files/plan")
    wrong = post(browser, "/s/files/plan", fields | {"f-content": "no base64!"}).text
    assert "valid bytes" in words(wrong)
    more = fields["f-more"].replace('"x"', '"y"')
    plan = post(browser, "/s/files/plan", fields | {"f-content": "AQI=", "f-more": more}).text
    sent = post(browser, "/s/files/send", form(plan, "/s/files/send")).text
    assert "Sent:" in words(sent)
    where = {"PK": HELD["PK"], "SK": HELD["SK"]}
    found = client.call("GetItem", {"TableName": "Files", "Key": where})["Item"]
    assert found["content"] == {"B": "AQI="}
    assert found["hashes"] == HELD["hashes"]
    assert found["more"] == {"M": {**HELD["more"]["M"], "name": {"S": "y"}}}
    assert found["rest"] == HELD["rest"]
