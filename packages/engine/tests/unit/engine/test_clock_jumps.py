"""A clock that is wrong for a while deletes nothing, and stops no clean-up for longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fault.replay import replayed

from keyfold_engine.clock import SystemClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.moments import BELIEVED_AFTER, Horizon

DAY = 86_400.0
TABLE = {
    "TableName": "Timed",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


class Machine(SystemClock):
    """A machine whose clock can be set, and the seconds that really pass on it."""

    def __init__(self) -> None:
        self.set_by = 0.0
        self.seconds = 0.0

    def now(self) -> float:
        return 1_700_000_000.0 + self.seconds + self.set_by

    def passed(self) -> float:
        return self.seconds


def _transact(engine: Engine, token: str) -> None:
    item = {"pk": {"S": token}}
    put: Any = {"Put": {"TableName": "Timed", "Item": item}}
    engine.call("TransactWriteItems", {"TransactItems": [put], "ClientRequestToken": token})


def _opened(path: Path, machine: Machine) -> Engine:
    engine = Engine.open(path, clock=machine, durability="memory")
    engine._database.horizon = Horizon(machine, machine.passed)
    engine.call("CreateTable", TABLE)
    return engine


def test_two_days_ahead_trims_no_stream_unread(tmp_path: Path) -> None:
    machine = Machine()
    with _opened(tmp_path / "data.db", machine) as engine:
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "a"}}})
        machine.set_by = 2 * DAY
        engine.sweep()
        assert set(replayed(engine)) == {"a"}
        machine.set_by = 0
        engine.sweep()
        assert set(replayed(engine)) == {"a"}


def test_two_days_that_really_passed_trim_the_stream(tmp_path: Path) -> None:
    machine = Machine()
    with _opened(tmp_path / "data.db", machine) as engine:
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "a"}}})
        machine.seconds += 2 * DAY
        engine.sweep()
        assert replayed(engine) == {}


def test_nothing_expires_by_a_clock_that_leaps(tmp_path: Path) -> None:
    machine = Machine()
    with _opened(tmp_path / "data.db", machine) as engine:
        ttl = {"Enabled": True, "AttributeName": "ends"}
        engine.call("UpdateTimeToLive", {"TableName": "Timed", "TimeToLiveSpecification": ttl})
        item = {"pk": {"S": "a"}, "ends": {"N": str(int(machine.now() + DAY))}}
        engine.call("PutItem", {"TableName": "Timed", "Item": item})
        machine.set_by = 30 * DAY
        assert engine.sweep() == 0
        machine.seconds += BELIEVED_AFTER + 1
        assert engine.sweep() == 1


def test_tokens_from_a_year_ahead_do_not_stop_the_clean_up(tmp_path: Path) -> None:
    machine = Machine()
    path = tmp_path / "data.db"
    with _opened(path, machine) as engine:
        machine.set_by = 365 * DAY
        _transact(engine, "from the future")
        machine.set_by = 0
        engine.sweep()
        for number in range(20):
            _transact(engine, f"token{number}")
        machine.seconds += 700
        for number in range(30):
            _transact(engine, f"later{number}")
        connection = engine._database.commits._writer.connection
        kept: Any = connection.execute("SELECT token FROM tokens").fetchall()
    assert {token for (token,) in kept} == {f"later{number}" for number in range(30)}


def test_a_token_from_ahead_of_time_is_still_good_after_the_clock_went_back(tmp_path: Path) -> None:
    machine = Machine()
    with _opened(tmp_path / "data.db", machine) as engine:
        machine.set_by = 365 * DAY
        _transact(engine, "again")
        machine.set_by = 0
        engine.sweep()
        before = len(replayed(engine))
        _transact(engine, "again")
        assert len(replayed(engine)) == before


def test_records_written_a_day_back_are_kept_when_the_clock_is_corrected(tmp_path: Path) -> None:
    machine = Machine()
    path = tmp_path / "data.db"
    with _opened(path, machine) as engine:
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "before"}}})
        machine.set_by = -DAY
        machine.seconds += 60
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "back"}}})
    # Another process learns from the file how late it is.
    with Engine.open(path, clock=machine) as engine:
        engine._database.horizon = Horizon(machine, machine.passed)
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "restarted"}}})
        machine.set_by = 0
        engine.sweep()
        machine.seconds += BELIEVED_AFTER + 1
        engine.sweep()
        assert set(replayed(engine)) == {"before", "back", "restarted"}


def test_one_record_from_a_year_ahead_does_not_date_the_others(tmp_path: Path) -> None:
    machine = Machine()
    with _opened(tmp_path / "data.db", machine) as engine:
        machine.set_by = 365 * DAY
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "ahead"}}})
        machine.set_by = 0
        engine.call("PutItem", {"TableName": "Timed", "Item": {"pk": {"S": "now"}}})
        machine.seconds += 2 * DAY
        engine.sweep()
        assert "now" not in replayed(engine)
