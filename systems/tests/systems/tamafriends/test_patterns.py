"""Every access pattern: exactly the request that it makes, and its answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, query

from keyfold import AsyncDb
from keyfold_engine.clock import ManualClock
from keyfold_systems.tamafriends import patterns as t
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Follow, Like, Post

from .test_access import profile

START = datetime(2031, 1, 1, tzinfo=UTC)
BEGINS = "#0 = :0 AND begins_with(#1, :1)"
BACKWARDS = {"ScanIndexForward": False}
Stored = dict[str, Any]
"""What is stored, as it is read back, by names of this file."""


def listed(partition: str, prefix: str, limit: int = 50, **more: Any) -> Request:
    values = [{"S": partition}, {"S": prefix}]
    return query("tamafriends", BEGINS, ["PK", "SK"], values, Limit=limit, **more)


def indexed(index: str, partition: str, prefix: str, limit: int = 50, **more: Any) -> Request:
    values = [{"S": partition}, {"S": prefix}]
    names = [f"{index}PK", f"{index}SK"]
    return query("tamafriends", BEGINS, names, values, IndexName=index, Limit=limit, **more)


def filtered(kind: str, partition: str, prefix: str, **more: Any) -> Request:
    """A query whose answer is filtered by type: a whole sort key says nothing of its beginning."""
    operation, request = listed(partition, prefix, **more)
    return operation, {
        **{name: value for name, value in request.items() if name != "Limit"},
        "FilterExpression": "#2 = :2",
        "ExpressionAttributeNames": request["ExpressionAttributeNames"] | {"#2": "type"},
        "ExpressionAttributeValues": request["ExpressionAttributeValues"] | {":2": {"S": kind}},
    }


def answer(*names: str) -> Any:
    return lambda stored: [stored[name] for name in names]


def one(name: str) -> Any:
    return lambda stored: stored[name]


ROWS: dict[str, Row[Stored]] = {
    "profile_by_email": Row(
        lambda db: t.profile_by_email(db, "ana@example.com"),
        [indexed("GSI1", "EMAIL#ana@example.com", "USER#", 1)],
        one("ana"),
    ),
    "post_by_id": Row(
        lambda db: t.post_by_id(db, "p1"), [indexed("GSI1", "POST#p1", "USER#", 1)], one("p1")
    ),
    "followers": Row(
        lambda db: t.followers(db, "ana"),
        [indexed("GSI1", "USER#ana", "FOLLOWER#")],
        answer("ben follows"),
    ),
    "comment_by_id": Row(
        lambda db: t.comment_by_id(db, "c1"), [indexed("GSI1", "COMMENT#c1", "POST#", 1)], one("c1")
    ),
    "profile_by_username": Row(
        lambda db: t.profile_by_username(db, "ana.name"),
        [indexed("GSI2", "USERNAME#ana.name", "USER#", 1)],
        one("ana"),
    ),
    "follows_of_target": Row(
        lambda db: t.follows_of_target(db, "ana"),
        [indexed("GSI2", "USER#ana", "FOLLOW#")],
        answer("ben follows"),
    ),
    "comments_of_user": Row(
        lambda db: t.comments_of_user(db, "ben"),
        [indexed("GSI2", "USER#ben", "COMMENT#", **BACKWARDS)],
        answer("c2", "c1"),
    ),
    "likes_of_user": Row(
        lambda db: t.likes_of_user(db, "ben"),
        [indexed("GSI2", "USER#ben", "LIKE#", **BACKWARDS)],
        answer("ben likes"),
    ),
    "profile_by_handle": Row(
        lambda db: t.profile_by_handle(db, "ana"),
        [indexed("GSI3", "HANDLE#ana", "USER#", 1)],
        one("ana"),
    ),
    "profile": Row(
        lambda db: t.profile(db, "ana"),
        [get_item("tamafriends", "USER#ana", "PROFILE")],
        one("ana"),
    ),
    "posts_of_user": Row(
        lambda db: t.posts_of_user(db, "ana"),
        [filtered("POST", "USER#ana", "POST#", **BACKWARDS)],
        answer("p2", "p1"),
    ),
    "following": Row(
        lambda db: t.following(db, "ben"),
        [filtered("FOLLOW", "USER#ben", "FOLLOW#")],
        answer("ben follows"),
    ),
    "comments_of_post": Row(
        lambda db: t.comments_of_post(db, "p1"),
        [listed("POST#p1", "COMMENT#")],
        answer("c1", "c2"),
    ),
}
TOGETHER = {"profiles", "posts_of_users"}
"""Patterns that read several partitions; they are tested with the views that they fill."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "tamafriends"


@pytest.fixture
async def db(everywhere: Recorder, clock: ManualClock) -> AsyncDb:
    return await design.open_async(
        everywhere, clock=clock, table_prefix=everywhere.prefix, create_tables=True
    )


@pytest.fixture
async def stored(db: AsyncDb) -> Stored:
    posts = [Post.new("ana", f"{n}", START.replace(hour=n), "meadow", f"p{n}") for n in (1, 2)]
    said = [Comment.on(posts[0], "ben", f"{n}", START.replace(hour=n), f"c{n}") for n in (1, 2)]
    made = {
        "ana": profile("ana"),
        "ben": profile("ben"),
        "p1": posts[0],
        "p2": posts[1],
        "c1": said[0],
        "c2": said[1],
        "ben likes": Like.of(posts[0], "ben", START),
        "ben follows": Follow(follower_id="ben", followee_id="ana"),
    }
    return {name: await db.create(one) for name, one in made.items()}


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern(name: str, stored: Stored, db: AsyncDb, everywhere: Recorder) -> None:
    await ROWS[name].check(stored, db, everywhere)


def test_every_pattern_has_a_row() -> None:
    assert {*ROWS, *TOGETHER} == {one.name for one in design.schema.patterns}
