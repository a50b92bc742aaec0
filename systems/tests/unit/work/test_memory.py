"""Memory does not depend on the size of the table: ten times the items, the same peak."""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import apsw
import pytest
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

from keyfold import (
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Unique,
)
from keyfold.cli import main
from keyfold.feeds import Feed, Flag
from keyfold.maintain import DriftReport, rebuild, verify
from keyfold.migrations import Backend, Migration, Migrator, ScanPace, add, move, remove
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import file

Work = Callable[[], object]
Case = Callable[[Path, int], AbstractContextManager[Work]]

FEW = 1_000
TIMES = 10
SLACK = 1_000_000
"""Beside the 9 MB that the larger table has more: buffers, samples, modules that are imported."""
TEXT = "x" * 1_000
LONG_TEXT = "x" * 8_000
DAY = 86_400
NOW = datetime(2026, 1, 1, tzinfo=UTC)

TABLE: dict[str, Any] = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
THINGS = {"TableName": "Things"}
BUCKET = {"S3Bucket": "bucket"}

design = Design("memory")
table = design.table(
    "memory", stream="NEW_AND_OLD_IMAGES", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")]
)


class Author(Entity, table=table):
    author_id: Id
    posts: Annotated[int, Counter("Post")] = 0
    key = Key("AUTHOR#{author_id}", "AUTHOR")


class Post(Entity, table=table):
    post_id: Id
    author_id: Id
    slug: str
    text: str = ""
    group_ids: set[str] = set()
    key = Key("POST#{post_id}", "POST")
    by_slug = On("GSI1", "SLUG#{slug}", "POST#{post_id}")
    one_slug = Unique("slug")


class GroupPost(Pointer[Post], table=table, each="group_ids"):
    group_id: str
    post_id: Id
    slug: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


social = Design("memory-feed")
network = network_table(social)


class Follow(FollowFields, table=network):
    pass


class Activity(ActivityFields, table=network):
    pass


class FeedItem(FeedItemFields, table=network):
    pass


class Promotion(PromotionFields, table=network):
    pass


feed = Feed(
    "home",
    activity=Activity,
    edge=Follow,
    item=FeedItem,
    push=Flag(Promotion, "fanout_enabled", since="updated_at"),
)


orders = Design("memory-orders")
shelf = orders.table("shelf")
archive = Design("memory-archive")
archived = archive.table("archived")


class Order(Entity, table=shelf):
    order_id: Id
    text: str
    key = Key("ORDER#{order_id}", "ORDER")


class OldOrder(Entity, table=archived):
    order_id: Id
    text: str
    key = Key("OLD#{order_id}", "ORDER")


def _fill(engine: Engine, count: int, text: str = "") -> None:
    for first in range(0, count, 25):
        puts = [
            {
                "PutRequest": {
                    "Item": {
                        "pk": {"S": f"{number:08d}"},
                        "group": {"S": f"group {number % 7}"},
                        "ends": {"N": "1700000100"},
                        "text": {"S": text or TEXT},
                    }
                }
            }
            for number in range(first, min(first + 25, count))
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"Things": puts}})


@contextmanager
def _engine(folder: Path, clock: ManualClock | None = None) -> Iterator[Engine]:
    (folder / "bucket").mkdir(parents=True, exist_ok=True)
    path = folder / "data.db"
    with Engine.open(path, durability="memory", clock=clock, buckets=folder) as engine:
        yield engine


@contextmanager
def _filled(
    folder: Path, count: int, clock: ManualClock | None = None, **more: Any
) -> Iterator[Engine]:
    with _engine(folder, clock) as engine:
        engine.call("CreateTable", {**TABLE, **more})
        _fill(engine, count)
        yield engine


def _scan_all(engine: Engine, **more: Any) -> None:
    request: dict[str, Any] = {**THINGS, **more}
    while True:
        page = engine.call("Scan", request)
        if "LastEvaluatedKey" not in page:
            return
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


@contextmanager
def scan(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:
        yield lambda: _scan_all(engine)


@contextmanager
def filtered_scan(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:
        yield lambda: _scan_all(
            engine,
            FilterExpression="#g = :g",
            ExpressionAttributeNames={"#g": "group"},
            ExpressionAttributeValues={":g": {"S": "group 1"}},
        )


@contextmanager
def index_backfill(folder: Path, count: int) -> Iterator[Work]:
    create = {
        "IndexName": "by_group",
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    attributes = [*TABLE["AttributeDefinitions"], {"AttributeName": "group", "AttributeType": "S"}]

    with _filled(folder, count) as engine:

        def work() -> None:
            engine.call(
                "UpdateTable",
                {
                    **THINGS,
                    "AttributeDefinitions": attributes,
                    "GlobalSecondaryIndexUpdates": [{"Create": create}],
                },
            )
            while True:
                found = engine.call("DescribeTable", THINGS)["Table"]
                if found["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE":
                    return
                time.sleep(0.01)

        yield work


def _recoverable(engine: Engine) -> str:
    engine.call(
        "UpdateContinuousBackups",
        {**THINGS, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    )
    arn: str = engine.call("DescribeTable", THINGS)["Table"]["TableArn"]
    return arn


@contextmanager
def export(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:
        arn = _recoverable(engine)
        yield lambda: engine.call("ExportTableToPointInTime", {"TableArn": arn, **BUCKET})


@contextmanager
def export_of_the_past(folder: Path, count: int) -> Iterator[Work]:
    clock = ManualClock()
    with _filled(folder, count, clock) as engine:
        arn = _recoverable(engine)
        moment = clock.now() + 1
        clock.advance(60)
        _fill(engine, count, TEXT.upper())
        request = {"TableArn": arn, **BUCKET, "ExportTime": moment}
        yield lambda: engine.call("ExportTableToPointInTime", request)


@contextmanager
def export_of_changes(folder: Path, count: int) -> Iterator[Work]:
    clock = ManualClock()
    with _filled(folder, 0, clock) as engine:
        arn = _recoverable(engine)
        start = clock.now()
        clock.advance(60)
        _fill(engine, count)
        clock.advance(3600)
        request = {
            "TableArn": arn,
            **BUCKET,
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": {
                "ExportFromTime": start,
                "ExportToTime": clock.now() - 60,
            },
        }
        yield lambda: engine.call("ExportTableToPointInTime", request)


@contextmanager
def import_(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:
        engine.call("ExportTableToPointInTime", {"TableArn": _recoverable(engine), **BUCKET})
        request = {
            "InputFormat": "DYNAMODB_JSON",
            "S3BucketSource": BUCKET,
            "TableCreationParameters": {**TABLE, "TableName": "Imported"},
        }
        yield lambda: engine.call("ImportTable", request)


@contextmanager
def backup_and_restore(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:

        def work() -> None:
            made = engine.call("CreateBackup", {**THINGS, "BackupName": "backup"})
            arn = made["BackupDetails"]["BackupArn"]
            request = {"TargetTableName": "Restored", "BackupArn": arn}
            engine.call("RestoreTableFromBackup", request)

        yield work


@contextmanager
def restore_of_the_past(folder: Path, count: int) -> Iterator[Work]:
    clock = ManualClock()
    with _filled(folder, count, clock) as engine:
        _recoverable(engine)
        moment = clock.now() + 1
        clock.advance(60)
        _fill(engine, count, TEXT.upper())
        request = {
            "SourceTableName": "Things",
            "TargetTableName": "Restored",
            "RestoreDateTime": moment,
        }
        yield lambda: engine.call("RestoreTableToPointInTime", request)


@contextmanager
def ttl_sweep(folder: Path, count: int) -> Iterator[Work]:
    """With all that a sweep has to do: expiry noted, items deleted, old records forgotten."""
    clock = ManualClock()
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    with _filled(folder, count, clock, StreamSpecification=stream) as engine:
        _recoverable(engine)

        def work() -> None:
            wish = {"Enabled": True, "AttributeName": "ends"}
            engine.call("UpdateTimeToLive", {**THINGS, "TimeToLiveSpecification": wish})
            clock.advance(2 * DAY)
            assert engine.sweep() == count
            clock.advance(40 * DAY)
            assert engine.sweep() == 0

        yield work


@contextmanager
def deletion(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count) as engine:
        yield lambda: engine.call("DeleteTable", THINGS)


@contextmanager
def dump(folder: Path, count: int) -> Iterator[Work]:
    with _filled(folder, count):
        pass
    yield lambda: main(["dump", str(folder / "data.db"), "Things", str(folder / "out")])


@contextmanager
def load(folder: Path, count: int) -> Iterator[Work]:
    with dump(folder, count) as work:
        work()
    yield lambda: main(["load", str(folder / "data.db"), "Loaded", str(folder / "out")])


@contextmanager
def _posts(folder: Path, count: int) -> Iterator[Db]:
    with _engine(folder) as engine, design.open(EmbeddedClient(engine)) as db:
        for number in range(count):
            if number % 10 == 0:
                author = db.put(Author(author_id=f"{number:08d}"))
            db.put(
                Post(
                    post_id=f"{number:08d}",
                    author_id=author.author_id,
                    slug=f"slug {number:08d}",
                    text=LONG_TEXT,
                    group_ids={f"group {number:08d}"},
                )
            )
        yield db


@contextmanager
def verification(folder: Path, count: int) -> Iterator[Work]:
    with _posts(folder, count // 10) as db:
        yield lambda: _clean(verify(db))


@contextmanager
def verification_of_a_feed(folder: Path, count: int) -> Iterator[Work]:
    """Everybody has followed one source, which pushes, and has copies of what it posted."""
    clock = ManualClock(NOW.timestamp() - 120)
    with _engine(folder, clock) as engine, social.open(EmbeddedClient(engine), clock=clock) as db:
        db.put(Promotion(user_id="star", fanout_enabled=True))
        posts = [
            Activity(actor_id="star", created_at=NOW, activity_id=f"a{number}", text=TEXT)
            for number in range(5)
        ]
        db.put_many(posts)
        for number in range(count // 5):
            reader = f"{number:08d}"
            db.put_many([feed.copy(post, reader) for post in posts])
            db.put(Follow(follower_id=reader, followee_id="star"))
        clock.advance(120)
        yield lambda: _clean(verify(db))


@contextmanager
def repair_of_everything(folder: Path, count: int) -> Iterator[Work]:
    with _posts(folder, count // 10) as db:
        for number in range(count // 10):
            pointer = GroupPost.key(group_id=f"group {number:08d}", post_id=f"{number:08d}")
            request = {"TableName": "memory", "Key": pointer.wire()}
            db.client.call("DeleteItem", request)
        yield lambda: _clean(rebuild(db))


def _clean(report: DriftReport) -> None:
    assert report.clean, str(report)


@contextmanager
def migration(folder: Path, count: int) -> Iterator[Work]:
    with _engine(folder) as engine, orders.open(EmbeddedClient(engine)) as db:
        for number in range(count // 10):
            db.put(Order(order_id=f"{number:08d}", text=LONG_TEXT))
        step = move(
            Order,
            OldOrder,
            forward=lambda order: OldOrder(order_id=order.order_id, text=order.text),
            backward=lambda order: Order(order_id=order.order_id, text=order.text),
        )
        change = Migration("archive", [add(archived.schema), step, remove(shelf.schema)])
        yield Migrator(
            change, Backend(EmbeddedClient(engine)), pace=ScanPace(page=50), without_routers=True
        ).apply


CASES: list[Case] = [
    scan,
    filtered_scan,
    index_backfill,
    export,
    export_of_the_past,
    export_of_changes,
    import_,
    backup_and_restore,
    restore_of_the_past,
    ttl_sweep,
    deletion,
    dump,
    load,
    verification,
    verification_of_a_feed,
    repair_of_everything,
    migration,
]


def _peak(case: Case, folder: Path, count: int) -> int:
    """The most that Python and SQLite took for the work, beyond what they had before."""
    with case(folder, count) as work:
        gc.collect()
        before = apsw.memory_used()
        apsw.memory_high_water(True)
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1] + apsw.memory_high_water() - before
        finally:
            tracemalloc.stop()


LARGE_ITEMS: list[Case] = [
    index_backfill,
    import_,
    backup_and_restore,
    restore_of_the_past,
    ttl_sweep,
]


@pytest.mark.parametrize("case", LARGE_ITEMS, ids=lambda case: case.__name__)
def test_of_large_items_only_few_are_in_memory(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "CACHE_KILOBYTES", 256)
    count, size = 600, 100_000
    monkeypatch.setattr(sys.modules[__name__], "TEXT", "x" * size)
    assert _peak(case, tmp_path, count) < count * size / 4


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_memory_does_not_grow_with_the_table(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The cache of pages is bounded; a small one is full before the growth could hide in it.
    monkeypatch.setattr(file, "CACHE_KILOBYTES", 256)
    few = _peak(case, tmp_path / "few", FEW)
    many = _peak(case, tmp_path / "many", FEW * TIMES)
    assert many < 2 * few + SLACK
