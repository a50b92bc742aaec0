"""BatchGetItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}}


def test_items_that_are_there_are_answered(call: Call, table: str, put: Any) -> None:
    items = [put("a", number, v=number) for number in range(3)]
    wish = {"Keys": [_key(0), _key(2), _key(9)], "ProjectionExpression": "sk, v"}
    answer = call("BatchGetItem", {"RequestItems": {table: wish}})
    found = sorted(answer["Responses"][table], key=lambda item: item["sk"]["N"])
    assert found == [{name: items[n][name] for name in ("sk", "v")} for n in (0, 2)]
    assert answer["UnprocessedKeys"] == {}


def test_more_than_sixteen_megabytes_are_left_for_the_next_call(
    call: Call, table: str, put: Any
) -> None:
    keys = [_key(number) for number in range(45)]
    for number in range(45):
        put("a", number, data="d" * 400_000)
    wanted: dict[str, Any] = {table: {"Keys": keys}}
    pages = []
    while wanted:
        answer = call("BatchGetItem", {"RequestItems": wanted})
        pages.append(len(answer["Responses"][table]))
        wanted = answer["UnprocessedKeys"]
    assert sum(pages) == 45
    assert len(pages) == 2


def test_the_same_key_twice_is_refused(call: Call, table: str) -> None:
    with pytest.raises(ValidationError) as caught:
        call("BatchGetItem", {"RequestItems": {table: {"Keys": [_key(1), _key(1)]}}})
    assert caught.value.message == "Provided list of item keys contains duplicates"


def test_a_missing_table_is_refused(call: Call) -> None:
    with pytest.raises(TableNotFound):
        call("BatchGetItem", {"RequestItems": {"Nowhere": {"Keys": [_key(1)]}}})


def test_tables_of_one_batch_are_read_in_one_style(call: Call, table: str, name: str) -> None:
    key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    mixed = {
        table: {"Keys": [key], "ProjectionExpression": "pk"},
        arn: {"Keys": [key], "AttributesToGet": ["pk"]},
    }
    with pytest.raises(ValidationError, match="both expression and non-expression parameters"):
        call("BatchGetItem", {"RequestItems": mixed})


def test_what_can_be_no_table_is_refused_as_a_name(call: Call) -> None:
    with pytest.raises(ValidationError) as caught:
        call("BatchGetItem", {"RequestItems": {"bad!name": {"Keys": [{"pk": {"S": "a"}}]}}})
    assert caught.value.message == (
        """1 validation error detected: Value '{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}' at """
        "'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member "
        "must have length less than or equal to 255, Member must have length greater than or equal "
        "to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )
