"""Every fault against a consumer: what follows from the stream ends as a plain model says."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Annotated, Any

import pytest
from tests.fault.troubles import PASSING, Trouble, in_every_trouble, insistently

from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer, add, update
from keyfold.errors import StreamError
from keyfold.maintain import verify
from keyfold.streams import Consumer, ConsumerOptions, Delivery, Policy
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "1"))
STEPS = 30
OPTIONS = ConsumerOptions(
    batch=7, lease_seconds=0.1, poll_seconds=0.005, policy=Policy(patience=8, backoff=0.0005)
)

design = Design("followed")
table = design.table("Followed", stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=table):
    post_id: Id
    title: str = ""
    group_ids: set[str] = set()
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    seen: int = 0
    key = Key("POST#{post_id}", "POST")


class GroupPost(Pointer[Post], table=table, each="group_ids", sync="stream"):
    group_id: str
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


@design.on(Like, "insert")
def see(old: Like | None, new: Like, work: Delivery) -> Any:
    return update(Post.key(post_id=new.post_id), seen=add(1))


POSTS, USERS, GROUPS = "abc", "uvwx", "ghij"


def act(db: Db, chance: random.Random, model: dict[str, Any]) -> None:
    """Something that leads to the same end when it is done twice."""
    post, user = chance.choice(POSTS), chance.choice(USERS)
    verb = chance.choice(["like", "like", "unlike", "edit", "move"])
    like = Like(post_id=post, user_id=user)
    if verb == "like" and (post, user) not in model["likes"]:
        insistently(lambda: db.put(like))
        model["likes"].add((post, user))
        model["ever"].append(post)
    elif verb == "unlike":
        insistently(lambda: db.delete(like))
        model["likes"].discard((post, user))
    elif verb == "edit":
        title = model["titles"][post] = str(chance.random())
        insistently(lambda: db.update(Post.key(post_id=post), title=title))
    elif verb == "move":
        groups = model["groups"][post] = set(chance.sample(GROUPS, 2))
        insistently(lambda: db.update(Post.key(post_id=post), group_ids=groups))


@in_every_trouble
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_consumer_under_faults_ends_right(trouble: Trouble, seed: int, tmp_path: Path) -> None:
    path, chance = tmp_path / "followed.db", random.Random(seed)
    model: dict[str, Any] = {"likes": set(), "ever": [], "titles": {}, "groups": {}}
    with Engine.open(path, durability="memory") as engine:
        db = design.open(EmbeddedClient(engine))
        for post in POSTS:
            db.create(Post(post_id=post))
    with trouble.client(path, seed) as client:
        db = design.open(client, create_tables=False)
        for _ in range(STEPS):
            act(db, chance, model)
            if chance.random() < 0.2:
                insistently(Consumer(db, options=OPTIONS).drain, (*PASSING, StreamError))
    with Engine.open(path, durability="memory") as engine:
        db = design.open(EmbeddedClient(engine))
        Consumer(db, options=OPTIONS).drain()
        assert Consumer(db).status().dead_letters == 0
        for found in db.scan(Post):
            assert found.likes == sum(liked == found.post_id for liked, _ in model["likes"])
            assert found.seen == model["ever"].count(found.post_id)
        assert {(one.group_id, one.post_id, one.title) for one in db.scan(GroupPost)} == {
            (group, post, model["titles"].get(post, ""))
            for post, groups in model["groups"].items()
            for group in groups
        }
        assert verify(db).drifts == []
