"""The AWS command line against `keyfold serve`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("credentials")


def test_a_table_is_made_filled_read_and_deleted(aws: Path, keyfold_url: str) -> None:
    def dynamodb(*arguments: str) -> Any:
        done = subprocess.run(
            [aws, "dynamodb", "--endpoint-url", keyfold_url, "--output", "json", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env=os.environ,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    name = ("--table-name", "CliThings")
    dynamodb(
        "create-table",
        *name,
        "--attribute-definitions",
        "AttributeName=pk,AttributeType=S",
        "AttributeName=sk,AttributeType=N",
        "--key-schema",
        "AttributeName=pk,KeyType=HASH",
        "AttributeName=sk,KeyType=RANGE",
        "--billing-mode",
        "PAY_PER_REQUEST",
    )
    dynamodb("wait", "table-exists", *name)
    requests = [
        {"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"N": str(number)}}}}
        for number in range(3)
    ]
    unprocessed = dynamodb(
        "batch-write-item", "--request-items", json.dumps({"CliThings": requests})
    )
    assert unprocessed["UnprocessedItems"] == {}
    key = json.dumps({"pk": {"S": "a"}, "sk": {"N": "1"}})
    updated = dynamodb(
        "update-item",
        *name,
        "--key",
        key,
        "--update-expression",
        "SET seen = :yes",
        "--expression-attribute-values",
        '{":yes": {"BOOL": true}}',
        "--return-values",
        "ALL_NEW",
    )
    assert updated["Attributes"]["seen"] == {"BOOL": True}
    assert dynamodb("get-item", *name, "--key", key)["Item"]["seen"] == {"BOOL": True}
    found = dynamodb(
        "query",
        *name,
        "--key-condition-expression",
        "pk = :p AND sk > :s",
        "--expression-attribute-values",
        '{":p": {"S": "a"}, ":s": {"N": "0"}}',
    )
    assert [item["sk"]["N"] for item in found["Items"]] == ["1", "2"]
    assert "CliThings" in dynamodb("list-tables")["TableNames"]
    with pytest.raises(AssertionError, match="ConditionalCheckFailedException"):
        dynamodb("delete-item", *name, "--key", key, "--condition-expression", "seen = pk")
    dynamodb("delete-table", *name)
    with pytest.raises(AssertionError, match="ResourceNotFoundException"):
        dynamodb("describe-table", *name)
