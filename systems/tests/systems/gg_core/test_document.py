"""The table and its items as they are stored, next to what the document writes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from keyfold_web import Identity
from keyfold_systems.gg_core.payloads import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewQuest,
    NewRoom,
    NewTask,
    NewUser,
)
from tests.systems.opening import LATER, stored

from .conftest import MIA, ROOT, World

pytestmark = LATER
NIA = Identity.of("nia")

PAYLOADS = {
    "User": "id nickname email fullName language tags tier createdAt updatedAt",
    "Follow": "followerId followeeId createdAt",
    "FollowersCounter": "count",
    "FollowingCounter": "count",
    "Group": "name description ownerId tags isPersistent createdAt updatedAt",
    "GroupMember": "groupId userId role joinedAt",
    "Activity": "activityId actorId verb objectType objectId previewText media tags createdAt",
    "FeedItem": "followerId activityId actorId verb objectType objectId previewText createdAt ttl",
    "Promotion": "userId fanoutEnabled reason thresholds updatedAt",
    "Quest": (
        "id userId title description difficulty rewardXp status tags deadline kind linkedGoalIds "
        "linkedTaskIds targetCount countScope startAt periodSeconds createdAt updatedAt"
    ),
    "Room": "scope members createdAt",
    "Message": "roomId userId text createdAt ttl",
}
"""What the document says is in an item, beside its keys and its type."""

INDEXED = {
    "User": {"GSI2": "NICK#nia PROFILE#nia", "GSI3": "EMAIL#nia@x.org PROFILE#nia"},
    "Follow": {"GSI1": "USER#nia FOLLOWER#mia"},
    "GroupMember": {"GSI1": "USER#nia ENTITY#Group#{joinedAt}#{groupId}"},
    "Goal": {"GSI1": "USER#nia ENTITY#Goal#{createdAt}#{goalId}"},
    "Task": {"GSI1": "USER#nia ENTITY#Task#{dueAt}#{taskId}"},
    "Quest": {"GSI1": "USER#nia ENTITY#Quest#{createdAt}#{id}"},
}
"""Where an item is in the indexes; goals and quests have their id after the time."""


async def lived(world: World) -> None:
    """Nia has done something of everything, and Mia follows her."""
    service, soon = world.service, world.db.context.now() + timedelta(days=1)
    tags = {"running"}
    await service.create_user(
        NewUser(nickname="nia", email="nia@x.org", full_name="Nia", tags=tags), caller=NIA
    )
    await service.follow_user("nia", caller=MIA)
    await service.promote("nia", True, caller=ROOT, reason="volume", thresholds={"posts": 9})
    await world.settle()
    await service.create_group(NewGroup(name="Runners", tags=tags), caller=NIA)
    goal = await service.create_goal(NewGoal(title="Run"), caller=NIA)
    task = NewTask(title="Shoes", due_at=soon)
    link = await service.create_task(goal.goal_id, task, caller=NIA)
    given = {
        "title": "Both",
        "kind": "quantitative",
        "tags": tags,
        "deadline": soon + timedelta(days=1),
        "linkedGoalIds": [goal.goal_id],
        "linkedTasks": [{"goalId": goal.goal_id, "taskId": link.task_id}],
        "targetCount": 2,
        "countScope": "linked",
        "startAt": soon,
        "periodSeconds": 3600,
    }
    await service.create_quest(NewQuest.model_validate(given), caller=NIA)
    picture = {"s3Key": "users/nia/a", "contentType": "image/png", "width": 4, "height": 3}
    told = {"previewText": "Look", "media": picture, "tags": tags}
    await service.post_activity(NewActivity.model_validate(told), caller=NIA)
    room = await service.create_room(NewRoom(scope="dm", members={"mia"}), caller=NIA)
    await service.send_message(room.room_id, "Hello", hours=1, caller=NIA)
    await world.settle()


async def items(world: World) -> dict[str, dict[str, Any]]:
    """One stored item of each type: hers, if there is one."""
    await lived(world)
    found = sorted(await stored(world.db, "gg_core"), key=lambda one: "nia" in str(one))
    return {one["type"]["S"]: one for one in found}


async def test_items_have_the_attributes_that_the_document_writes(world: World) -> None:
    found = await items(world)
    for name, payload in PAYLOADS.items():
        assert {"type", *payload.split()} <= set(found[name]), name
    assert set(found["Activity"]["media"]["M"]) == {"s3Key", "contentType", "width", "height"}
    lists = (found["User"]["tags"], found["Quest"]["linkedGoalIds"], found["Room"]["members"])
    assert all(list(one) == ["SS"] for one in lists)
    assert "ttl" not in found["Activity"]


async def test_items_are_in_the_indexes_where_the_document_says(world: World) -> None:
    found = await items(world)
    for name, places in INDEXED.items():
        item = found[name]
        texts = {field: value.get("S") for field, value in item.items()}
        keys = {
            index: f"{texts[f'{index}PK']} {texts[f'{index}SK']}"
            for index in ("GSI1", "GSI2", "GSI3")
            if f"{index}PK" in item
        }
        assert keys == {index: place.format(**texts) for index, place in places.items()}, name


async def test_the_table_is_the_documents(world: World) -> None:
    name = f"{world.db.context.table_prefix}gg_core"
    table = (await world.db.client.call("DescribeTable", {"TableName": name}))["Table"]
    assert [one["AttributeName"] for one in table["KeySchema"]] == ["PK", "SK"]
    assert table["StreamSpecification"] == {
        "StreamEnabled": True,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    indexes = {
        one["IndexName"]: [key["AttributeName"] for key in one["KeySchema"]]
        for one in table["GlobalSecondaryIndexes"]
    }
    assert indexes == {f"GSI{n}": [f"GSI{n}PK", f"GSI{n}SK"] for n in (1, 2, 3)}
    living = await world.db.client.call("DescribeTimeToLive", {"TableName": name})
    assert living["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "ttl",
    }
