"""Maintainers: pointers in the transaction, counters by the stream, verify."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated

from pydantic import Field

from bench.harness import Budget, Case, Outcome, Side, Work, compare
from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer, Version
from keyfold.maintain import verify
from keyfold.streams import Consumer

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
    db = design.open(":memory:")
    likes = 20_000 if budget.full else 2_000
    for number in range(10):
        db.create(Post(post_id=f"p{number}", title="x"))
    for number in range(likes):
        db.create(Like(post_id=f"p{number % 10}", user_id=f"u{number}"))
    started = time.perf_counter()
    Consumer(db).drain()
    consumed = likes / (time.perf_counter() - started)
    started = time.perf_counter()
    report = verify(db)
    verified = report.scanned / (time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outcome = Outcome("maintain", "stream and verify", "keyfold")
    outcome.figures = {
        "counter records consumed": f"{consumed:,.0f} a second",
        "items verified": f"{verified:,.0f} a second, {report}",
        "peak memory of the process": f"{peak:,.0f} MB",
    }
    db.close()
    return outcome


CASES = [Case("maintain", "Maintainers", run)]
