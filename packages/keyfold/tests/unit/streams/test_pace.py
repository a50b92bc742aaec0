"""A consumer polls soon while records come, seldom while none do, and at once when it is told."""

from __future__ import annotations

import asyncio
import threading

from keyfold.streams.pace import QUICK_SECONDS, AsyncAlarm, Pace, WakeUp, spacing
from keyfold.streams.record_batch import Outcome
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.engine import Engine

TABLE = {
    "TableName": "Told",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
PUT = {"TableName": "Told", "Item": {"pk": {"S": "a"}}}
FOREVER = 3600.0


def test_rests_double_while_nothing_comes_up_to_the_longest() -> None:
    pace = Pace(longest=0.5, batch=10)
    rests = [pace.rest(Outcome()) for _ in range(6)]
    assert rests == [QUICK_SECONDS, 0.1, 0.2, 0.4, 0.5, 0.5]


def test_records_make_the_rests_short_again() -> None:
    pace = Pace(longest=0.5, batch=10)
    for _ in range(6):
        pace.rest(Outcome())
    assert pace.rest(Outcome(records=1)) == QUICK_SECONDS


def test_a_full_batch_is_followed_by_the_next_without_a_rest() -> None:
    assert Pace(longest=0.5, batch=10).rest(Outcome(records=10)) == 0.0


def test_the_longest_rest_bounds_the_first_too() -> None:
    assert Pace(longest=0.01, batch=10).rest(Outcome()) == 0.01


def test_commits_wake_a_consumer_less_often_while_they_bring_it_nothing() -> None:
    pace = Pace(longest=0.5, batch=10)
    after_records = spacing(pace.rest(Outcome(records=1)))
    after_nothing = [spacing(pace.rest(Outcome())) for _ in range(5)]
    assert after_records < after_nothing[0]
    assert after_nothing == sorted(after_nothing)
    assert after_nothing[-1] == QUICK_SECONDS


def test_a_commit_ends_the_rest_of_a_consumer_in_the_same_process() -> None:
    alarm = WakeUp()
    with Engine.open() as engine, alarm.listening(EmbeddedClient(engine)):
        engine.call("CreateTable", TABLE)
        alarm.reset()
        resting = threading.Thread(target=alarm.wait, args=(FOREVER,), daemon=True)
        resting.start()
        engine.call("PutItem", PUT)
        resting.join(30)
        assert not resting.is_alive()


def test_a_commit_after_the_poll_began_is_not_slept_through() -> None:
    alarm = WakeUp()
    with Engine.open() as engine, alarm.listening(EmbeddedClient(engine)):
        alarm.reset()
        engine.call("CreateTable", TABLE)
        resting = threading.Thread(target=alarm.wait, args=(FOREVER,), daemon=True)
        resting.start()
        resting.join(30)
        assert not resting.is_alive()


def test_a_stop_ends_the_rest() -> None:
    alarm = WakeUp()
    resting = threading.Thread(target=alarm.wait, args=(FOREVER,), daemon=True)
    resting.start()
    alarm.stop()
    resting.join(30)
    assert not resting.is_alive()


async def test_a_commit_ends_the_rest_of_a_task() -> None:
    alarm = AsyncAlarm()
    client = AsyncEmbeddedClient(Engine.open())
    with alarm.listening(client):
        alarm.reset()
        resting = asyncio.create_task(alarm.wait(FOREVER))
        await client.call("CreateTable", TABLE)
        await asyncio.wait_for(resting, 30)
    await client.close()


def test_nobody_is_told_after_the_listening_is_over() -> None:
    told: list[None] = []
    with Engine.open() as engine:
        forget = engine.on_commit(lambda: told.append(None))
        engine.call("CreateTable", TABLE)
        forget()
        before = len(told)
        engine.call("PutItem", PUT)
    assert before > 0
    assert len(told) == before


def test_a_tenth_of_a_wait_is_slept_whatever_is_committed() -> None:
    assert spacing(0.1) == 0.01


async def test_a_task_rests_until_something_is_committed() -> None:
    alarm = AsyncAlarm()
    alarm.reset()
    resting = asyncio.create_task(alarm.wait(FOREVER))
    done, _ = await asyncio.wait({resting}, timeout=3 * QUICK_SECONDS)
    assert done == set()
    alarm.stop()
    await asyncio.wait_for(resting, 30)
