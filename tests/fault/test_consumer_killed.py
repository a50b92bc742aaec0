"""Consumers killed at any moment: what they were doing is done once in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
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

CONSUMER = """
import sys
from keyfold.streams import Consumer, ConsumerOptions
from killed_design import design

options = ConsumerOptions(batch=5, lease_seconds=0.2, poll_seconds=0.01)
with design.open(sys.argv[1]) as db:
    print("ready", flush=True)
    Consumer(db, options=options).run()
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("design")
    (folder / "killed_design.py").write_text(DESIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        yield import_module("killed_design")


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


def _consume_until_killed(path: Path, seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CONSUMER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    timer = threading.Timer(seconds, process.send_signal, (signal.SIGKILL,))
    timer.start()
    process.wait()
    timer.join()
    process.stdout.close()
