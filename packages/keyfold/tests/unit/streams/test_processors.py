"""User processors: once for each change, with writes and events, and no harm to others."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import orjson
import pytest

from keyfold import Db, create, update
from keyfold.errors import KeyfoldError, NotFound, PlanError
from keyfold.streams import (
    AsyncConsumer,
    Consumer,
    ConsumerOptions,
    EventBridge,
    Policy,
    Queue,
    Sink,
    Sqs,
    Webhook,
    drop,
    letter,
    letters,
    replay,
    stream_handler,
)


@pytest.fixture
def seen(social: Any) -> list[tuple[str, str]]:
    """What the processor was called with."""
    calls: list[tuple[str, str]] = []

    def react(old: Any, new: Any, work: Any) -> None:
        calls.append(("remove" if new is None else "put", (new or old).user_id))

    social.react = react
    return calls


def test_a_processor_sees_each_change_once(
    db: Db, social: Any, seen: list[tuple[str, str]]
) -> None:
    db.create(social.like(post_id="p", user_id="ada"), )  # fmt: skip
    db.delete(social.like.key(post_id="p", user_id="ada"))
    Consumer(db).drain()
    Consumer(db).drain()
    assert seen == [("put", "ada"), ("remove", "ada")]


@pytest.fixture(autouse=True)
def a_post(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello"))


def test_writes_and_marker_are_one(db: Db, social: Any) -> None:
    def react(old: Any, new: Any, work: Any) -> Any:
        return [update(social.post.key(post_id="p"), title=f"Liked by {new.user_id}")]

    social.react = react
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db).drain()
    assert db.get(social.post.key(post_id="p")).title == "Liked by ada"


def test_a_coroutine_may_be_a_processor(db: Db, social: Any) -> None:
    async def react(old: Any, new: Any, work: Any) -> Any:
        return create(social.post(post_id=f"by-{new.user_id}", title="x"))

    social.react = react
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db).drain()
    assert db.get(social.post.key(post_id="by-ada")).title == "x"


def failing(social: Any, problem: Any) -> None:
    def react(old: Any, new: Any, work: Any) -> Any:
        if new.user_id == "bad":
            return problem()
        work.emit("liked", {"by": new.user_id})
        return None

    social.react = react


def boom() -> None:
    raise ValueError("it went wrong")


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (boom, "ValueError: it went wrong"),
        (lambda: "nonsense", "ProcessorFailed: react returned 'nonsense'"),
        (lambda: [42], "ProcessorFailed: react returned 42, which is not a write"),
        (lambda: time.sleep(30), "Overdue: processor react did not end within 0.2 seconds"),
    ],
    ids=["raises", "nonsense", "nonsense inside", "hangs"],
)
def test_a_failing_processor_ends_as_dead_letter_and_blocks_nobody(
    db: Db, social: Any, options: ConsumerOptions, problem: Any, reason: str
) -> None:
    failing(social, problem)
    for user in ("ada", "bad", "cy"):
        db.create(social.like(post_id="p", user_id=user))
    queue = Queue()
    outcome = Consumer(db, sinks=[queue], options=options).drain()
    assert outcome.dead == 1
    [dead] = db.run(letters(db.context))
    assert dead.effect == "processor react"
    assert dead.reason.startswith(reason)
    assert "Traceback" in dead.trace or "Overdue" in dead.trace
    assert {e.payload["by"] for e in db.run(queue.messages(db.context))} == {"ada", "cy"}
    assert db.get(social.post.key(post_id="p")).likes == 3


def test_a_failing_write_of_a_processor_is_a_dead_letter_too(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    social.react = lambda old, new, work: update(social.post.key(post_id="gone"), title="x")
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db, options=options).drain()
    [dead] = db.run(letters(db.context))
    assert dead.reason.startswith("NotFound")
    assert dead.attempts == 3


def test_a_processor_that_recovers_is_retried_in_order(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    calls: list[str] = []

    def react(old: Any, new: Any, work: Any) -> None:
        calls.append("remove" if new is None else "insert")
        if len(calls) == 1:
            raise ValueError("not yet")

    social.react = react
    db.create(social.like(post_id="p", user_id="ada"))
    db.delete(social.like.key(post_id="p", user_id="ada"))
    assert Consumer(db, options=options).drain().dead == 0
    assert calls == ["insert", "insert", "remove"]


def test_a_replayed_letter_has_its_effect_once(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    failing(social, boom)
    db.create(social.like(post_id="p", user_id="bad"))
    Consumer(db, options=options).drain()
    [dead] = db.run(letters(db.context))
    with pytest.raises(ValueError, match="it went wrong"):
        db.run(replay(db, dead))
    assert db.run(letter(db.context, dead.id)) == dead
    calls: list[str] = []
    social.react = lambda old, new, work: calls.append(new.user_id)
    db.run(replay(db, dead))
    assert calls == ["bad"]
    assert db.run(letters(db.context)) == []
    with pytest.raises(KeyfoldError):
        db.run(replay(db, dead))
    with pytest.raises(NotFound, match=r"dead letter .* not found"):
        db.run(letter(db.context, dead.id))


def test_a_dropped_letter_is_gone(db: Db, social: Any, options: ConsumerOptions) -> None:
    failing(social, boom)
    db.create(social.like(post_id="p", user_id="bad"))
    Consumer(db, options=options).drain()
    [dead] = db.run(letters(db.context))
    assert db.run(drop(db.context, dead.id)) is True
    assert db.run(drop(db.context, dead.id)) is False


def test_an_undecodable_record_is_a_dead_letter_and_can_be_replayed_once_it_is_readable(
    db: Db, social: Any, options: ConsumerOptions, seen: list[tuple[str, str]]
) -> None:
    item = {
        "PK": {"S": "POST#p"},
        "SK": {"S": "LIKE#x"},
        "type": {"S": "Like"},
        "postId": {"S": "p"},
        "userId": {"N": "5"},
    }
    db.client.call("PutItem", {"TableName": "Social", "Item": item})
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db, options=options).drain()
    [dead] = db.run(letters(db.context))
    assert (dead.effect, seen) == ("decoding", [("put", "ada")])
    with pytest.raises(KeyfoldError, match="cannot be read as Like"):
        db.run(replay(db, dead))


def test_events_reach_the_queue_in_order_and_leave_it_once_done(db: Db, social: Any) -> None:
    def react(old: Any, new: Any, work: Any) -> None:
        work.emit("liked" if new else "unliked", {"by": (new or old).user_id})

    social.react = react
    db.create(social.like(post_id="p", user_id="ada"))
    db.delete(social.like.key(post_id="p", user_id="ada"))
    queue = Queue("news")
    Consumer(db, sinks=[queue]).drain()
    first, second = db.run(queue.messages(db.context))
    assert [first.name, second.name] == ["liked", "unliked"]
    assert db.run(queue.done(db.context, first)) is True
    assert db.run(queue.done(db.context, first)) is False
    assert db.run(queue.messages(db.context)) == [second]


def test_events_wait_in_the_outbox_until_somebody_takes_them(db: Db, social: Any) -> None:
    social.react = lambda old, new, work: work.emit("liked", {"by": new.user_id}) and None
    db.create(social.like(post_id="p", user_id="ada"))
    consumer = Consumer(db)
    consumer.drain()
    assert consumer.status().waiting_events == 1
    queue = Queue()
    Consumer(db, sinks=[queue]).drain()
    assert consumer.status().waiting_events == 0
    assert len(db.run(queue.messages(db.context))) == 1


class Receiver:
    """A web server that refuses some posts first."""

    def __init__(self, refusals: int) -> None:
        self.posts: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.posts.append((dict(self.headers), body))
                self.send_response(500 if len(receiver.posts) <= refusals else 204)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver(refusals=2)
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_webhooks_are_signed_and_retried(
    db: Db, social: Any, receiver: Receiver, options: ConsumerOptions
) -> None:
    social.react = lambda old, new, work: work.emit("liked", {"by": new.user_id}) and None
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db, sinks=[Webhook(receiver.url, "secret")], options=options).drain()
    assert len(receiver.posts) == 3
    headers, body = receiver.posts[-1]
    expected = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    assert headers["X-Keyfold-Signature"] == f"sha256={expected}"
    assert orjson.loads(body)["payload"] == {"by": "ada"}
    assert {headers["X-Keyfold-Event"] for headers, _ in receiver.posts} == {
        orjson.loads(body)["id"]
    }


def test_a_webhook_that_stays_away_keeps_its_events_waiting(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    social.react = lambda old, new, work: work.emit("liked", {"by": new.user_id}) and None
    db.create(social.like(post_id="p", user_id="ada"))
    away = Webhook("http://127.0.0.1:9/", "secret", seconds=0.2)
    consumer = Consumer(db, sinks=[away], options=options)
    consumer.drain()
    assert consumer.status().waiting_events == 1


class Recorded:
    """Stands where AWS would: it keeps the requests that botocore would send."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def put_events(self, **request: Any) -> dict[str, Any]:
        self.sent.append(request)
        return {"FailedEntryCount": 0, "Entries": [{}]}

    def send_message(self, **request: Any) -> None:
        self.sent.append(request)


def test_events_go_to_a_bus_and_a_fifo_queue_of_aws(db: Db, social: Any) -> None:
    social.react = lambda old, new, work: work.emit("liked", {"by": new.user_id}) and None
    db.create(social.like(post_id="p", user_id="ada"))
    bus, queue = Recorded(), Recorded()
    sinks: list[Sink] = [
        EventBridge("main", "social", client=bus),
        Sqs("https://q/x.fifo", client=queue),
    ]
    Consumer(db, sinks=sinks).drain()
    [entry] = bus.sent[0]["Entries"]
    assert (entry["EventBusName"], entry["DetailType"]) == ("main", "liked")
    assert orjson.loads(queue.sent[0]["MessageBody"])["name"] == "liked"
    assert queue.sent[0]["MessageGroupId"]


def test_a_webhook_needs_a_web_address() -> None:
    with pytest.raises(KeyfoldError, match="not 'ftp://x'"):
        Webhook("ftp://x", "secret")


def lambda_event(db: Db) -> dict[str, Any]:
    """The records of the stream as Lambda hands them over."""
    [stream] = db.client.call("ListStreams", {"TableName": "Social"})["Streams"]
    arn = stream["StreamArn"]
    described = db.client.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    records = []
    for shard in described["Shards"]:
        request = {
            "StreamArn": arn,
            "ShardId": shard["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        }
        iterator = db.client.call("GetShardIterator", request)["ShardIterator"]
        records += db.client.call("GetRecords", {"ShardIterator": iterator})["Records"]
    return {"Records": [{**record, "eventSourceARN": arn} for record in records]}


def test_the_lambda_handler_has_the_same_effects_once(
    db: Db, social: Any, seen: list[tuple[str, str]]
) -> None:
    db.create(social.like(post_id="p", user_id="ada"))
    Consumer(db).drain()
    handler = stream_handler(db)
    event = lambda_event(db)
    assert handler(event, None) == {"batchItemFailures": []}
    assert handler(event, None) == {"batchItemFailures": []}
    assert seen == [("put", "ada")]
    assert db.get(social.post.key(post_id="p")).likes == 1


def test_the_lambda_handler_needs_no_consumer_before_it(db: Db, social: Any) -> None:
    assert db.run(letters(db.context)) == []
    db.create(social.like(post_id="p", user_id="ada"))
    assert stream_handler(db)(lambda_event(db), None) == {"batchItemFailures": []}
    assert db.get(social.post.key(post_id="p")).likes == 1


def test_the_lambda_handler_reports_what_the_backend_kept_back(
    db: Db, social: Any, engine: Any
) -> None:
    from keyfold_engine.engine.faults import Faults

    Consumer(db).drain()
    db.create(social.like(post_id="p", user_id="ada"))
    event = lambda_event(db)
    handler = stream_handler(db, Policy(patience=2, backoff=0.001))
    engine._faults = Faults(throttle=1.0)
    failures = handler(event, None)["batchItemFailures"]
    engine._faults = None
    sequences = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
    assert failures
    assert {one["itemIdentifier"] for one in failures} <= set(sequences)
    assert handler(event, None) == {"batchItemFailures": []}
    assert db.get(social.post.key(post_id="p")).likes == 1


def test_the_lambda_handler_refuses_records_of_a_foreign_table(db: Db) -> None:
    record = {"eventSourceARN": "arn:aws:dynamodb:r:1:table/Other/stream/x", "dynamodb": {}}
    with pytest.raises(KeyfoldError, match="the table Other, which the design does not have"):
        stream_handler(db)({"Records": [record]}, None)


def test_one_poisoned_counter_is_found_among_many_and_does_not_stop_them(
    db: Db, social: Any, options: ConsumerOptions
) -> None:
    db.create(social.post(post_id="good", title="Hello"))
    key = {"PK": {"S": "POST#p"}, "SK": {"S": "POST"}}
    Consumer(db, options=options).drain()
    for user in range(20):
        db.create(social.like(post_id="good", user_id=f"u{user}"))
        if user in (5, 6):
            db.create(social.like(post_id="p", user_id=f"u{user}"))
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Social",
            "Key": key,
            "UpdateExpression": "SET likes = :text",
            "ExpressionAttributeValues": {":text": {"S": "many"}},
        },
    )
    outcome = Consumer(db, options=options).drain()
    assert db.get(social.post.key(post_id="good")).likes == 20
    effects = {dead.effect for dead in db.run(letters(db.context))}
    assert "counter Post.likes" in effects
    assert outcome.dead == len(db.run(letters(db.context)))
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Social",
            "Key": key,
            "UpdateExpression": "SET likes = :zero",
            "ExpressionAttributeValues": {":zero": {"N": "0"}},
        },
    )
    for dead in db.run(letters(db.context)):
        if dead.effect == "counter Post.likes":
            db.run(replay(db, dead))
    assert db.get(social.post.key(post_id="p")).likes == 2


def test_on_an_event_loop_a_coroutine_reads_and_writes_and_a_hanging_one_is_given_up(
    social: Any, options: ConsumerOptions
) -> None:
    async def react(old: Any, new: Any, work: Any) -> Any:
        if new.user_id == "slow":
            await asyncio.sleep(30)
        post = await work.db.get(social.post.key(post_id=new.post_id))
        return update(post.ref(), title=f"{post.title} {new.user_id}")

    social.react = react

    async def story() -> tuple[str, list[str]]:
        db = await social.design.open_async(":memory:")
        await db.create(social.post(post_id="p", title="Hello"))
        for user in ("slow", "ada"):
            await db.create(social.like(post_id="p", user_id=user))
        await AsyncConsumer(db, options=options).drain()
        post = await db.get(social.post.key(post_id="p"))
        dead = await db.run(letters(db.context))
        await db.close()
        return post.title, [one.reason.partition(":")[0] for one in dead]

    assert asyncio.run(story()) == ("Hello ada", ["Overdue"])


@pytest.mark.parametrize("event", [{"httpMethod": "GET"}, {"Records": None}, [], None])
def test_an_event_of_another_source_is_refused_by_its_shape(db: Db, event: Any) -> None:
    with pytest.raises(PlanError, match="not from a DynamoDB stream"):
        stream_handler(db)(event, None)
