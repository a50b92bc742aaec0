"""Who may do what in gg_core."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from keyfold_web import ANONYMOUS, Identity
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.media import LocalMedia
from keyfold_web.rest import rest_app
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Role
from keyfold_systems.gg_core.notices import Notice
from keyfold_systems.gg_core.payloads import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewQuest,
    NewReport,
    NewRoom,
    NewTask,
)
from keyfold_systems.gg_core.service import GgCore
from tests.systems.access import Matrix, Scene, fresh
from tests.systems.opening import LATER

from .conftest import MIA, OLGA, ROOT, SAM, START, World, register

pytestmark = LATER
ANA, KIM, ZOE = Identity.of("ana"), Identity.of("kim"), Identity.of("zoe")
MOD = Identity.of("mod", "moderator")
STRANGER = Identity.of("stranger")
"""Somebody who has signed in and has no profile."""

MATRIX = Matrix(
    """
    operation             anonymous  stranger  user  member  groupAdmin  owner  admin  moderator
    createUser            401        yes       409   409     409         409    409    409
    updateUser            401        403       403   403     403         yes    403    403
    changeTier            401        403       403   403     403         403    yes    403
    deleteUser            401        403       403   403     403         yes    yes    403
    personalData          401        403       403   403     403         yes    yes    403
    deletePersonalData    401        403       403   403     403         yes    yes    403
    user                  401        yes       yes   yes     yes         yes    yes    yes
    account               401        403       403   403     403         yes    403    403
    userByNickname        401        yes       yes   yes     yes         yes    yes    yes
    userByEmail           401        403       403   403     403         403    yes    403
    followUser            401        403       yes   yes     yes         409    yes    yes
    unfollowUser          401        403       404   404     404         yes    404    404
    blockUser             401        403       yes   yes     yes         yes    yes    yes
    unblockUser           401        403       404   404     404         yes    404    404
    blocks                401        403       403   403     403         yes    403    403
    following             401        yes       yes   yes     yes         yes    yes    yes
    followers             401        yes       yes   yes     yes         yes    yes    yes
    counts                401        yes       yes   yes     yes         yes    yes    yes

    postActivity          401        403       yes   yes     yes         yes    yes    yes
    postActivity/group    401        403       403   yes     yes         yes    403    403
    postActivity/another  401        403       403   403     403         yes    403    403
    postActivity/comment  401        403       yes   yes     yes         yes    yes    yes
    deleteActivity        401        403       403   403     403         yes    yes    yes
    deleteActivity/group  401        403       403   yes     yes         yes    yes    yes
    activities            401        yes       yes   yes     yes         yes    yes    yes
    groupActivities       401        403       403   yes     yes         yes    403    403
    comments              401        yes       yes   yes     yes         yes    yes    yes
    comments/group        401        403       403   yes     yes         yes    403    403
    feed                  401        403       403   403     403         yes    403    403
    uploadMedia           401        403       yes   yes     yes         yes    yes    yes
    promote               401        403       403   403     403         403    yes    403
    endPromotion          401        403       403   403     403         403    yes    403
    explainReach          401        403       403   403     403         403    yes    403
    explainWay            401        403       403   403     403         403    yes    403

    createGroup           401        403       yes   yes     yes         yes    yes    yes
    updateGroup           401        403       403   403     yes         yes    403    403
    group                 401        yes       yes   yes     yes         yes    yes    yes
    groupMembers          401        yes       yes   yes     yes         yes    yes    yes
    groups                401        403       403   403     403         yes    403    403
    joinGroup             401        403       yes   409     409         409    yes    yes
    leaveGroup            401        403       403   yes     yes         409    403    403
    removeMember          401        403       403   403     yes         yes    403    403
    removeMember/admin    401        403       403   403     403         yes    403    403
    changeRole            401        403       403   403     403         yes    403    403
    deleteGroup           401        403       403   403     403         yes    yes    403
    deleteGroup/lasting   401        403       403   403     403         409    yes    403

    createGoal            401        403       yes   yes     yes         yes    yes    yes
    updateGoal            401        403       403   403     403         yes    403    403
    completeGoal          401        403       403   403     403         yes    403    403
    deleteGoal            401        403       403   403     403         yes    403    403
    goals                 401        403       403   403     403         yes    403    403
    createTask            401        403       403   403     403         yes    403    403
    updateTask            401        403       403   403     403         yes    403    403
    completeTask          401        403       403   403     403         yes    403    403
    deleteTask            401        403       403   403     403         yes    403    403
    tasks                 401        403       403   403     403         yes    403    403
    tasksDue              401        403       403   403     403         yes    403    403

    createQuest           401        403       yes   yes     yes         yes    yes    yes
    createQuest/linked    401        403       422   422     422         yes    422    422
    cancelQuest           401        403       403   403     403         yes    403    403
    deleteQuest           401        403       403   403     403         403    yes    403
    quests                401        403       403   403     403         yes    403    403
    quest                 401        403       403   403     403         yes    403    403

    createRoom            401        403       yes   yes     yes         yes    yes    yes
    createRoom/group      401        403       403   403     yes         yes    403    403
    room                  401        403       403   yes     403         yes    403    403
    rooms                 401        403       403   403     403         yes    403    403
    groupRooms            401        403       403   yes     yes         yes    403    403
    addToRoom             401        403       403   yes     403         yes    403    403
    leaveRoom             401        403       403   yes     403         yes    403    403
    sendMessage           401        403       403   yes     403         yes    403    403
    messages              401        403       403   yes     403         yes    403    403
    deleteMessage         401        403       403   403     403         yes    yes    yes
    deleteMessage/hall    401        403       403   yes     yes         yes    yes    yes
    readRoom              401        403       403   yes     403         yes    403    403

    unread                401        403       403   403     403         yes    403    403
    notifications         401        403       403   403     403         yes    403    403
    readNotifications     401        403       403   403     403         yes    403    403

    report                401        403       yes   yes     yes         yes    yes    yes
    reports               401        403       403   403     403         403    yes    yes
    claimReport           401        403       403   403     403         403    yes    yes
    handleReport          401        403       403   403     403         403    yes    yes
    suspendUser           401        403       403   403     403         403    yes    yes
    restoreUser           401        403       403   403     403         403    404    404
    suspended             401        403       403   403     403         yes    yes    yes
    audit                 401        403       403   403     403         403    yes    yes
    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": STRANGER,
        "user": SAM,
        "member": MIA,
        "groupAdmin": ANA,
        "owner": OLGA,
        "admin": ROOT,
        "moderator": MOD,
    },
    {
        "createUser": {"input": {"nickname": "new", "email": "new@x.org", "fullName": "New"}},
        "updateUser": {"input": {"fullName": "O"}},
        "changeTier": {"tier": "pro"},
        "followUser": {"followeeId": "kim"},
        "unfollowUser": {"followeeId": "kim"},
        "blockUser": {"blockedId": "kim"},
        "unblockUser": {"blockedId": "zoe"},
        "postActivity": {"input": {"previewText": "Hello"}},
        "postActivity/group": {"input": {"actorId": "{groupId}", "previewText": "Hello"}},
        "postActivity/another": {"input": {"actorId": "olga", "previewText": "Hello"}},
        "postActivity/comment": {
            "input": {
                "verb": "comment",
                "objectId": "{activityId}",
                "objectActorId": "olga",
                "objectCreatedAt": "{createdAt}",
                "previewText": "Well done",
            }
        },
        "comments/group": {"actorId": "{groupId}", "activityId": "{groupActivityId}"},
        "deleteActivity/group": {"actorId": "{groupId}", "activityId": "{groupActivityId}"},
        "uploadMedia": {"contentType": "image/png"},
        "promote": {"fanoutEnabled": True},
        "endPromotion": {"actorId": "kim"},
        "explainWay": {"actorId": "kim", "followerId": "olga"},
        "createGroup": {"input": {"name": "Walkers"}},
        "updateGroup": {"input": {"name": "Joggers"}},
        "removeMember": {"userId": "mia"},
        "removeMember/admin": {"userId": "ana"},
        "changeRole": {"userId": "mia", "role": "admin"},
        "deleteGroup/lasting": {"groupId": "{communityId}"},
        "createGoal": {"input": {"title": "Swim"}},
        "updateGoal": {"input": {"title": "Run far"}},
        "createTask": {"input": {"title": "Socks"}},
        "updateTask": {"input": {"title": "New shoes"}},
        "createQuest": {"input": {"title": "Q", "kind": "quantitative", "targetCount": 1}},
        "createQuest/linked": {
            "input": {"title": "Q", "kind": "linked", "linkedGoalIds": ["{goalId}"]}
        },
        "createRoom": {"input": {"scope": "dm", "members": ["kim"]}},
        "createRoom/group": {"input": {"scope": "group", "groupId": "{groupId}"}},
        "addToRoom": {"userId": "kim"},
        "deleteMessage/hall": {"roomId": "{hallId}", "messageId": "{hallMessageId}"},
        "readNotifications": {"notificationIds": ["{noticeId}"]},
        "report": {"input": {"subjectType": "user", "subjectId": "kim", "reason": "Spam"}},
        "handleReport": {"decision": "dismissed"},
        "suspendUser": {"hours": 24, "reason": "Spam"},
        "restoreUser": {"reason": "Over"},
        "sendMessage": {"text": "Hi"},
    },
)


@asynccontextmanager
async def living() -> AsyncIterator[Scene]:
    """Olga's group with Ana and Mia and a room of its own, her room with Mia, her own things.

    She follows Kim and has blocked Zoe.
    """
    async with fresh(design, START) as db:
        service = GgCore(db)
        service.media = LocalMedia(Path("never-written"))
        await register(service, OLGA, MIA, SAM, ANA, KIM, ZOE, ROOT, MOD)
        project = NewGroup(name="Runners", is_persistent=False)
        group_id = (await service.create_group(project, caller=OLGA)).group_id
        for one in (ANA, MIA):
            await service.join_group(group_id, caller=one)
        await service.change_role(group_id, "ana", Role.ADMIN)
        community = await service.create_group(NewGroup(name="Club"), caller=OLGA)
        await service.follow_user("kim", caller=OLGA)
        await service.block_user("zoe", caller=OLGA)
        await service.promote("kim", fanout_enabled=True, caller=ROOT)
        activity = await service.post_activity(NewActivity(preview_text="Hi"), caller=OLGA)
        hers = NewActivity(preview_text="Hi", actor_id=group_id)
        there = await service.post_activity(hers, caller=MIA)
        goal = await service.create_goal(NewGoal(title="Run"), caller=OLGA)
        task = await service.create_task(goal.goal_id, NewTask(title="Shoes"), caller=OLGA)
        counted = NewQuest(title="One", kind="quantitative", target_count=1)
        quest = await service.create_quest(counted, caller=OLGA)
        room = await service.create_room(NewRoom(scope="group", members={"mia"}), caller=OLGA)
        message = await service.send_message(room.room_id, "Hi", caller=OLGA)
        hall = NewRoom(scope="group", group_id=group_id)
        hall_id = (await service.create_room(hall, caller=OLGA)).room_id
        shouted = await service.send_message(hall_id, "Hi", caller=MIA)
        bad = NewReport(subject_type="user", subject_id="zoe", reason="Spam")
        await service.report(bad, caller=OLGA)
        notice = Notice(user_id="olga", notice_id="n", kind="followed", created_at=START)
        await db.create(notice)
        yield Scene(
            service,
            {
                "userId": "olga",
                "actorId": "olga",
                "nickname": "olga",
                "email": "olga@x.org",
                "groupId": group_id,
                "communityId": community.group_id,
                "activityId": activity.activity_id,
                "groupActivityId": there.activity_id,
                "createdAt": activity.created_at.isoformat(),
                "goalId": goal.goal_id,
                "taskId": task.task_id,
                "questId": quest.id,
                "roomId": room.room_id,
                "messageId": message.message_id,
                "hallId": hall_id,
                "hallMessageId": shouted.message_id,
                "reporterId": "olga",
                "subjectType": "user",
                "subjectId": "zoe",
                "noticeId": "n",
            },
        )


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(GgCore)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, living)


def test_every_mutation_takes_a_request_id() -> None:
    mutations = [one for one in GgCore.operations.values() if one.kind == "mutation"]
    assert [one.name for one in mutations if not one.takes_request_id] == []


async def test_an_address_is_shown_to_its_owner_alone(world: World) -> None:
    tokens = DevelopmentTokens()
    transport = httpx.ASGITransport(rest_app(Dispatch(world.service), tokens))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        for who in ("olga", "sam"):
            headers = {"authorization": f"Bearer {tokens.issue(who)}"}
            for path in ("/users/olga", "/nicknames/olga"):
                assert "olga@x.org" not in (await http.get(path, headers=headers)).text
        own = {"authorization": f"Bearer {tokens.issue('olga')}"}
        assert (await http.get("/users/olga/account", headers=own)).json()["email"] == "olga@x.org"
