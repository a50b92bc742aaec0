"""A restore to any moment has a transaction whole, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.fault.replay import replayed

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

ACCOUNTS = ("a", "b", "c")
TABLE: dict[str, Any] = {
    "TableName": "Accounts",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


class TickingClock(ManualClock):
    """A clock that goes on with every look at it."""

    def now(self) -> float:
        self.advance(0.25)
        return super().now()


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = ":memory:" if request.param == "memory" else tmp_path / "accounts.db"
    with Engine.open(path, clock=TickingClock()) as opened:
        opened.call("CreateTable", TABLE)
        opened.call(
            "UpdateContinuousBackups",
            {
                "TableName": "Accounts",
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            },
        )
        yield opened


def transaction(turn: int) -> dict[str, Any]:
    items = [{"pk": {"S": key}, "turn": {"N": str(turn)}} for key in ACCOUNTS]
    return {"TransactItems": [{"Put": {"TableName": "Accounts", "Item": i}} for i in items]}


def restored(engine: Engine, moment: float, name: str) -> list[str]:
    engine.call(
        "RestoreTableToPointInTime",
        {
            "SourceTableName": "Accounts",
            "TargetTableName": name,
            "RestoreDateTime": moment,
        },
    )
    return [item["turn"]["N"] for item in engine.call("Scan", {"TableName": name})["Items"]]


def test_every_moment_has_all_of_a_transaction_or_nothing(engine: Engine) -> None:
    clock = engine.database.clock
    begun = clock.now()
    for turn in range(3):
        engine.call("TransactWriteItems", transaction(turn))
    ended = clock.now()
    moments = [begun + step * 0.25 for step in range(int((ended - begun) * 4))]
    assert len(moments) >= 3
    for number, moment in enumerate(moments):
        turns = restored(engine, moment, f"Restored{number}")
        assert len(turns) in (0, 3)
        assert len(set(turns)) <= 1, f"torn at {moment - begun}: {turns}"


def test_transactions_that_share_a_commit_are_whole(engine: Engine) -> None:
    clock = engine.database.clock
    begun = clock.now()
    bodies = [("TransactWriteItems", orjson.dumps(transaction(turn))) for turn in range(3)]
    assert all(isinstance(each, bytes) for each in engine.call_many_bytes(bodies))
    ended = clock.now()
    for number in range(int((ended - begun) * 4)):
        turns = restored(engine, begun + number * 0.25, f"Restored{number}")
        assert len(turns) in (0, 3)
        assert len(set(turns)) <= 1


def test_the_records_of_a_transaction_have_one_time(engine: Engine) -> None:
    engine.call("TransactWriteItems", transaction(1))
    assert set(replayed(engine)) == set(ACCOUNTS)
    session = engine.database.commits._writer
    assert len({at for (at,) in session.all("SELECT at FROM records")}) == 1
