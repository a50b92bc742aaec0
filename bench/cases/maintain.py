"""Maintainers: pointers in the transaction, counters by the stream, verify."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Thread
from typing import Annotated

from pydantic import Field

from bench.harness import Budget, Case, Outcome, Side, Work, compare
from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer, Version
from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("maintain")
table = design.table("maintain", stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=table):
    post_id: Id
    title: str
    group_ids: set[str] = Field(default_factory=set)
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("POST#{post_id}", "POST")


class GroupPost(Pointer[Post], table=table, each="group_ids"):
    group_id: Id
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    db = design.open(":memory:")
    stack.callback(db.close)
    sides = []
    for count in (0, 1, 10, 99):
        groups = {f"g{number:02d}" for number in range(count)}
        db.create(Post(post_id=f"p{count}", title="x", group_ids=groups))
        sides.append(Side(f"keyfold, {count} pointers", _update(db, f"p{count}")))
    yield compare(
        "maintain",
        "update of a canonical with its pointers",
        sides,
        budget,
        reference="keyfold, 0 pointers",
    )
    yield _consume(budget)


def _update(db: Db, post_id: str) -> Work:
    titles = iter(range(10**9))
    ref = Post.key(post_id=post_id)
    return lambda: db.update(ref, title=f"t{next(titles)}")


def _consume(budget: Budget) -> Outcome:
    """Throughput of a drain, lag while writes go on, and a verification of everything."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(f"{folder}/maintain.db", durability="relaxed")
        db = design.open(EmbeddedClient(engine))
        consumed = _drain(db, 2_000)
        lag = _lag(db, 500)
        likes = 1_000_000 if budget.full else 20_000
        _load(db, likes)
        started = time.perf_counter()
        report = verify(db)
        verified = report.scanned / (time.perf_counter() - started)
        db.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outcome = Outcome("maintain", "stream and verify", "keyfold")
    outcome.figures = {
        "counter records consumed": f"{consumed:,.0f} a second",
        "lag of a counter, 200 writes a second": f"p50 {lag[0]:.0f} ms, p99 {lag[1]:.0f} ms",
        "items verified": f"{verified:,.0f} a second; {report}",
        "peak memory of the process": f"{peak:,.0f} MB",
    }
    return outcome


def _drain(db: Db, likes: int) -> float:
    for number in range(10):
        db.create(Post(post_id=f"d{number}", title="x"))
    for number in range(likes):
        db.create(Like(post_id=f"d{number % 10}", user_id=f"u{number}"))
    started = time.perf_counter()
    Consumer(db).drain()
    return likes / (time.perf_counter() - started)


def _lag(db: Db, likes: int) -> tuple[float, float]:
    """Milliseconds from a like's write to its count, the middle and the slowest in a hundred."""
    post = db.create(Post(post_id="lag", title="x"))
    consumer = Consumer(db)
    following = Thread(target=consumer.run)
    following.start()
    written: list[float] = []
    lags: list[float] = []

    def note() -> None:
        counted = db.get(post.ref()).likes
        now = time.perf_counter()
        lags.extend((now - at) * 1e3 for at in written[len(lags) : counted])

    for number in range(likes):
        db.create(Like(post_id="lag", user_id=f"u{number}"))
        written.append(time.perf_counter())
        until = written[-1] + 0.005
        while time.perf_counter() < until:
            note()
            time.sleep(0.001)
    deadline = time.perf_counter() + 20
    while len(lags) < likes and time.perf_counter() < deadline:
        note()
        time.sleep(0.001)
    consumer.stop()
    following.join()
    ordered = sorted(lags)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]


def _load(db: Db, likes: int) -> None:
    """Posts with right counters and their likes, written past the maintainers."""
    posts = 100
    items = [
        Post.__spec__.encode(Post(post_id=f"v{n}", title="x", likes=likes // posts, version=1))
        for n in range(posts)
    ]
    for start in range(0, likes, 25):
        items += [
            Like.__spec__.encode(Like(post_id=f"v{n % posts}", user_id=f"u{n}"))
            for n in range(start, start + 25)
        ]
        while len(items) >= 25:
            puts = [{"PutRequest": {"Item": item}} for item in items[:25]]
            db.client.call("BatchWriteItem", {"RequestItems": {"maintain": puts}})
            del items[:25]


CASES = [Case("maintain", "Maintainers", run)]
