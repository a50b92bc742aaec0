"""What comes in parts: pages, unprocessed rests, transactions in conflict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from keyfold.errors import CancellationReason, Throttled, TransactionCanceled, TransactionConflict
from keyfold.runtime import walk as module
from keyfold.runtime.flow import Flow, Pause, drive, run_by
from keyfold.runtime.walk import (
    Walk,
    all_items,
    count_items,
    get_batches,
    pages,
    retrying,
    transact,
    write_batches,
)
from keyfold_engine.clients import Client, connect

QUERY = {
    "TableName": "things",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "a"}},
}


@pytest.fixture
def client() -> Iterator[Client]:
    with closing(connect(":memory:")) as made:
        made.call(
            "CreateTable",
            {
                "TableName": "things",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "S"},
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        run_by(
            made.call, write_batches(("things", {"PutRequest": {"Item": one}}) for one in items(7))
        )
        yield made


def items(count: int) -> list[dict[str, Any]]:
    return [{"pk": {"S": "a"}, "sk": {"S": str(n)}, "x": {"N": str(n)}} for n in range(count)]


class Reluctant:
    """A client that does one item of each batch, or refuses for a while."""

    def __init__(self, client: Client, *, stuck: bool = False) -> None:
        self.client, self.stuck, self.calls = client, stuck, 0

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        self.calls += 1
        wanted = request["RequestItems"]["things"]
        if operation == "BatchGetItem":
            keys, rest = wanted["Keys"][:1], wanted["Keys"][1:]
            answer = self.client.call(
                operation, {"RequestItems": {"things": {**wanted, "Keys": keys}}}
            )
            left = {"things": {**wanted, "Keys": rest}} if rest else {}
            return {**answer, "UnprocessedKeys": left}
        if self.stuck:
            return {"UnprocessedItems": {"things": wanted}}
        self.client.call(operation, {"RequestItems": {"things": wanted[:1]}})
        return {"UnprocessedItems": {"things": wanted[1:]} if wanted[1:] else {}}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_PAUSE", 0.0)


def test_a_query_is_read_to_its_end_or_to_so_many(client: Client) -> None:
    assert run_by(client.call, all_items({**QUERY, "Limit": 2})) == items(7)
    assert run_by(client.call, all_items(QUERY, 3)) == items(3)
    assert run_by(client.call, count_items({**QUERY, "Limit": 3})) == 7


def test_a_walk_goes_on_from_its_position(client: Client) -> None:
    first = Walk("Scan", {"TableName": "things"})
    begun = run_by(client.call, first.next(3))["Items"]
    assert not first.ended
    second = Walk("Scan", {"TableName": "things", "Limit": 3}, first.position)
    rest = [item for page in pages(client.call, second) for item in page["Items"]]
    assert begun + rest == items(7)
    assert second.ended
    assert second.position is None


def test_what_a_batch_left_out_is_asked_for_again_as_long_as_it_moves(client: Client) -> None:
    slow = Reluctant(client)
    puts = [("things", {"PutRequest": {"Item": one}}) for one in items(25)]
    assert run_by(slow.call, write_batches(puts)) == 25
    assert slow.calls == 25
    keys = [("things", {"pk": one["pk"], "sk": one["sk"]}) for one in items(30)]
    found = run_by(Reluctant(client).call, get_batches(keys, keys_alone=True))
    assert sorted(item["sk"]["S"] for _, item in found) == sorted(str(n) for n in range(25))
    assert all(item.keys() == {"pk", "sk"} for _, item in found)


def test_a_batch_of_which_nothing_moves_is_given_up(client: Client) -> None:
    stuck = Reluctant(client, stuck=True)
    puts = [("things", {"PutRequest": {"Item": one}}) for one in items(2)]
    with pytest.raises(Throttled, match="still unprocessed"):
        run_by(stuck.call, write_batches(puts))
    assert stuck.calls == 10


def test_a_transaction_is_sent_again_while_others_are_in_flight_and_not_when_refused() -> None:
    refusals = [["None", "TransactionConflict"], ["ThrottlingError"], ["ConditionalCheckFailed"]]
    left = list(refusals)

    def send(_: str, __: Any) -> dict[str, Any]:
        codes = left.pop(0) if len(left) > 1 else left[0]
        raise TransactionCanceled(reasons=[CancellationReason(code) for code in codes])

    with pytest.raises(TransactionCanceled, match="ConditionalCheckFailed"):
        run_by(send, transact("TransactWriteItems", {}))
    left = [["TransactionConflict"]]
    with pytest.raises(TransactionConflict):
        run_by(send, transact("TransactWriteItems", {}))


@pytest.mark.parametrize(("fails", "starts"), [(0, 1), (2, 3), (9, 4)])
def test_a_flow_is_started_again_as_often_as_said(fails: int, starts: int) -> None:
    begun: list[int] = []
    paused: list[int] = []

    def flow() -> Flow[str]:
        begun.append(1)
        yield from ()
        if len(begun) <= fails:
            raise Throttled("busy")
        return "done"

    def pause(attempt: int) -> Pause:
        paused.append(attempt)
        return Pause(0)

    def run() -> Any:
        return drive(retrying(flow, Throttled, attempts=4, pause=pause), lambda _: {})

    if fails < 4:
        assert run() == "done"
    else:
        with pytest.raises(Throttled):
            run()
    assert (len(begun), paused) == (starts, [*range(starts - 1)])


def test_another_problem_is_raised_at_once() -> None:
    def flow() -> Flow[str]:
        yield from ()
        raise TransactionConflict("no")

    with pytest.raises(TransactionConflict):
        drive(retrying(flow, Throttled), lambda _: {})
