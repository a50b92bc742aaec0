"""Reading streams up to now, and what verification makes of it while traffic goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from keyfold import Db, create
from keyfold.errors import StreamError
from keyfold.maintain import repair, verification, verify
from keyfold.runtime.flow import Flow, Pause
from keyfold.streams import AsyncConsumer, Consumer, ConsumerOptions, StreamStatus, worker_shards
from keyfold.streams.lease import Group, take
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine


@pytest.fixture(autouse=True)
def a_post(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="P"))


def like(db: Db, social: Any, user: str) -> None:
    db.create(social.like(post_id="p", user_id=user))


def test_catching_up_ends_though_every_record_is_followed_by_another(
    db: Db, social: Any, clock: ManualClock
) -> None:
    seen: list[str] = []

    def react(_: Any, new: Any, __: Any) -> Any:
        seen.append(new.user_id)
        clock.advance(2)
        return create(social.like(post_id="p", user_id=f"{new.user_id}+"))

    social.react = react
    like(db, social, "ada")
    like(db, social, "bob")
    Consumer(db).catch_up()
    assert {"ada", "bob"} <= set(seen)
    assert db.get(social.post.key(post_id="p")).likes >= 2


def test_catching_up_waits_for_others_and_says_who_does_not_read_on(db: Db, social: Any) -> None:
    like(db, social, "ada")
    Consumer(db).drain()
    like(db, social, "bob")
    [shard] = Consumer(db).status().shards
    db.run(take(db.context, Group("social"), shard.stream, shard.shard, "sleeper", 60))
    with pytest.raises(StreamError, match="held by the worker sleeper"):
        Consumer(db, options=ConsumerOptions(poll_seconds=0)).catch_up()


@pytest.mark.parametrize("wait", [Consumer.catch_up, Consumer.drain])
def test_a_worker_that_reads_on_is_waited_for_however_long_it_takes(
    db: Db, social: Any, monkeypatch: pytest.MonkeyPatch, wait: Callable[[Consumer], object]
) -> None:
    like(db, social, "ada")
    Consumer(db).drain()
    [shard] = Consumer(db).status().shards
    db.run(take(db.context, Group("social"), shard.stream, shard.shard, "busy", 60))
    rounds = iter(range(2_000))

    def reading_on(*_: object) -> Flow[StreamStatus]:
        number = next(rounds)
        moving = replace(shard, owner="busy", sequence=str(number // 100), lag_seconds=9.0)
        yield Pause(0)
        return StreamStatus((replace(moving, behind=number < 1_900),), 0, 0)

    monkeypatch.setattr(worker_shards, "status", reading_on)
    wait(Consumer(db, options=ConsumerOptions(poll_seconds=0)))
    assert next(rounds) > 1_900


def test_what_waits_in_the_stream_is_no_drift(db: Db, social: Any) -> None:
    like(db, social, "ada")
    assert not verify(db).clean
    assert verify(db, settle=Consumer(db).catch_up).clean


async def test_on_an_event_loop_streams_are_caught_up_with_too(
    db: Db, social: Any, engine: Engine, clock: ManualClock
) -> None:
    like(db, social, "ada")
    opened = await social.design.open_async(AsyncEmbeddedClient(engine), clock=clock)
    settle = AsyncConsumer(opened).catch_up
    assert not (await opened.run(verification(opened.context))).clean
    assert (await opened.run(verification(opened.context, settle=settle))).clean


def test_a_counter_that_is_always_behind_by_the_same_is_not_repaired_away(
    db: Db, social: Any
) -> None:
    like(db, social, "ada")
    looks = 0

    def settle() -> None:
        # Before the second look the first like is counted, and another one waits.
        nonlocal looks
        looks += 1
        if looks == 2:
            Consumer(db).drain()
            like(db, social, "bob")

    report = verify(db, only=["counter Post.likes"], settle=settle)
    assert looks == 2
    repair(db, report)
    Consumer(db).drain()
    assert db.get(social.post.key(post_id="p")).likes == 2


def test_a_counter_that_rests_and_is_wrong_is_found_and_repaired(db: Db, social: Any) -> None:
    like(db, social, "ada")
    Consumer(db).drain()
    key = social.post.key(post_id="p").wire()
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Social",
            "Key": key,
            "UpdateExpression": "SET likes = :n",
            "ExpressionAttributeValues": {":n": {"N": "9"}},
        },
    )
    settle = Consumer(db).catch_up
    assert repair(db, verify(db, settle=settle)).fixed == 1
    assert verify(db, settle=settle).clean
    assert db.get(social.post.key(post_id="p")).likes == 1


def test_what_is_settled_is_counted_once_however_often_it_is_read(db: Db, social: Any) -> None:
    like(db, social, "ada")
    Consumer(db).drain()
    before = Consumer(db).status().records
    Consumer(db).drain()
    assert Consumer(db).status().records == before > 0
    like(db, social, "bob")
    Consumer(db).drain()
    assert Consumer(db).status().records > before
