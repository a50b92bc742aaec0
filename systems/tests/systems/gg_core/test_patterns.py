"""Every access pattern of gg_core: exactly the request that it makes, and its answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from keyfold import AsyncDb, Entity
from keyfold_engine.clock import ManualClock
from keyfold_systems.gg_core import patterns as p
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import (
    Activity,
    Block,
    FeedItem,
    Follow,
    FollowersCounter,
    FollowingCounter,
    Group,
    GroupMember,
    Role,
    User,
)
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.notices import Notice, UnreadCounter
from keyfold_systems.gg_core.oversight import AuditEntry, Report
from keyfold_systems.gg_core.rooms import Message, Room, UserRoom
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, query

from .conftest import START

Stored = dict[str, Any]
"""What is stored, as it is read back, by names of this file."""


def item(partition: str, sort: str) -> Request:
    return get_item("gg_core", partition, sort)


def listed(partition: str, prefix: str, limit: int = 50) -> Request:
    return _begins(["PK", "SK"], [partition, prefix], Limit=limit)


def newest(partition: str, prefix: str, limit: int) -> Request:
    return _begins(["PK", "SK"], [partition, prefix], ScanIndexForward=False, Limit=limit)


def living(partition: str, prefix: str, limit: int) -> Request:
    """The newest of what is not over."""
    operation, request = _begins(["PK", "SK", "ttl"], [partition, prefix], Limit=limit)
    over = {":2": {"N": str(int(START.timestamp()))}}
    return operation, {
        **request,
        "ExpressionAttributeValues": request["ExpressionAttributeValues"] | over,
        "FilterExpression": "(attribute_not_exists(#2) OR #2 > :2)",
        "ScanIndexForward": False,
    }


def indexed(
    index: str, partition: str, prefix: str, limit: int = 50, *, newest: bool = False
) -> Request:
    order = {"ScanIndexForward": False} if newest else {}
    names = [f"{index}PK", f"{index}SK"]
    return _begins(names, [partition, prefix], IndexName=index, **order, Limit=limit)


def _begins(names: list[str], values: list[str], **more: Any) -> Request:
    condition = "#0 = :0 AND begins_with(#1, :1)"
    return query("gg_core", condition, names, [{"S": value} for value in values], **more)


def answer(*names: str) -> Any:
    return lambda stored: [stored[name] for name in names]


def one(name: str) -> Any:
    return lambda stored: stored[name]


ROWS: dict[str, Row[Stored]] = {
    "user_by_id": Row(
        lambda db: p.user_by_id(db, "ann"), [item("USER#ann", "PROFILE#ann")], one("ann")
    ),
    "user_by_nickname": Row(
        lambda db: p.user_by_nickname(db, "Ann"),
        [indexed("GSI2", "NICK#ann", "PROFILE#", 1)],
        answer("ann"),
    ),
    "user_by_email": Row(
        lambda db: p.user_by_email(db, "ANN@x.org"),
        [indexed("GSI3", "EMAIL#ann@x.org", "PROFILE#", 1)],
        answer("ann"),
    ),
    "following": Row(
        lambda db: p.following(db, "ann"),
        [listed("USER#ann", "FOLLOWING#")],
        answer("ann>ben", "ann>cem"),
    ),
    "followers": Row(
        lambda db: p.followers(db, "cem"),
        [indexed("GSI1", "USER#cem", "FOLLOWER#")],
        answer("ann>cem", "ben>cem"),
    ),
    "followers_count": Row(
        lambda db: p.followers_count(db, "cem"),
        [item("USER#cem", "COUNTER#FOLLOWERS")],
        one("followers"),
    ),
    "following_count": Row(
        lambda db: p.following_count(db, "ann"),
        [item("USER#ann", "COUNTER#FOLLOWING")],
        one("following"),
    ),
    "group_by_id": Row(
        lambda db: p.group_by_id(db, "g1"), [item("GROUP#g1", "GROUP#g1")], one("g1")
    ),
    "group_members": Row(
        lambda db: p.group_members(db, "g1"),
        [listed("GROUP#g1", "MEMBER#")],
        answer("ann in g1", "ben in g1"),
    ),
    "groups_of_user": Row(
        lambda db: p.groups_of_user(db, "ann"),
        [indexed("GSI1", "USER#ann", "ENTITY#Group#", newest=True)],
        answer("ann in g2", "ann in g1"),
    ),
    "goals_of_user": Row(
        lambda db: p.goals_of_user(db, "ann"),
        [indexed("GSI1", "USER#ann", "ENTITY#Goal#", newest=True)],
        answer("goal2", "goal1"),
    ),
    "tasks_of_goal": Row(
        lambda db: p.tasks_of_goal(db, "goal1"),
        [listed("GOAL#goal1", "TASK#")],
        answer("task1", "task2", "task3"),
    ),
    "tasks_due": Row(
        lambda db: p.tasks_due(db, "ann"),
        [indexed("GSI1", "USER#ann", "ENTITY#Task#")],
        answer("task2", "task1"),
    ),
    "blocked_users": Row(
        lambda db: p.blocked_users(db, "ann"),
        [listed("USER#ann", "BLOCK#")],
        answer("ann|cem"),
    ),
    "blockers": Row(
        lambda db: p.blockers(db, "cem"),
        [indexed("GSI1", "USER#cem", "BLOCKER#")],
        answer("ann|cem"),
    ),
    "activities_of": Row(
        lambda db: p.activities_of(db, "ben", limit=2),
        [newest("ACTIVITY#ben", "TS#", 2)],
        answer("act3", "act2"),
    ),
    "comments_of": Row(
        lambda db: p.comments_of(db, "act1"),
        [indexed("GSI1", "POST#act1", "COMMENT#")],
        answer("comment"),
    ),
    "feed_items": Row(
        lambda db: p.feed_items(db, "ann", limit=2),
        [living("FEED#ann", "TS#", 2)],
        answer("copy3", "copy2"),
    ),
    "quests_of_user": Row(
        lambda db: p.quests_of_user(db, "ann"),
        [indexed("GSI1", "USER#ann", "ENTITY#Quest#", newest=True)],
        answer("quest2", "quest1"),
    ),
    "quest_by_id": Row(
        lambda db: p.quest_by_id(db, "ann", "quest1"),
        [item("USER#ann", "QUEST#quest1")],
        one("quest1"),
    ),
    "rooms_of_user": Row(
        lambda db: p.rooms_of_user(db, "ann"),
        [listed("USER#ann", "ROOM#")],
        lambda _: [UserRoom(user_id="ann", room_id="dm", scope="dm")],
    ),
    "rooms_of_group": Row(
        lambda db: p.rooms_of_group(db, "g1"),
        [indexed("GSI1", "GROUP#g1", "ENTITY#Room#")],
        answer("hall"),
    ),
    "notices_of": Row(
        lambda db: p.notices_of(db, "ann"),
        [living("USER#ann", "NOTICE#", 50)],
        answer("notice"),
    ),
    "unread_count": Row(
        lambda db: p.unread_count(db, "ann"), [item("USER#ann", "COUNTER#UNREAD")], one("unread")
    ),
    "reports_by_status": Row(
        lambda db: p.reports_by_status(db, "open"),
        [indexed("GSI1", "REPORTS#open", "ENTITY#Report#")],
        answer("report"),
    ),
    "audit_trail": Row(
        lambda db: p.audit_trail(db, START),
        [newest("AUDIT#2031-01", "TS#", 50)],
        answer("entry"),
    ),
    "chat_history": Row(
        lambda db: p.chat_history(db, "dm", limit=2),
        [living("ROOM#dm", "MSG#", 2)],
        answer("msg3", "msg2"),
    ),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "gg_core"


@pytest.fixture
async def db(everywhere: Recorder, clock: ManualClock) -> AsyncDb:
    return await design.open_async(
        everywhere, clock=clock, on_loop="raise", table_prefix=everywhere.prefix
    )


def at(number: int) -> datetime:
    return START + timedelta(hours=number)


@pytest.fixture
async def stored(db: AsyncDb) -> Stored:
    made: dict[str, Entity] = {}
    for name in ("ann", "ben", "cem"):
        made[name] = User(id=name, nickname=name, email=f"{name}@x.org", full_name=name.title())
    for edge in ("ann>cem", "ann>ben", "ben>cem"):
        follower, _, followee = edge.partition(">")
        made[edge] = Follow(follower_id=follower, followee_id=followee)
    made["followers"] = FollowersCounter(user_id="cem", count=2)
    made["following"] = FollowingCounter(user_id="ann", count=2)
    for number, group in enumerate(("g1", "g2")):
        made[group] = Group(group_id=group, name="Runners", owner_id="ann")
        for user in ("ann", "ben")[: 2 - number]:
            made[f"{user} in {group}"] = GroupMember(
                group_id=group,
                user_id=user,
                role=Role.OWNER if user == "ann" else Role.MEMBER,
                group_name="Runners",
                joined_at=at(number),
            )
    for number in (1, 2):
        made[f"goal{number}"] = Goal(
            user_id="ann", goal_id=f"goal{number}", title="Run", created_at=at(number)
        )
        made[f"quest{number}"] = Quest(
            user_id="ann",
            id=f"quest{number}",
            title="Three",
            difficulty="easy",
            reward_xp=5,
            kind="quantitative",
            target_count=3,
            created_at=at(number),
        )
    for number, due in ((1, at(9)), (2, at(8)), (3, None)):
        made[f"task{number}"] = Task(
            user_id="ann", goal_id="goal1", task_id=f"task{number}", title="Shoes", due_at=due
        )
    for number in (1, 2, 3):
        said: dict[str, Any] = {
            "activity_id": f"act{number}",
            "actor_id": "ben",
            "author_id": "ben",
            "verb": "post",
            "object_type": "Post",
            "object_id": f"act{number}",
            "created_at": at(number),
        }
        made[f"act{number}"] = Activity.model_validate(said)
        made[f"copy{number}"] = FeedItem.model_validate({"follower_id": "ann", **said})
        made[f"msg{number}"] = Message(
            room_id="dm", message_id=f"m{number}", user_id="ann", text="Hi", created_at=at(number)
        )
    made["comment"] = Activity(
        activity_id="c1",
        actor_id="cem",
        author_id="cem",
        verb="comment",
        object_type="Post",
        object_id="act1",
        post_id="act1",
        post_actor_id="ben",
        post_created_at=at(1),
        created_at=at(2),
    )
    made["ann|cem"] = Block(user_id="ann", blocked_id="cem")
    made["notice"] = Notice(user_id="ann", notice_id="n", kind="followed", created_at=at(1))
    made["unread"] = UnreadCounter(user_id="ann", count=1)
    made["report"] = Report(
        reporter_id="ann",
        subject_type="user",
        subject_id="cem",
        reason="Spam",
        created_at=at(1),
    )
    made["entry"] = AuditEntry(entry_id="e", by="root", action="suspend", subject="cem", at=at(1))
    made["dm"] = Room(room_id="dm", scope="dm", members={"ann", "ben"})
    made["hall"] = Room(room_id="hall", scope="group", group_id="g1")
    for new in made.values():
        if isinstance(new, FollowersCounter | FollowingCounter | UnreadCounter):
            # What the consumer counts; nobody else may write it.
            table = db.context.physical(new.__table__.schema)
            item = new.__spec__.encode(new)
            await db.client.call("PutItem", {"TableName": table, "Item": item})
        else:
            await db.create(new)
    return {name: await db.get(new.ref()) for name, new in made.items()}


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern_makes_its_request_and_gives_its_answer(
    name: str, stored: Stored, db: AsyncDb, everywhere: Recorder
) -> None:
    await ROWS[name].check(stored, db, everywhere)


def test_every_pattern_has_its_row() -> None:
    assert set(ROWS) == {pattern.name for pattern in design.schema.patterns}


async def test_a_message_is_one_guarded_put(
    stored: Stored, db: AsyncDb, everywhere: Recorder
) -> None:
    everywhere.requests.clear()
    await db.create(
        Message(room_id="dm", message_id="m4", user_id="ben", text="Hello", created_at=at(4))
    )
    [(operation, request)] = everywhere.requests
    assert operation == "PutItem"
    assert request["Item"]["PK"] == {"S": "ROOM#dm"}
    assert request["Item"]["SK"] == {"S": "MSG#2031-01-01T04:00:00.000000Z#m4"}
    assert "attribute_not_exists" in request["ConditionExpression"]
    assert [one.text for one in await p.chat_history(db, "dm", limit=1)] == ["Hello"]


DOCUMENTED = {
    "User": "USER#{id} / PROFILE#{id}",
    "Follow": "USER#{follower_id} / FOLLOWING#{followee_id}",
    "FollowersCounter": "USER#{user_id} / COUNTER#FOLLOWERS",
    "FollowingCounter": "USER#{user_id} / COUNTER#FOLLOWING",
    "Group": "GROUP#{group_id} / GROUP#{group_id}",
    "GroupMember": "GROUP#{group_id} / MEMBER#{user_id}",
    "Goal": "USER#{user_id} / GOAL#{goal_id}",
    "Task": "GOAL#{goal_id} / TASK#{task_id}",
    "Activity": "ACTIVITY#{actor_id} / TS#{created_at:iso}#{activity_id}",
    "FeedItem": "FEED#{follower_id} / TS#{created_at:iso}#{activity_id}",
    "Promotion": "PROMO#{user_id} / PROMO#{user_id}",
    "Quest": "USER#{user_id} / QUEST#{id}",
    "Room": "ROOM#{room_id} / ROOM#{room_id}",
    "Message": "ROOM#{room_id} / MSG#{created_at:iso}#{message_id}",
}


def test_keys_have_the_documents_prefixes_and_three_indexes_are_enough() -> None:
    keys = {one.name: str(one.key) for one in design.schema.entities}
    assert {name: keys[name] for name in DOCUMENTED} == DOCUMENTED
    [table] = design.schema.tables
    assert [one.name for one in table.indexes] == ["GSI1", "GSI2", "GSI3"]
