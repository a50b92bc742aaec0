"""Files that `keyfold load` must not believe are refused by their line; nothing is written."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from keyfold import Design, Entity, Id, Key
from keyfold.cli import main
from keyfold.errors import KeyfoldError, ValueRefused
from keyfold.rows.row_files import RowReader
from keyfold_engine.features.transfer import exports

design = Design("hostile")


class Product(Entity, table=design.table("hostile")):
    product_id: Id
    name: str = ""
    price: Decimal = Decimal(0)
    weight: float = 0
    stock: int = 0
    extra: dict[str, Any] = {}
    key = Key("PRODUCT#{product_id}", "PRODUCT")


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


JSON_LINES = {
    '{"product_id":"1","price":1,"price":2}': "the JSON has 'price' twice in one object",
    '{"product_id":"1","extra":{"a":1,"a":2}}': "the JSON has 'a' twice in one object",
    '{"product_id":"1","productId":"2"}': "two columns give product_id; one of them is productId",
    f'{{"product_id":"1","extra":{deep(100_000)}}}': "the JSON is nested too deep",
    f'{{"product_id":"1","extra":{deep(900)}}}': "nested deeper than 32 levels",
    f'{{"product_id":"1","extra":{deep(33)}}}': "Nesting Levels have exceeded",
    f'{{"product_id":"1","stock":{"9" * 5000}}}': "Exceeds the limit (4300 digits)",
    f'{{"product_id":"1","stock":{"9" * 40}}}': "more than 38 significant digits",
    '{"product_id":"1","weight":NaN}': "cannot store nan",
    '{"product_id":"1","price":"1e999999999"}': "Number overflow",
    '{"product_id":"1","name":"\\ud800"}': "surrogates not allowed",
    '{"product_id":"\\ud800"}': "cannot be written as text",
    f'{{"product_id":"1","name":"{"x" * 500_000}"}}': "the item has 500,0",
}
TABLES = {
    "product_id,name,name\n1,a,b\n": "two columns are called 'name'",
    'product_id,name\n1,"abc\n': "this is not CSV: unexpected end of data",
    "product_id,name,stock\n1\n": "the row has fewer values than the header has columns",
    f'product_id,name\n1,"{"x" * 200_000}"\n': "field larger than field limit",
    'product_id,extra\n1,"{""a"":1,""a"":2}"\n': "the JSON has 'a' twice",
    f"product_id,extra\n1,{'[' * 100_000}\n": "the JSON is nested too deep",
}


@pytest.mark.parametrize("number", range(len(JSON_LINES) + len(TABLES)))
def test_a_hostile_file_is_refused_by_its_line(tmp_path: Path, number: int) -> None:
    text, told = [*JSON_LINES.items(), *TABLES.items()][number]
    path = tmp_path / ("rows.jsonl" if number < len(JSON_LINES) else "rows.csv")
    path.write_text(text, encoding="utf-8")
    try:
        [problem] = RowReader(Product, path).problems()
    except KeyfoldError as refused:
        problem = str(refused)
    assert told in problem
    assert problem.startswith(str(path))


def test_a_field_of_two_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyfoldError, match="--map gives the field product_id two columns"):
        RowReader(Product, tmp_path / "rows.csv", {"a": "product_id", "b": "product_id"})


@pytest.mark.parametrize("frames", [sys.getrecursionlimit(), 30_000])
def test_a_value_that_is_nested_too_deep_is_refused_by_its_field(
    frames: int, request: pytest.FixtureRequest
) -> None:
    # Deep expressions raise the interpreter's limit for the whole process.
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(frames)
    with (
        design.open(":memory:") as db,
        pytest.raises(ValueRefused, match=r"Product\.extra: it is nested deeper than 32 levels"),
    ):
        db.put(Product(product_id="1", extra=json.loads(deep(900))))


@pytest.mark.parametrize("definition", ["{", "[]", "5", '"x"'])
def test_a_definition_that_is_none_is_refused(
    tmp_path: Path, definition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / exports.DEFINITION).write_text(definition, encoding="utf-8")
    assert main(["load", str(tmp_path / "new.db"), "Things", str(tmp_path)]) == 2
    assert "table.json: not the definition of a table" in capsys.readouterr().err
