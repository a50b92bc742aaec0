"""Who may do what in gg_core."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.systems.access import Matrix, Scene, fresh

from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Promotion
from keyfold_systems.gg_core.media import MediaStore
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewGoal, NewGroup, NewQuest, NewRoom, NewTask, NewUser
from keyfold_web import ANONYMOUS, Identity

START = datetime(2031, 1, 1, tzinfo=UTC)
OLGA, MIA, SAM = Identity.of("olga"), Identity.of("mia"), Identity.of("sam")
STRANGER, ROOT = Identity.of("stranger"), Identity.of("root", "admin")

MATRIX = Matrix(
    """
    operation         anonymous  stranger  member  friend  owner  admin
    createUser        401        yes       409     409     409    yes
    updateUser        401        403       403     403     yes    403
    account           401        403       403     403     yes    403
    user              401        yes       yes     yes     yes    yes
    userByNickname    401        yes       yes     yes     yes    yes
    userByEmail       401        403       403     403     403    yes
    timeline          401        403       403     403     yes    403
    followUser        401        404       yes     yes     409    404
    unfollowUser      401        404       404     404     yes    404
    following         401        yes       yes     yes     yes    yes
    followers         401        yes       yes     yes     yes    yes
    counts            401        yes       yes     yes     yes    yes
    createGroup       401        404       yes     yes     yes    404
    group             401        yes       yes     yes     yes    yes
    members           401        403       403     yes     yes    403
    myGroups          401        403       403     403     yes    403
    joinGroup         401        404       yes     409     409    404
    leaveGroup        401        404       404     yes     409    404
    postActivity      401        404       yes     yes     yes    404
    activities        401        yes       yes     yes     yes    yes
    feed              401        403       403     403     yes    403
    uploadMedia       401        yes       yes     yes     yes    yes
    setPromotion      401        403       403     403     403    yes
    promotion         401        403       403     403     403    yes
    createGoal        401        404       yes     yes     yes    404
    completeGoal      401        404       404     404     yes    404
    goals             401        403       403     403     yes    403
    createTask        401        404       404     404     yes    404
    completeTask      401        404       404     404     yes    404
    tasks             401        403       403     403     yes    403
    tasksDue          401        403       403     403     yes    403
    createQuest       401        404       yes     yes     yes    404
    completeQuest     401        404       404     404     409    404
    cancelQuest       401        404       404     404     yes    404
    deleteQuest       401        403       403     403     403    yes
    quests            401        403       403     403     yes    403
    quest             401        403       403     403     yes    403
    createRoom        401        404       yes     yes     yes    404
    rooms             401        403       403     403     yes    403
    sendMessage       401        403       403     yes     yes    403
    history           401        403       403     yes     yes    403
    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": STRANGER,
        "member": SAM,
        "friend": MIA,
        "owner": OLGA,
        "admin": ROOT,
    },
    {
        "createUser": {"input": {"nickname": "new", "email": "new@x.org", "fullName": "New"}},
        "updateUser": {"input": {"fullName": "Olga B."}},
        "createGroup": {"input": {"name": "Runners"}},
        "postActivity": {"input": {"previewText": "Ran."}},
        "uploadMedia": {"contentType": "image/png"},
        "setPromotion": {"fanoutEnabled": True},
        "createGoal": {"input": {"title": "Run"}},
        "createTask": {"input": {"title": "Shoes"}},
        "createQuest": {"input": {"title": "Q", "kind": "quantitative", "targetCount": 1}},
        "createRoom": {"input": {"members": ["{followeeId}"]}},
        "sendMessage": {"text": "Hello"},
    },
)


class Signer:
    """Links that nobody opens."""

    def generate_presigned_url(self, method: str, *, Params: dict[str, Any], ExpiresIn: int) -> str:
        return f"https://{Params['Bucket']}.example/{Params['Key']}?{method}&{ExpiresIn}"


@asynccontextmanager
async def living() -> AsyncIterator[Scene]:
    """Olga's group with Mia, a goal, a task, a quest, a room with Mia; she follows Zoe."""
    async with fresh(design, START) as db:
        service = GgCore(db)
        service.store = MediaStore("bucket", Signer())
        for one in (OLGA, MIA, SAM, Identity.of("zoe")):
            profile = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id)
            await service.create_user(profile, caller=one)
        await service.follow_user("zoe", caller=OLGA)
        group = await service.create_group(NewGroup(name="Runners"), caller=OLGA)
        await service.join_group(group.group_id, caller=MIA)
        goal = await service.create_goal(NewGoal(title="Run"), caller=OLGA)
        task = await service.create_task(goal.goal_id, NewTask(title="Shoes"), caller=OLGA)
        counted = NewQuest(title="Q", kind="quantitative", target_count=1)
        quest = await service.create_quest(counted, caller=OLGA)
        room = await service.create_room(NewRoom(members=["mia"]), caller=OLGA)
        await db.put(Promotion(user_id="olga", fanout_enabled=True))
        there = {
            "userId": "olga",
            "nickname": "olga",
            "email": "olga@x.org",
            "followeeId": "zoe",
            "groupId": group.group_id,
            "goalId": goal.goal_id,
            "taskId": task.task_id,
            "questId": quest.quest_id,
            "roomId": room.room_id,
        }
        yield Scene(service, there)


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(GgCore)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, living)
