"""A small social design whose structures follow the stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer, Timestamp, Ttl, Version
from keyfold.streams import ConsumerOptions, Policy
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine


@dataclass
class Social:
    """The design, its entities, and what its processor does at the moment."""

    design: Design
    post: Any
    pointer: Any
    like: Any
    react: Any = field(default=lambda old, new, work: None)


@pytest.fixture
def social() -> Social:
    design = Design("social")
    table = design.table("Social", stream="NEW_AND_OLD_IMAGES", ttl="ttl")

    class Post(Entity, table=table):
        post_id: Id
        title: str
        group_ids: set[str] = set()
        likes: Annotated[int, Counter("Like", sync="stream")] = 0
        fast_likes: Annotated[int, Counter("Like")] = 0
        version: Annotated[int, Version()] = 0
        key = Key("POST#{post_id}", "POST")

    class PostPointer(Pointer[Post], table=table, each="group_ids", sync="stream"):
        group_id: str
        post_id: Id
        title: str
        key = Key("GROUP#{group_id}", "POST#{post_id}")

    class Like(Entity, table=table):
        post_id: Id
        user_id: Id
        expires_at: Annotated[Timestamp | None, Ttl()] = None
        key = Key("POST#{post_id}", "LIKE#{user_id}")

    made = Social(design, Post, PostPointer, Like)

    @design.on(Like, seconds=0.2)
    def react(old: Any, new: Any, work: Any) -> Any:
        return made.react(old, new, work)

    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(":memory:", clock=clock) as opened:
        yield opened


@pytest.fixture
def db(social: Social, engine: Engine, clock: ManualClock) -> Db:
    return social.design.open(EmbeddedClient(engine), clock=clock)


@pytest.fixture
def options() -> ConsumerOptions:
    return ConsumerOptions(policy=Policy(attempts=3, backoff=0.001))
