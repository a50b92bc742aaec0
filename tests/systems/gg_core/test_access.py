"""Who may do what: 401 without an identity, 403 with the wrong one, for each mutation."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from keyfold.serve.app import Settings, create_app
from keyfold.serve.auth import DevelopmentTokens
from keyfold_systems.gg_core.payloads import NewRoom
from tests.systems.opening import LATER

from .conftest import OLGA, World

pytestmark = LATER
SAM = "sam"
STRANGER = "stranger"
"""Somebody who has signed in and has no profile."""

MUTATIONS: dict[str, tuple[str, str, Any, str]] = {
    "updateUser": ("PATCH", "/users/olga", {"fullName": "O"}, SAM),
    "followUser": ("POST", "/following/mia", None, STRANGER),
    "unfollowUser": ("DELETE", "/following/mia", None, STRANGER),
    "blockUser": ("POST", "/blocks/mia", None, STRANGER),
    "unblockUser": ("DELETE", "/blocks/mia", None, STRANGER),
    "postActivity": ("POST", "/activities", {"actorId": "olga"}, SAM),
    "deleteActivity": (
        "DELETE",
        "/actors/olga/activities/{activity}?createdAt={at}",
        None,
        SAM,
    ),
    "uploadMedia": ("POST", "/media", {"contentType": "image/png"}, STRANGER),
    "promote": ("PUT", "/promotions/olga", {"fanoutEnabled": True}, SAM),
    "createGroup": ("POST", "/groups", {"name": "G"}, STRANGER),
    "updateGroup": ("PATCH", "/groups/{group}", {"name": "G"}, SAM),
    "joinGroup": ("POST", "/groups/{group}/members", None, STRANGER),
    "leaveGroup": ("DELETE", "/groups/{group}/membership", None, SAM),
    "removeMember": ("DELETE", "/groups/{group}/members/olga", None, SAM),
    "changeRole": ("PUT", "/groups/{group}/members/olga/role", {"role": "member"}, SAM),
    "deleteGroup": ("DELETE", "/groups/{group}", None, SAM),
    "createGoal": ("POST", "/goals", {"title": "G"}, STRANGER),
    "updateGoal": ("PATCH", "/goals/{goal}", {"title": "G"}, SAM),
    "completeGoal": ("POST", "/goals/{goal}/completion", None, SAM),
    "deleteGoal": ("DELETE", "/goals/{goal}", None, SAM),
    "createTask": ("POST", "/goals/{goal}/tasks", {"title": "T"}, SAM),
    "updateTask": ("PATCH", "/goals/{goal}/tasks/{task}", {"title": "T"}, SAM),
    "completeTask": ("POST", "/goals/{goal}/tasks/{task}/completion", None, SAM),
    "createQuest": (
        "POST",
        "/quests",
        {"title": "Q", "kind": "quantitative", "targetCount": 1},
        STRANGER,
    ),
    "cancelQuest": ("POST", "/quests/{quest}/cancellation", None, SAM),
    "deleteQuest": ("DELETE", "/users/olga/quests/{quest}", None, "olga"),
    "createRoom": ("POST", "/rooms", {"scope": "dm", "members": ["mia"]}, STRANGER),
    "addToRoom": ("PUT", "/rooms/{room}/members/sam", None, SAM),
    "leaveRoom": ("DELETE", "/rooms/{room}/membership", None, SAM),
    "sendMessage": ("POST", "/rooms/{room}/messages", {"text": "Hi"}, SAM),
}
QUERIES_OF_ONES_OWN = [
    "/users/olga/account",
    "/users/olga/feed",
    "/users/olga/groups",
    "/users/olga/goals",
    "/users/olga/tasks",
    "/users/olga/quests",
    "/users/olga/quests/{quest}",
    "/users/olga/rooms",
    "/goals/{goal}/tasks",
    "/groups/{group}/activities",
    "/groups/{group}/rooms",
    "/rooms/{room}",
    "/rooms/{room}/messages",
    "/emails/olga@x.org",
    "/promotions/olga/explanation",
]


@pytest.fixture
def tokens() -> DevelopmentTokens:
    return DevelopmentTokens()


@pytest.fixture
def http(world: World, tokens: DevelopmentTokens) -> httpx.AsyncClient:
    app = create_app([world.service], Settings(development=True, tokens=tokens))
    base = f"http://test/{world.service.name}"
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base)


@pytest.fixture
async def ids(world: World) -> dict[str, str]:
    """Things of Olga's, by what they are."""
    group = await world.found(OLGA)
    goal = await world.goal()
    task = await world.task(goal)
    quest = await world.counted(1)
    activity = await world.post(OLGA)
    room = await world.service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA)
    return {
        "group": group.group_id,
        "goal": goal.goal_id,
        "task": task.task_id,
        "quest": quest.id,
        "activity": activity.activity_id,
        "at": activity.created_at.isoformat().replace("+00:00", "Z"),
        "room": room.room_id,
    }


def test_the_matrix_has_every_mutation(world: World) -> None:
    operations = world.service.operations.values()
    mutations = {one.name for one in operations if one.kind == "mutation"}
    # Whoever has signed in may make their own profile: there is no wrong identity.
    assert mutations == set(MUTATIONS) | {"createUser"}
    assert all(
        one.takes_request_id for one in operations if one.name in mutations - {"uploadMedia"}
    )


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_mutation_answers_401_without_and_403_with_the_wrong_identity(
    name: str, http: httpx.AsyncClient, tokens: DevelopmentTokens, ids: dict[str, str]
) -> None:
    method, path, body, wrong = MUTATIONS[name]
    request: dict[str, Any] = {"json": body} if body is not None else {}
    url = path.format(**ids)
    assert (await http.request(method, url, **request)).status_code == 401
    headers = {"authorization": f"Bearer {tokens.issue(wrong)}"}
    refused = await http.request(method, url, headers=headers, **request)
    assert refused.status_code == 403, refused.text


async def test_a_profile_needs_an_identity(http: httpx.AsyncClient) -> None:
    body = {"nickname": "zoe", "email": "zoe@x.org", "fullName": "Zoe"}
    assert (await http.post("/users", json=body)).status_code == 401


@pytest.mark.parametrize("path", QUERIES_OF_ONES_OWN)
async def test_what_is_ones_own_is_shown_to_nobody_else(
    path: str, http: httpx.AsyncClient, tokens: DevelopmentTokens, ids: dict[str, str]
) -> None:
    url = path.format(**ids)
    assert (await http.get(url)).status_code == 401
    headers = {"authorization": f"Bearer {tokens.issue(SAM)}"}
    assert (await http.get(url, headers=headers)).status_code == 403


async def test_an_administrator_may_promote_and_delete_quests(
    world: World, http: httpx.AsyncClient, tokens: DevelopmentTokens, ids: dict[str, str]
) -> None:
    headers = {"authorization": f"Bearer {tokens.issue('root', 'admin')}"}
    flag = await http.put("/promotions/olga", json={"fanoutEnabled": True}, headers=headers)
    assert flag.status_code == 200
    gone = await http.delete(f"/users/olga/quests/{ids['quest']}", headers=headers)
    assert gone.status_code == 204


async def test_an_address_is_shown_to_its_owner_alone(
    world: World, http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    for who in ("olga", SAM):
        headers = {"authorization": f"Bearer {tokens.issue(who)}"}
        for path in ("/users/olga", "/nicknames/olga"):
            assert "olga@x.org" not in (await http.get(path, headers=headers)).text
    own = {"authorization": f"Bearer {tokens.issue('olga')}"}
    assert (await http.get("/users/olga/account", headers=own)).json()["email"] == "olga@x.org"
