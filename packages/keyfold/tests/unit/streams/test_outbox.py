"""Events on their way to sinks: by one worker at a time, and in nobody's way."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from keyfold import Db
from keyfold.errors import InternalFailure, NotFound, StreamError, ValidationError
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow, Invoke
from keyfold.streams import AsyncConsumer, Consumer, ConsumerOptions, Event, Queue, forget, waiting
from keyfold.streams.lease import Renewals
from keyfold.streams.outbox import BUCKETS
from keyfold.streams.turn import Turns
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine


@pytest.fixture(autouse=True)
def a_post(db: Db, social: Any) -> None:
    social.react = lambda old, new, work: work.emit("liked", {"by": new.user_id}) and None
    db.create(social.post(post_id="p", title="P"))


class Called:
    """A sink that calls a function with each event."""

    name = "called"

    def __init__(self, function: Any) -> None:
        self.function = function

    def deliver(self, context: Context, event: Event) -> Flow[None]:
        yield Invoke(lambda: self.function(event), 30, self.name)


def like(db: Db, social: Any, *users: str) -> None:
    for user in users:
        db.create(social.like(post_id="p", user_id=user))


def test_while_one_worker_brings_events_another_does_not_bring_them_too(
    db: Db, social: Any
) -> None:
    brought: list[str] = []
    other = Consumer(db, sinks=[Called(lambda event: brought.append(event.payload["by"]))])

    def bring(event: Event) -> None:
        brought.append(event.payload["by"])
        other.run_once()

    like(db, social, "ada", "bob", "cyd")
    consumer = Consumer(db, sinks=[Called(bring)])
    consumer.drain()
    assert sorted(brought) == ["ada", "bob", "cyd"]
    assert consumer.status().waiting_events == 0


def test_a_worker_that_died_bringing_events_is_followed_by_another(
    db: Db, social: Any, clock: ManualClock
) -> None:
    like(db, social, "ada")
    Consumer(db).drain()
    died = Turns(db.context, "died", 30.0, Renewals(clock))
    for bucket in range(BUCKETS):
        db.run(died.take(f"OUTBOX#{bucket}"))
    queue = Queue()
    with pytest.raises(StreamError, match="another worker that delivers events"):
        Consumer(db, sinks=[queue], options=ConsumerOptions(poll_seconds=0)).drain()
    clock.advance(31)
    Consumer(db, sinks=[queue]).drain()
    assert [event.payload["by"] for event in db.run(queue.messages(db.context))] == ["ada"]


def test_a_turn_of_a_dead_worker_whose_clock_was_ahead_ends(db: Db, clock: ManualClock) -> None:
    Consumer(db).drain()
    far = replace(db.context, clock=ManualClock(clock.now() + 3600))
    assert db.run(Turns(far, "died", 30.0, Renewals(far.clock)).take("events")) is not None
    heir = Turns(db.context, "heir", 30.0, Renewals(clock))
    assert db.run(heir.take("events")) is None
    clock.advance(31)
    assert db.run(heir.take("events")) is not None


def test_a_sink_that_hangs_keeps_no_record_waiting(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    hanging, free = threading.Event(), threading.Event()

    def hang(_: Event) -> None:
        hanging.set()
        assert free.wait(30)

    consumer = Consumer(db, sinks=[Called(hang)], options=options)
    running = threading.Thread(target=consumer.run, daemon=True)
    running.start()
    try:
        like(db, social, "ada")
        assert hanging.wait(30)
        like(db, social, "bob")
        counted = threading.Event()
        while not counted.wait(0.01):
            if db.get(social.post.key(post_id="p")).likes == 2:
                counted.set()
    finally:
        free.set()
        consumer.stop()
        running.join(30)
    assert not running.is_alive()
    assert consumer.status().waiting_events == 0


def test_a_turn_lasts_as_long_as_its_events_take(
    db: Db, social: Any, clock: ManualClock, options: ConsumerOptions
) -> None:
    like(db, social, "ada")
    for _ in range(5):
        at = db.context.now() + timedelta(days=9)
        db.update(social.like.key(post_id="p", user_id="ada"), expires_at=at)
        clock.advance(1)
    Consumer(db, options=options).drain()
    brought: list[str] = []
    others: list[str] = []
    other = Consumer(db, sinks=[Called(lambda event: others.append(event.id))], options=options)

    def take(event: Event) -> None:
        brought.append(event.id)
        clock.advance(options.lease_seconds * 0.4)
        other.run_once()

    Consumer(db, sinks=[Called(take)], options=options).drain()
    assert len(brought) == len(set(brought)) == 6
    assert others == []


class Breaking(EmbeddedClient):
    """Answers the first reads of the outbox with a failure."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.left = 2

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if self.left and operation == "Query" and "OUTBOX" in str(request):
            self.left -= 1
            raise InternalFailure("not now") if self.left else ValidationError("not so")
        return super().call(operation, request)


def test_events_that_could_not_be_read_are_brought_later(
    social: Any, engine: Engine, options: ConsumerOptions
) -> None:
    client = Breaking(engine)
    db = social.design.open(client)
    brought: list[str] = []
    arrived = threading.Event()

    def take(event: Event) -> None:
        brought.append(event.payload["by"])
        arrived.set()

    consumer = Consumer(db, sinks=[Called(take)], options=options)
    running = threading.Thread(target=consumer.run, daemon=True)
    running.start()
    like(db, social, "ada")
    assert arrived.wait(30)
    consumer.stop()
    running.join(30)
    assert (brought, client.left) == (["ada"], 0)


async def test_an_async_consumer_reads_on_while_a_sink_hangs(
    social: Any, engine: Engine, clock: ManualClock, db: Db, options: ConsumerOptions
) -> None:
    opened = await social.design.open_async(AsyncEmbeddedClient(engine), clock=clock)
    hanging, free = threading.Event(), threading.Event()

    def hang(_: Event) -> None:
        hanging.set()
        assert free.wait(30)

    consumer = AsyncConsumer(opened, sinks=[Called(hang)], options=options)
    running = asyncio.create_task(consumer.run())
    try:
        like(db, social, "ada")
        assert await asyncio.to_thread(hanging.wait, 30)
        like(db, social, "bob")
        while db.get(social.post.key(post_id="p")).likes < 2:
            await asyncio.sleep(0.01)
    finally:
        free.set()
        consumer.stop()
        await running
    assert (await consumer.status()).waiting_events == 0


def test_a_sink_that_hangs_is_tried_once_a_round(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    tried: list[str] = []

    def hang(event: Event) -> None:
        tried.append(event.id)
        raise TimeoutError

    like(db, social, *(f"user{n}" for n in range(20)))
    consumer = Consumer(db, sinks=[Called(hang)], options=options)
    consumer.run_once()
    assert len(tried) == 1
    assert consumer.status().waiting_events == 20


def test_an_event_that_no_sink_will_ever_take_can_be_forgotten(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    like(db, social, "ada")
    Consumer(db, options=options).drain()
    [event] = db.run(waiting(db.context))
    assert event.payload == {"by": "ada"}
    db.run(forget(db.context, event.id))
    assert db.run(waiting(db.context)) == []
    with pytest.raises(NotFound, match=event.id):
        db.run(forget(db.context, event.id))
