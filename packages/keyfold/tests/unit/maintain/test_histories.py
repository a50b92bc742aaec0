"""Random histories over pointers, edges, copied fields and counters end in agreement."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Timestamp,
    Ttl,
    Version,
    add,
    create,
    delete,
    remove,
    update,
)
from keyfold.errors import KeyfoldError
from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold.structures import Cascade, Edge, Mirror
from keyfold.testing import Sandbox

design = Design("histories")
table = design.table(
    "Histories",
    indexes=[Index("GSI1", "gsi1pk", "gsi1sk")],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)
GROUPS = ("g0", "g1", "g2")


class Group(Entity, table=table):
    group_id: Id
    name: str = ""
    members: Annotated[int, Counter("Member", sync="stream")] = 0
    key = Key("GROUP#{group_id}", "GROUP")


class Member(Edge, table=table):
    group_id: Id
    user_id: Id
    group_name: Annotated[str, Copied("Group", "name", through="key")] = ""
    role: str = ""
    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    of_user = Mirror("USER#{user_id}", "GROUP#{group_id}")


class Post(Entity, table=table):
    post_id: Id
    slot: int = 0
    title: str = ""
    group_ids: set[str] = set()
    likes: Annotated[int, Counter("Like")] = 0
    gone_at: Annotated[Timestamp | None, Ttl()] = None
    version: Annotated[int, Version()] = 0
    key = Key("POST#{post_id}", "POST")
    by_title = On("GSI1", "TITLE#{title}", "{post_id}", when=lambda post: post.title != "")
    all_likes = Cascade("Like")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


class GroupPost(Pointer[Post], table=table, each="group_ids"):
    group_id: Id
    post_id: Id
    title: str
    likes: int
    key = Key("GROUP#{group_id}", "POST#{post_id}")
    by_likes = On("GSI1", "GROUP#{group_id}", "{likes:05d}#{post_id}")


class PostBySlot(Pointer[Post], table=table):
    slot: int
    post_id: Id
    title: str
    key = Key("SLOT#{slot:03d}", "POST#{post_id}")


def some_write(draw: random.Random, sandbox: Sandbox, db: Db, held: list[Post]) -> None:
    """One write, read or moment, mostly of the same few items."""
    post_id, user, group = str(draw.randrange(4)), str(draw.randrange(4)), draw.choice(GROUPS)
    post, like = Post.key(post_id=post_id), Like(post_id=post_id, user_id=user)
    member = Member.key(group_id=group, user_id=user)
    another = str(draw.randrange(4))
    soon = db.context.now() + timedelta(seconds=draw.randrange(1, 60))
    new = Post(
        post_id=post_id,
        slot=draw.randrange(3),
        title=draw.choice(["", "x", "y"]),
        group_ids=set(draw.sample(GROUPS, draw.randrange(4))),
        gone_at=draw.choice([None, None, soon]),
    )
    old = draw.choice(held) if held else new
    changed: dict[str, Any] = {"title": new.title, "group_ids": new.group_ids}
    writes: list[Callable[[], object]] = [
        lambda: db.create(new),
        lambda: db.put(new),
        lambda: db.delete(post),
        lambda: db.delete(old),
        lambda: db.update(post, **changed),
        lambda: db.update(post, group_ids=add({group})),
        lambda: db.update(post, group_ids=remove({group}), slot=new.slot),
        lambda: db.update(old, **changed),
        lambda: db.put(old.model_copy(update={"title": "held"})),
        lambda: db.move(post, post_id=another),
        lambda: held.append(db.get(post)),
        lambda: db.create(like),
        lambda: db.delete(like.ref()),
        lambda: db.move(like.ref(), post_id=another),
        lambda: db.transact(update(post, **changed), update(post, slot=add(1)), create(like)),
        lambda: db.transact(update(Post.key(post_id=another), slot=0), delete(like.ref())),
        lambda: db.transact(create(new), create(like)),
        lambda: db.transact(delete(post), create(Like(post_id=another, user_id=user))),
        lambda: db.create(Member(group_id=group, user_id=user)),
        lambda: db.update(member, role=new.title),
        lambda: db.delete(member),
        lambda: db.move(member, user_id=another),
        lambda: db.update(Group.key(group_id=group), name=str(draw.random())),
        lambda: sandbox.clock.advance(draw.randrange(30)),
        lambda: (sandbox.engine.sweep(), Consumer(db).drain()),
    ]
    draw.choice(writes)()


@pytest.mark.parametrize("seed", range(12))
def test_whatever_was_written_all_copies_agree_in_the_end(seed: int) -> None:
    draw = random.Random(seed)
    with Sandbox() as sandbox:
        db = sandbox.open(design)
        for group in GROUPS:
            db.create(Group(group_id=group))
        held: list[Post] = []
        for _ in range(150):
            try:
                some_write(draw, sandbox, db, held)
            except KeyfoldError:
                continue
        sandbox.engine.sweep()
        Consumer(db).drain()
        assert [str(drift) for drift in verify(db).drifts] == []
