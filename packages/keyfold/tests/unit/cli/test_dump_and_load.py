"""Items out of one file and into another, in DynamoDB's export format."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold.cli import main
from keyfold_engine.engine import Engine

ITEMS: list[dict[str, Any]] = [
    {"pk": {"S": "a"}, "n": {"N": "1.5"}, "tags": {"SS": ["x", "y"]}},
    {"pk": {"S": "b"}, "raw": {"B": "AAEC"}, "deep": {"M": {"list": {"L": [{"NULL": True}]}}}},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Things",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "n", "AttributeType": "N"},
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by_n",
                        "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
            },
        )
        for item in ITEMS:
            engine.call("PutItem", {"TableName": "Things", "Item": item})
    return path


def _items(path: Path, table: str, **more: Any) -> list[dict[str, Any]]:
    with Engine.open(path) as engine:
        found = engine.call("Scan", {"TableName": table, **more})["Items"]
    return sorted(found, key=lambda item: item["pk"]["S"])


def test_a_dump_loads_into_an_empty_file_as_the_same_table(source: Path, tmp_path: Path) -> None:
    export, target = tmp_path / "export", tmp_path / "target.db"
    assert main(["dump", str(source), "Things", str(export)]) == 0
    assert main(["load", str(target), "Copies", str(export)]) == 0
    assert _items(target, "Copies") == ITEMS
    assert _items(target, "Copies", IndexName="by_n") == ITEMS[:1]


def test_a_dump_has_the_layout_of_dynamodb(source: Path, tmp_path: Path) -> None:
    assert main(["dump", str(source), "Things", str(tmp_path)]) == 0
    (summary_path,) = (tmp_path / "AWSDynamoDB").glob("*/manifest-summary.json")
    summary = orjson.loads(summary_path.read_bytes())
    assert summary["itemCount"] == 2
    assert summary["outputFormat"] == "DYNAMODB_JSON"
    lines = (tmp_path / summary["manifestFilesS3Key"]).read_bytes().splitlines()
    (entry,) = map(orjson.loads, lines)
    assert entry["itemCount"] == 2
    with gzip.open(tmp_path / entry["dataFileS3Key"]) as data:
        found = [orjson.loads(line)["Item"] for line in data]
    assert sorted(found, key=lambda item: item["pk"]["S"]) == ITEMS


def test_data_files_without_a_manifest_load_into_an_existing_table(
    source: Path, tmp_path: Path
) -> None:
    data = tmp_path / "from-s3" / "part.json.gz"
    data.parent.mkdir()
    with gzip.open(data, "wb") as file:
        file.write(b'{"Item": {"pk": {"S": "c"}}}\n')
    assert main(["load", str(source), "Things", str(data.parent)]) == 0
    assert [item["pk"]["S"] for item in _items(source, "Things")] == ["a", "b", "c"]


def test_a_damaged_data_file_is_named(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "from-s3" / "part.json"
    data.parent.mkdir()
    data.write_text('{"Item": {"pk": {"S": "c"}}}\n{"broken\n')
    assert main(["load", str(source), "Things", str(data.parent)]) == 2
    assert "part.json, after line 2: not an item of an export" in capsys.readouterr().err


def test_loading_into_no_table_without_a_definition_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = tmp_path / "from-s3"
    export.mkdir()
    assert main(["load", str(tmp_path / "new.db"), "Things", str(export)]) == 2
    assert "Create the table first" in capsys.readouterr().err


def test_a_directory_of_several_exports_asks_for_one(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["dump", str(source), "Things", str(tmp_path / "out")]) == 0
    target = tmp_path / "target.db"
    assert main(["load", str(target), "Things", str(tmp_path / "out")]) == 2
    assert "holds several exports: " in capsys.readouterr().err
