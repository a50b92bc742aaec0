"""Domain events of gg_core in queues of other people's servers, next to the stream."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from keyfold import AsyncDb
from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy, Sqs, stream_handler
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewActivity, NewUser
from keyfold_web import Identity

from .conftest import CREDENTIALS, ministack, moto

ANN, BEN = Identity.of("ann"), Identity.of("ben")
SERVERS: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "moto": moto,
    "ministack": ministack,
}


@pytest.fixture(scope="module", params=SERVERS)
def queues(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A client of a queue server."""
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as url:
        session = get_session()
        session.set_credentials(
            CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        )
        yield session.create_client("sqs", region_name="us-east-1", endpoint_url=url)


def opened(queues: Any, name: str) -> str:
    more = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    return str(queues.create_queue(QueueName=name, Attributes=more)["QueueUrl"])


def received(queues: Any, url: str) -> list[dict[str, Any]]:
    """Everything in a queue, as it comes; each message is deleted, as a reader does."""
    found: list[dict[str, Any]] = []
    while messages := queues.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0
    ).get("Messages"):
        for message in messages:
            found.append(json.loads(message["Body"]))
            queues.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return found


async def lived(db: AsyncDb) -> None:
    """Ann follows Ben, leaves him and comes back; he posts."""
    service = GgCore(db)
    for one in (ANN, BEN):
        input = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id)
        await service.create_user(input, caller=one)
    await service.follow_user("ben", caller=ANN)
    await service.post_activity(NewActivity(preview_text="Hello"), caller=BEN)
    await service.unfollow_user("ben", caller=ANN)
    await service.follow_user("ben", caller=ANN)


def told(events: list[dict[str, Any]]) -> list[str]:
    return sorted(event["name"] for event in events)


NAMES = ["ActivityPosted", "UserCreated", "UserCreated"]
FOLLOWS = ["UserFollowed", "UserUnfollowed", "UserFollowed"]


async def test_events_come_to_a_queue_once_and_in_order_for_each_item(
    queues: Any, sandbox: Sandbox
) -> None:
    db = await sandbox.open_async(design)
    plain, ordered = opened(queues, "once"), opened(queues, "once.fifo")
    sinks = [Sqs(plain, client=queues), Sqs(ordered, client=queues)]
    await lived(db)
    await AsyncConsumer(db, sinks=sinks).drain()
    await AsyncConsumer(db, sinks=sinks).drain()
    assert told(received(queues, plain)) == sorted(NAMES + FOLLOWS)
    events = received(queues, ordered)
    assert told(events) == sorted(NAMES + FOLLOWS)
    by_item: dict[str, list[str]] = defaultdict(list)
    for event in events:
        by_item[event["key"]].append(event["name"])
    assert FOLLOWS in by_item.values()


async def test_events_wait_for_a_queue_that_is_not_there(queues: Any, sandbox: Sandbox) -> None:
    db = await sandbox.open_async(design)
    url = opened(queues, "late")
    queues.delete_queue(QueueUrl=url)
    await lived(db)
    quick = ConsumerOptions(policy=Policy(attempts=1, backoff=0.001))
    await AsyncConsumer(db, sinks=[Sqs(url, client=queues)], options=quick).drain()
    assert await GgCore(db).counts("ben")
    opened(queues, "late")
    sandbox.clock.advance(3600)
    await AsyncConsumer(db, sinks=[Sqs(url, client=queues)]).drain()
    assert told(received(queues, url)) == sorted(NAMES + FOLLOWS)


async def test_a_function_behind_the_stream_brings_events_to_a_queue(
    queues: Any, sandbox: Sandbox
) -> None:
    db = await sandbox.open_async(design)
    await lived(db)
    url = opened(queues, "lambda")
    arn = (await db.client.call("DescribeTable", {"TableName": "gg_core"}))["Table"][
        "LatestStreamArn"
    ]
    stream = await db.client.call("DescribeStream", {"StreamArn": arn})
    handler = stream_handler(sandbox.open(design), sinks=[Sqs(url, client=queues)])
    for shard in stream["StreamDescription"]["Shards"]:
        start = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = await db.client.call("GetShardIterator", {"StreamArn": arn, **start})
        records = (await db.client.call("GetRecords", iterator))["Records"]
        batch = {"Records": [{**record, "eventSourceARN": arn} for record in records]}
        for _ in range(2):
            assert handler(batch, None) == {"batchItemFailures": []}
    assert told(received(queues, url)) == sorted(NAMES + FOLLOWS)
