"""Every mutation happens once for a request id and is announced once.

Another payload under the id is refused.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import httpx
import pytest

from keyfold_web.app import ApiSettings, create_app
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.identity import Identity
from keyfold_systems.gg_core.notices import Notice
from keyfold_systems.gg_core.payloads import NewReport, NewRoom
from tests.systems.opening import LATER, stored
from tests.systems.repeats import shown

from .conftest import MIA, OLGA, ROOT, SAM, START, World

pytestmark = LATER

SPAM = {"subjectType": "user", "subjectId": "mia", "reason": "Spam"}
QUEST = {"title": "Q", "kind": "quantitative", "targetCount": 1}
DM = {"scope": "dm", "members": ["mia"]}
MUTATIONS: dict[str, tuple[str, str, Any, str, str, Any]] = {
    # the request, who asks, and a path and a body of which one is different
    "createUser": (
        *("POST", "/users", {"nickname": "zoe", "email": "zoe@x.org", "fullName": "Zoe"}, "zoe"),
        *("/users", {"nickname": "zoe", "email": "zoe@y.org", "fullName": "Zoe"}),
    ),
    "updateUser": ("PATCH", "/users/olga", {"fullName": "O"}, "olga", "/users/olga", {}),
    "changeTier": (
        *("PUT", "/users/olga/tier", {"tier": "pro"}, "root"),
        *("/users/olga/tier", {"tier": "plus"}),
    ),
    "deleteUser": ("DELETE", "/users/mia", None, "mia", "/users/olga", None),
    "deletePersonalData": (
        *("DELETE", "/people/mia/data", None, "mia", "/people/olga/data", None),
    ),
    "followUser": ("POST", "/following/sam", None, "olga", "/following/mia", None),
    "unfollowUser": ("DELETE", "/following/mia", None, "olga", "/following/sam", None),
    "blockUser": ("POST", "/blocks/mia", None, "olga", "/blocks/sam", None),
    "unblockUser": ("DELETE", "/blocks/mia", None, "sam", "/blocks/olga", None),
    "postActivity": (
        *("POST", "/activities", {"previewText": "Hi"}, "olga"),
        *("/activities", {"previewText": "Ho"}),
    ),
    "deleteActivity": (
        *("DELETE", "/actors/olga/activities/{activity}?createdAt={at}", None, "olga"),
        *("/actors/olga/activities/other?createdAt={at}", None),
    ),
    "promote": (
        *("PUT", "/promotions/olga", {"fanoutEnabled": True}, "root"),
        *("/promotions/olga", {"fanoutEnabled": False}),
    ),
    "endPromotion": ("DELETE", "/promotions/mia", None, "root", "/promotions/olga", None),
    "createGroup": ("POST", "/groups", {"name": "G"}, "olga", "/groups", {"name": "H"}),
    "updateGroup": ("PATCH", "/groups/{group}", {"name": "G"}, "olga", "/groups/x", {"name": "G"}),
    "joinGroup": ("POST", "/groups/{group}/members", None, "sam", "/groups/x/members", None),
    "leaveGroup": (
        *("DELETE", "/groups/{group}/membership", None, "mia"),
        *("/groups/x/membership", None),
    ),
    "removeMember": (
        *("DELETE", "/groups/{group}/members/mia", None, "olga"),
        *("/groups/{group}/members/sam", None),
    ),
    "changeRole": (
        *("PUT", "/groups/{group}/members/mia/role", {"role": "admin"}, "olga"),
        *("/groups/{group}/members/mia/role", {"role": "owner"}),
    ),
    "deleteGroup": ("DELETE", "/groups/{group}", None, "olga", "/groups/x", None),
    "createGoal": ("POST", "/goals", {"title": "G"}, "olga", "/goals", {"title": "H"}),
    "updateGoal": ("PATCH", "/goals/{goal}", {"title": "G"}, "olga", "/goals/x", {"title": "G"}),
    "completeGoal": ("POST", "/goals/{goal}/completion", None, "olga", "/goals/x/completion", None),
    "deleteGoal": ("DELETE", "/goals/{goal}", None, "olga", "/goals/x", None),
    "createTask": (
        *("POST", "/goals/{goal}/tasks", {"title": "T"}, "olga"),
        *("/goals/x/tasks", {"title": "T"}),
    ),
    "updateTask": (
        *("PATCH", "/goals/{goal}/tasks/{task}", {"title": "T"}, "olga"),
        *("/goals/{goal}/tasks/x", {"title": "T"}),
    ),
    "deleteTask": (
        *("DELETE", "/goals/{goal}/tasks/{task}", None, "olga"),
        *("/goals/{goal}/tasks/x", None),
    ),
    "completeTask": (
        *("POST", "/goals/{goal}/tasks/{task}/completion", None, "olga"),
        *("/goals/{goal}/tasks/x/completion", None),
    ),
    "createQuest": ("POST", "/quests", QUEST, "olga", "/quests", QUEST | {"targetCount": 2}),
    "cancelQuest": (
        *("POST", "/quests/{quest}/cancellation", None, "olga"),
        *("/quests/x/cancellation", None),
    ),
    "deleteQuest": (
        *("DELETE", "/users/olga/quests/{quest}", None, "root"),
        *("/users/mia/quests/{quest}", None),
    ),
    "createRoom": ("POST", "/rooms", DM, "olga", "/rooms", DM | {"members": ["sam"]}),
    "addToRoom": (
        *("PUT", "/rooms/{room}/members/sam", None, "olga"),
        *("/rooms/{room}/members/olga", None),
    ),
    "leaveRoom": ("DELETE", "/rooms/{room}/membership", None, "mia", "/rooms/x/membership", None),
    "sendMessage": (
        *("POST", "/rooms/{room}/messages", {"text": "Hi"}, "mia"),
        *("/rooms/{room}/messages", {"text": "Ho"}),
    ),
    "deleteMessage": (
        *("DELETE", "/rooms/{room}/messages/{message}?createdAt={sent}", None, "olga"),
        *("/rooms/{room}/messages/other?createdAt={sent}", None),
    ),
    "readRoom": ("PUT", "/rooms/{room}/read", None, "mia", "/rooms/x/read", None),
    "readNotifications": (
        *("POST", "/users/mia/notifications/read", {"notificationIds": ["{notice}"]}, "mia"),
        *("/users/mia/notifications/read", {"notificationIds": ["x"]}),
    ),
    "report": (
        *("POST", "/reports", SPAM, "olga"),
        *("/reports", SPAM | {"reason": "Rude"}),
    ),
    "claimReport": (
        "PUT",
        "/reports/sam/user/olga/lock",
        None,
        "root",
        "/reports/x/user/y/lock",
        None,
    ),
    "handleReport": (
        *("POST", "/reports/sam/user/olga/decision", {"decision": "dismissed"}, "root"),
        *("/reports/sam/user/olga/decision", {"decision": "removed"}),
    ),
    "suspendUser": (
        *("PUT", "/users/mia/suspension", {"hours": 2, "reason": "Spam"}, "root"),
        *("/users/mia/suspension", {"hours": 3, "reason": "Spam"}),
    ),
    "restoreUser": (
        *("DELETE", "/users/tom/suspension?reason=Over", None, "root"),
        *("/users/tom/suspension?reason=Enough", None),
    ),
}

ANNOUNCED = {
    "createUser": "UserCreated",
    "updateUser": "UserChanged",
    "changeTier": "UserChanged",
    "deleteUser": "UserDeleted",
    "deletePersonalData": "UserDeleted",
    "followUser": "UserFollowed",
    "unfollowUser": "UserUnfollowed",
    "blockUser": "UserBlocked",
    "unblockUser": "UserUnblocked",
    "postActivity": "ActivityPosted",
    "deleteActivity": "ActivityDeleted",
    "promote": "ReachDecided",
    "endPromotion": "ReachLeftToPolicy",
    "createGroup": "GroupCreated",
    "updateGroup": "GroupChanged",
    "joinGroup": "GroupJoined",
    "leaveGroup": "GroupLeft",
    "removeMember": "GroupLeft",
    "changeRole": "RoleChanged",
    "deleteGroup": "GroupDeleted",
    "createGoal": "GoalCreated",
    "updateGoal": "GoalChanged",
    "completeGoal": "GoalCompleted",
    "deleteGoal": "GoalDeleted",
    "createTask": "TaskCreated",
    "updateTask": "TaskChanged",
    "deleteTask": "TaskDeleted",
    "completeTask": "TaskCompleted",
    "createQuest": "QuestCreated",
    "cancelQuest": "QuestCancelled",
    "deleteQuest": "QuestDeleted",
    "createRoom": "RoomCreated",
    "addToRoom": "RoomMembersChanged",
    "leaveRoom": "RoomMembersChanged",
    "sendMessage": "MessageSent",
    "deleteMessage": "MessageDeleted",
    "report": "ReportMade",
    "handleReport": "ReportHandled",
    "suspendUser": "UserSuspended",
    "restoreUser": "UserRestored",
}
QUIET = {"readRoom", "readNotifications", "claimReport"}
"""What concerns nobody else."""


@pytest.fixture
async def ids(world: World) -> dict[str, str]:
    """What the mutations are about, so that each of them is possible."""
    service = world.service
    await service.follow_user("mia", caller=OLGA)
    await service.block_user("mia", caller=SAM)
    await service.promote("mia", fanout_enabled=False, caller=ROOT)
    group = await world.found(OLGA, persistent=False)
    await service.join_group(group.group_id, caller=MIA)
    goal = await world.goal()
    room = await service.create_room(NewRoom(scope="group", members={"mia"}), caller=OLGA)
    activity = await world.post(OLGA)
    message = await service.send_message(room.room_id, "Hi", caller=OLGA)
    rude = NewReport(subject_type="user", subject_id="olga", reason="Rude")
    await service.report(rude, caller=SAM)
    await world.register(Identity.of("tom"))
    await service.suspend_user("tom", 2, "Rude", caller=ROOT)
    notice = Notice(user_id="mia", notice_id="n", kind="followed", created_at=START)
    await world.db.create(notice)
    return {
        "group": group.group_id,
        "goal": goal.goal_id,
        "task": (await world.task(goal)).task_id,
        "quest": (await world.counted(1)).id,
        "activity": activity.activity_id,
        "at": _text(activity.created_at),
        "room": room.room_id,
        "message": message.message_id,
        "sent": _text(message.created_at),
        "notice": notice.notice_id,
    }


def _text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def test_every_mutation_is_tried(world: World) -> None:
    operations = world.service.operations.values()
    mutations = {one.name for one in operations if one.kind == "mutation"}
    # Links that expire are made anew.
    assert mutations == set(MUTATIONS) | {"uploadMedia"}
    assert set(MUTATIONS) == set(ANNOUNCED) | QUIET


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_mutation_happens_once_for_a_request_id_and_is_announced_once(
    name: str, world: World, ids: dict[str, str]
) -> None:
    method, path, body, who, other_path, other_body = MUTATIONS[name]
    await world.settle()
    before = Counter(await world.announced())
    tokens = DevelopmentTokens()
    app = create_app([world.service], ApiSettings(development=True, tokens=tokens))
    token = tokens.issue(who, *(["admin"] if who == "root" else []))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url=f"http://localhost/{world.service.name}",
        headers={"authorization": f"Bearer {token}", "idempotency-key": "once"},
    ) as http:

        async def ask(path: str, body: Any) -> httpx.Response:
            filled = body and {
                k: v.format(**ids) if isinstance(v, str) else v for k, v in body.items()
            }
            given: dict[str, Any] = {} if body is None else {"json": filled}
            return await http.request(method, path.format(**ids), **given)

        first = await ask(path, body)
        assert first.is_success, first.text
        after = await stored(world.db, "gg_core")
        again = await ask(path, body)
        assert shown(again) == shown(first)
        reused = await ask(other_path, other_body)
        assert (reused.status_code, reused.json()["code"]) == (422, "REQUEST_REUSED")
        assert await stored(world.db, "gg_core") == after
    await world.settle()
    told = Counter(await world.announced()) - before
    assert told[ANNOUNCED[name]] == 1 if name in ANNOUNCED else not told
