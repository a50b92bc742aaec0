from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.clients.retry import Attempts, RetryPolicy, is_repeatable, may_retry, with_token
from keyfold_engine.errors import (
    ConditionFailed,
    InternalFailure,
    KeyfoldError,
    OperationError,
    RequestLimitExceeded,
    RequestRateExceeded,
    Throttled,
    Timeout,
    TransactionCanceled,
    Unavailable,
    Unreachable,
    ValidationError,
)

PLAIN_PUT: dict[str, Any] = {"TableName": "T", "Item": {"pk": {"S": "1"}}}


@given(st.integers(1, 100), st.floats(0, 1))
def test_a_delay_is_between_nothing_and_a_bound_that_doubles(attempt: int, part: float) -> None:
    policy = RetryPolicy(first_delay=0.1, longest_delay=3.0)
    bound = min(3.0, 0.1 * 2 ** (attempt - 1))
    assert policy.delay(attempt, lambda: part) == pytest.approx(part * bound)


@pytest.mark.parametrize("error", [Throttled(), RequestRateExceeded(), RequestLimitExceeded()])
def test_a_throttled_request_had_no_effect_so_any_is_sent_again(error: OperationError) -> None:
    assert may_retry(error, repeatable=False)


@pytest.mark.parametrize(
    "error", [InternalFailure(), Unavailable(), Timeout("late"), Unreachable("gone")]
)
def test_after_an_unknown_effect_only_repeatable_requests_are_sent_again(
    error: KeyfoldError,
) -> None:
    assert may_retry(error, repeatable=True)
    assert not may_retry(error, repeatable=False)


def test_what_was_never_sent_is_sent_again() -> None:
    assert may_retry(Unreachable("refused", sent=False), repeatable=False)


@pytest.mark.parametrize("error", [ValidationError(), ConditionFailed(), TransactionCanceled("x")])
def test_an_answer_that_would_be_the_same_again_is_final(error: OperationError) -> None:
    assert not may_retry(error, repeatable=True)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {}),
        ("Query", {}),
        ("BatchWriteItem", {}),
        ("PutItem", PLAIN_PUT),
        ("DeleteItem", {"Key": {}}),
        ("UpdateItem", {"UpdateExpression": "SET title = :t REMOVE note"}),
        ("TransactWriteItems", {"ClientRequestToken": "t"}),
    ],
)
def test_requests_with_the_same_effect_and_answer_twice_are_repeatable(
    operation: str, request_: dict[str, Any]
) -> None:
    assert is_repeatable(operation, request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {**PLAIN_PUT, "ConditionExpression": "attribute_not_exists(pk)"}),
        ("PutItem", {**PLAIN_PUT, "ReturnValues": "ALL_OLD"}),
        ("DeleteItem", {"Expected": {}}),
        ("UpdateItem", {"UpdateExpression": "SET n = n + :one"}),
        ("UpdateItem", {"UpdateExpression": "add n :one"}),
        ("UpdateItem", {"UpdateExpression": "SET l = list_append(l, :x)"}),
        ("UpdateItem", {"UpdateExpression": "REMOVE l[0]"}),
        ("UpdateItem", {"UpdateExpression": "SET a = :a", "ReturnValues": "UPDATED_OLD"}),
        ("UpdateItem", {"AttributeUpdates": {}}),
        ("CreateTable", {}),
        ("ExecuteStatement", {}),
        ("TransactWriteItems", {}),
    ],
)
def test_requests_that_would_count_twice_or_answer_otherwise_are_not(
    operation: str, request_: dict[str, Any]
) -> None:
    assert not is_repeatable(operation, request_)


def test_a_transaction_gets_a_token_unless_it_has_one() -> None:
    first, second = (with_token("TransactWriteItems", {"TransactItems": []}) for _ in "ab")
    assert is_repeatable("TransactWriteItems", first)
    assert first["ClientRequestToken"] != second["ClientRequestToken"]
    assert with_token("TransactWriteItems", {"ClientRequestToken": "mine"}) == {
        "ClientRequestToken": "mine"
    }
    assert with_token("PutItem", PLAIN_PUT) is PLAIN_PUT


def test_attempts_end_with_the_error_itself() -> None:
    attempts = Attempts(RetryPolicy(attempts=3), "GetItem", {}, started=0.0)
    error = Throttled("slow down")
    attempts.wait_after(error, now=0.1)
    attempts.wait_after(error, now=0.2)
    with pytest.raises(Throttled) as caught:
        attempts.wait_after(error, now=0.3)
    assert caught.value is error


def test_no_attempt_begins_after_the_deadline() -> None:
    attempts = Attempts(RetryPolicy(deadline=10.0), "GetItem", {}, started=100.0)
    attempts.wait_after(Throttled(), now=105.0)
    with pytest.raises(Throttled):
        attempts.wait_after(Throttled(), now=110.0)
