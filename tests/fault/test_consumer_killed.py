"""Consumers killed at any moment: what they were doing is done once in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from keyfold.maintain import verify
from keyfold.streams import Consumer

KILLS = int(os.environ.get("KILLS", "4"))
KILLS_PER_FILE = 5

DESIGN = """
from typing import Annotated
from keyfold import Counter, Design, Entity, Id, Key, Pointer, add, update

design = Design("killed")
table = design.table("Killed", stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=table):
    post_id: Id
    title: str
    group_ids: set[str] = set()
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    seen: int = 0
    key = Key("POST#{post_id}", "POST")


class PostPointer(Pointer[Post], table=table, each="group_ids", sync="stream"):
    group_id: str
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


@design.on(Like, "insert")
def see(old, new, work):
    return update(Post.key(post_id=new.post_id), seen=add(1))
"""

FEED = """
from keyfold import Design, Entity
from keyfold.feeds import Feed, Flag
from tests.samples.network import (
    ActivityFields, FeedItemFields, FollowFields, PromotionFields, network_table
)

design = Design("killed_feed")
table = network_table(design)


class Follow(FollowFields, table=table):
    pass


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


class Promotion(PromotionFields, table=table):
    pass


feed = Feed(
    "home", activity=Activity, edge={Follow: "followers"}, item=FeedItem,
    push=Flag(Promotion, "fanout_enabled", since="updated_at"),
)
"""

CONSUMER = """
import os, signal, sys
from keyfold.streams import Consumer, ConsumerOptions
from killed_design import design

if sys.argv[2:] == ["before its checkpoint"]:
    from keyfold.streams import lease

    def save(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    lease.save = save
options = ConsumerOptions(batch=5, lease_seconds=0.2, poll_seconds=0.01)
with design.open(sys.argv[1]) as db:
    print("ready", flush=True)
    Consumer(db, options=options).run()
"""


@pytest.fixture
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    yield from _imported(tmp_path_factory.mktemp("design"), DESIGN)


@pytest.fixture
def feed_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    yield from _imported(tmp_path_factory.mktemp("design"), FEED)


def _imported(folder: Path, design: str) -> Iterator[ModuleType]:
    (folder / "killed_design.py").write_text(design)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))
        patch.delitem(sys.modules, "killed_design", raising=False)
        yield import_module("killed_design")
        sys.modules.pop("killed_design")


@pytest.mark.parametrize("file", range(-(-KILLS // KILLS_PER_FILE)))
def test_killed_consumers_have_every_effect_once(
    module: ModuleType, tmp_path: Path, file: int
) -> None:
    path = tmp_path / "killed.db"
    chance = random.Random(file)
    with module.design.open(str(path)) as db:
        for number in range(3):
            db.create(module.Post(post_id=f"p{number}", title="Old", group_ids={"a", "b"}))
        for number in range(120):
            db.create(module.Like(post_id=f"p{number % 3}", user_id=f"u{number}"))
            if number % 10 == 0:
                groups = set(chance.sample("abcd", 2))
                db.update(module.Post.key(post_id="p0"), title=f"T{number}", group_ids=groups)
    for _ in range(min(KILLS, KILLS_PER_FILE)):
        _consume_until_killed(path, chance.uniform(0.0, 0.1))
    with module.design.open(str(path)) as db:
        assert Consumer(db).drain().dead == 0
        assert {(post.likes, post.seen) for post in db.scan(module.Post)} == {(40, 40)}
        report = verify(db)
        assert report.clean, [str(drift) for drift in report.drifts]


def _consume_until_killed(path: Path, seconds: float, *arguments: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CONSUMER, str(path), *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    timer = threading.Timer(seconds, process.send_signal, (signal.SIGKILL,))
    timer.start()
    assert process.wait() == -signal.SIGKILL
    timer.cancel()
    timer.join()
    process.stdout.close()


def test_a_consumer_killed_between_effect_and_checkpoint_repeats_no_effect(
    module: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "killed.db"
    with module.design.open(str(path)) as db:
        db.create(module.Post(post_id="p", title="Old", group_ids={"a"}))
        for number in range(12):
            db.create(module.Like(post_id="p", user_id=f"u{number}"))
    for _ in range(3):
        _consume_until_killed(path, 30.0, "before its checkpoint")
        time.sleep(0.2)
    with module.design.open(str(path)) as db:
        post = db.get(module.Post.key(post_id="p"))
        assert post.likes > 0, "it was killed before its first effect"
        assert Consumer(db).drain().dead == 0
        post = db.get(module.Post.key(post_id="p"))
        assert (post.likes, post.seen) == (12, 12)
        assert verify(db).clean


def test_a_feed_whose_consumers_are_killed_is_complete(
    feed_module: ModuleType, tmp_path: Path
) -> None:
    made, path, chance = feed_module, tmp_path / "feed.db", random.Random(7)
    start = datetime.now(UTC) - timedelta(hours=1)
    people = [f"p{number}" for number in range(6)]
    with made.design.open(str(path)) as db:
        for author in people[:3]:
            db.put(made.Promotion(user_id=author, fanout_enabled=True))
        for reader in people:
            for author in people:
                if reader != author:
                    db.create(made.Follow(follower_id=reader, followee_id=author))
        for number in range(40):
            at = start + timedelta(seconds=number)
            author = chance.choice(people)
            db.create(made.Activity(actor_id=author, created_at=at, activity_id=f"a{number:02d}"))
    for _ in range(min(KILLS, KILLS_PER_FILE)):
        _consume_until_killed(path, chance.uniform(0.0, 0.1))
    with made.design.open(str(path)) as db:
        assert Consumer(db).drain().dead == 0
        report = verify(db)
        assert report.clean, [str(drift) for drift in report.drifts]
        posted = [(one.activity_id, one.actor_id) for one in db.scan(made.Activity)]
        for reader in people:
            due = sorted((name for name, author in posted if author != reader), reverse=True)
            assert [one.activity_id for one in made.feed.page(db, reader, limit=50).items] == due
