"""Every use case of the document's tables: exactly the request that it makes, and its answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb, Entity
from keyfold_engine.clock import ManualClock
from keyfold_systems.tamafriends import patterns as t
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Like,
    Notification,
    Post,
    Report,
    Session,
    UserProfile,
)
from keyfold_systems.tamafriends.oversight import AuditEntry
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, query

from .conftest import START

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


def living(request: Request) -> Request:
    """The same, without what is over."""
    operation, asked = request
    return operation, {
        **asked,
        "FilterExpression": "(attribute_not_exists(#2) OR #2 > :2)",
        "ExpressionAttributeNames": asked["ExpressionAttributeNames"] | {"#2": "ttl"},
        "ExpressionAttributeValues": asked["ExpressionAttributeValues"]
        | {":2": {"N": str(int(START.timestamp()))}},
    }


def answer(*names: str) -> Any:
    return lambda stored: [stored[name] for name in names]


def one(name: str) -> Any:
    return lambda stored: stored[name]


ROWS: dict[str, Row[Stored]] = {
    "profile": Row(
        lambda db: t.profile(db, "yuki"),
        [get_item("tamafriends", "USER#yuki", "PROFILE")],
        one("yuki"),
    ),
    "profile_by_email": Row(
        lambda db: t.profile_by_email(db, "Yuki@Example.com"),
        [indexed("GSI1", "EMAIL#yuki@example.com", "USER#", 1)],
        one("yuki"),
    ),
    "profile_by_username": Row(
        lambda db: t.profile_by_username(db, "YUKI.Name"),
        [indexed("GSI2", "USERNAME#yuki.name", "USER#", 1)],
        one("yuki"),
    ),
    "profile_by_handle": Row(
        lambda db: t.profile_by_handle(db, "Yuki"),
        [indexed("GSI3", "HANDLE#yuki", "USER#", 1)],
        one("yuki"),
    ),
    "post_by_id": Row(
        lambda db: t.post_by_id(db, "post1"),
        [living(indexed("GSI1", "POST#post1", "USER#", 1))],
        one("post1"),
    ),
    "posts_of_user": Row(
        lambda db: t.posts_of_user(db, "yuki", limit=10),
        [living(listed("USER#yuki", "POST#", 10, **BACKWARDS))],
        answer("post2", "post1"),
    ),
    "followers": Row(
        lambda db: t.followers(db, "yuki"),
        [indexed("GSI1", "USER#yuki", "FOLLOWER#")],
        answer("lena>yuki", "omar>yuki"),
    ),
    "following": Row(
        lambda db: t.following(db, "yuki"),
        [listed("USER#yuki", "FOLLOWING#")],
        answer("yuki>lena"),
    ),
    "comment_by_id": Row(
        lambda db: t.comment_by_id(db, "omar-post1"),
        [indexed("GSI1", "COMMENT#omar-post1", "POST#", 1)],
        one("omar says post1"),
    ),
    "comments_of_user": Row(
        lambda db: t.comments_of_user(db, "omar"),
        [indexed("GSI2", "USER#omar", "COMMENT#", **BACKWARDS)],
        answer("omar says post2", "omar says post1"),
    ),
    "comments_of_post": Row(
        lambda db: t.comments_of_post(db, "post1"),
        [listed("POST#post1", "COMMENT#")],
        answer("omar says post1", "lena says post1"),
    ),
    "likes_of_user": Row(
        lambda db: t.likes_of_user(db, "omar"),
        [indexed("GSI2", "USER#omar", "LIKE#", **BACKWARDS)],
        answer("omar likes post2", "omar likes post1"),
    ),
    "likers_of_post": Row(
        lambda db: t.likers_of_post(db, "post1"),
        [listed("POST#post1", "LIKE#")],
        answer("lena likes post1", "omar likes post1"),
    ),
    "like_of": Row(
        lambda db: t.like_of(db, "post1", "omar"),
        [get_item("tamafriends", "POST#post1", "LIKE#omar")],
        one("omar likes post1"),
    ),
    "blocks_of": Row(
        lambda db: t.blocks_of(db, "yuki"),
        [listed("USER#yuki", "BLOCK#")],
        answer("yuki blocks ken"),
    ),
    "blockers_of": Row(
        lambda db: t.blockers_of(db, "ken"),
        [indexed("GSI1", "USER#ken", "BLOCKER#")],
        answer("yuki blocks ken"),
    ),
    "notifications_of": Row(
        lambda db: t.notifications_of(db, "yuki"),
        [living(listed("NOTICES#yuki", "NOTICE#", **BACKWARDS))],
        answer("notice2", "notice1"),
    ),
    "inbox_of": Row(
        lambda db: t.inbox_of(db, "yuki"),
        [get_item("tamafriends", "NOTICES#yuki", "INBOX")],
        lambda _: None,
    ),
    "sessions_of": Row(
        lambda db: t.sessions_of(db, "yuki"),
        [living(listed("USER#yuki", "SESSION#"))],
        answer("session"),
    ),
    "open_reports": Row(
        lambda db: t.open_reports(db),
        [listed("REPORTS", "REPORT#")],
        answer("report"),
    ),
    "reports_about": Row(
        lambda db: t.reports_about(db, "lena"),
        [indexed("GSI1", "USER#lena", "REPORTED#")],
        answer("report"),
    ),
    "reports_by": Row(
        lambda db: t.reports_by(db, "omar"),
        [indexed("GSI2", "USER#omar", "REPORT#", **BACKWARDS)],
        answer("report"),
    ),
    "audit_of_month": Row(
        lambda db: t.audit_of_month(db, START),
        [listed("AUDIT#2031-01", "AT#", **BACKWARDS)],
        answer("decision"),
    ),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "tamafriends"


@pytest.fixture
async def db(everywhere: Recorder, clock: ManualClock) -> AsyncDb:
    return await design.open_async(
        everywhere, clock=clock, on_loop="raise", table_prefix=everywhere.prefix
    )


@pytest.fixture
async def stored(db: AsyncDb) -> Stored:
    made: dict[str, Entity] = {}
    for name in ("yuki", "omar", "lena"):
        made[name] = UserProfile(
            user_id=name,
            email=f"{name}@example.com",
            username=f"{name}.name",
            handle=name,
            display_name=name.title(),
        )
    for edge in ("omar>yuki", "lena>yuki", "yuki>lena"):
        follower, _, followee = edge.partition(">")
        made[edge] = Follow(follower_id=follower, followee_id=followee)
    made["yuki blocks ken"] = Block(user_id="yuki", blocked_id="ken")
    made["session"] = Session(
        user_id="yuki", session_id="s", digest=b"d", generation=0, created_at=START
    )
    made["report"] = Report(
        kind="user",
        target_id="lena",
        user_id="omar",
        author_id="lena",
        reason="spam",
        created_at=START,
    )
    made["decision"] = AuditEntry(
        entry_id="e", at=START, by="yuki", action="dismiss", subject="user lena", note="Fine"
    )
    for number in (1, 2):
        made[f"notice{number}"] = Notification(
            user_id="yuki",
            notification_id=f"n{number}",
            kind="follow",
            actor_id="omar",
            created_at=START + timedelta(hours=number),
        )
        post = Post(
            user_id="yuki",
            post_id=f"post{number}",
            text="Look!",
            created_at=START + timedelta(hours=number),
        )
        made[post.post_id] = post
        for minutes, who in ((1, "omar"), (2, "lena")):
            about: dict[str, Any] = {
                "post_id": post.post_id,
                "user_id": who,
                "post_user_id": "yuki",
                "post_created_at": post.created_at,
                "created_at": post.created_at + timedelta(minutes=minutes),
            }
            said = {"comment_id": f"{who}-{post.post_id}", "user_handle": who, "text": "Nice."}
            made[f"{who} likes {post.post_id}"] = Like.model_validate(about)
            made[f"{who} says {post.post_id}"] = Comment.model_validate(about | said)
    for new in made.values():
        await db.create(new)
    return {name: await db.get(new.ref()) for name, new in made.items()}


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern_makes_its_request_and_gives_its_answer(
    name: str, stored: Stored, db: AsyncDb, everywhere: Recorder
) -> None:
    await ROWS[name].check(stored, db, everywhere)


def test_every_pattern_has_its_row() -> None:
    assert set(ROWS) == {pattern.name for pattern in design.schema.patterns}


async def test_a_user_without_posts_and_a_post_without_likes_have_empty_lists(
    stored: Stored, db: AsyncDb
) -> None:
    assert (await t.posts_of_user(db, "omar")).items == []
    assert (await t.likers_of_post(db, "nothing")).items == []
    assert await t.post_by_id(db, "nothing") is None
    assert await t.profile_by_handle(db, "nobody") is None


async def test_long_lists_come_in_pages_and_nothing_is_lost(stored: Stored, db: AsyncDb) -> None:
    about = stored["omar says post1"]
    for number in range(23):
        at = about.created_at + timedelta(seconds=number)
        await db.create(
            about.model_copy(
                update={"post_id": "long", "comment_id": f"c{number}", "created_at": at}
            )
        )
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await t.comments_of_post.after(cursor)(db, "long", limit=5)
        seen += [one.comment_id for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [f"c{number}" for number in range(23)]
