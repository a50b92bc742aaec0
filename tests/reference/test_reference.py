"""The engine answers as an independent model of the documentation does, request for request.

``REFERENCE_REQUESTS`` sets how many requests are compared, ``REFERENCE_SEED`` where they begin. A
failure shows the fewest requests that still differ.
"""

from __future__ import annotations

import os

import pytest
from tests.reference.compare import Difference, difference, run, shrunk

LENGTH = 200
"""Requests in one history: long enough for full tables, short enough to shrink."""
SEED = int(os.environ.get("REFERENCE_SEED", "0"))
REQUESTS = int(os.environ.get("REFERENCE_REQUESTS", "100000"))


def test_the_engine_answers_as_the_model() -> None:
    for seed in range(15):
        run(seed, LENGTH)


@pytest.mark.long
def test_the_engine_answers_as_the_model_over_many_histories() -> None:
    compared = 0
    seed = SEED
    while compared < REQUESTS:
        compared += run(seed, LENGTH)
        seed += 1
    print(f"{compared} requests compared, seeds {SEED} to {seed - 1}")


def test_a_difference_is_shown_with_the_fewest_requests_that_show_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = {"pk": {"S": "a"}}
    noise = [("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "b"}}})] * 5
    put = ("PutItem", {"TableName": "Plain", "Item": {**key, "a": {"N": "1"}, "b": {"N": "2"}}})
    get = ("GetItem", {"TableName": "Plain", "Key": key, "ProjectionExpression": "a"})
    assert difference([*noise, put, get]) is None
    monkeypatch.setattr("tests.reference.model.Model.GetItem", _answers_doubled)
    found = shrunk([*noise, put, *noise, get])
    assert isinstance(found, Difference)
    assert [operation for operation, _ in found.steps] == ["PutItem", "GetItem"]
    assert found.steps[0][1]["Item"] == {**key, "a": {"N": "1"}}


def _answers_doubled(model: object, request: dict[str, object]) -> dict[str, object]:
    items = model.tables["Plain"].items.values()  # type: ignore[attr-defined]
    amounts = [item["a"][1] for item in items if "a" in item]
    return {"Item": {"a": {"N": str(amounts[0] * 2)}}} if amounts else {}
