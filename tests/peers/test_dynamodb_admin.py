"""dynamodb-admin, the web page that people look at DynamoDB Local with, on `keyfold serve`."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import free_port, running


@pytest.fixture
def admin(node_modules: Path, keyfold_url: str, tmp_path: Path) -> Iterator[str]:
    port = free_port()
    program = node_modules / ".bin" / "dynamodb-admin"
    command: list[str | Path] = [program, "--host", "127.0.0.1", "--port", str(port)]
    with running(
        command, port, tmp_path, AWS_REGION="us-east-1", DYNAMO_ENDPOINT=keyfold_url
    ) as url:
        yield url


def ask(url: str, method: str = "GET", body: Any = None) -> str:
    request = urllib.request.Request(
        url,
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        text: str = answer.read().decode()
    return text


def test_tables_and_items_are_made_shown_changed_and_deleted_on_its_pages(admin: str) -> None:
    form = {
        "TableName": "Looked",
        "HashAttributeName": "id",
        "HashAttributeType": "S",
        "ReadCapacityUnits": 3,
        "WriteCapacityUnits": 3,
    }
    ask(f"{admin}/create-table", "POST", {"TableDefinition": form})
    assert "Looked" in ask(f"{admin}/")
    ask(f"{admin}/tables/Looked/add-item", "PUT", {"id": "one", "word": "first"})
    assert "one" in ask(f"{admin}/tables/Looked/items?operationType=scan")
    ask(f"{admin}/tables/Looked/items/one", "PUT", {"id": "one", "word": "second"})
    assert "second" in ask(f"{admin}/tables/Looked/items/one")
    assert "Looked" in ask(f"{admin}/tables/Looked/meta")
    ask(f"{admin}/tables/Looked/items/one", "DELETE")
    assert "second" not in ask(f"{admin}/tables/Looked/items?operationType=scan")
    ask(f"{admin}/tables/Looked", "DELETE")
    assert "Looked" not in json.loads(ask(f"{admin}/api/tables"))
