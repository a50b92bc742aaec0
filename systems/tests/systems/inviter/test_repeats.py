"""Every mutation of Inviter, sent twice over HTTP."""

from __future__ import annotations

import asyncio

from keyfold import AsyncDb
from keyfold_systems.inviter.entities import Group
from keyfold_systems.inviter.service import Inviter
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import Step, check_repeats, reported, stored

from .conftest import Town
from .test_api import HANGOUT

STEPS = [
    Step("saveUser", "ada", "PUT", "/users/ada", {"name": "Ada"}, {"name": "Eda"}),
    Step("saveUser", "ben", "PUT", "/users/ben", {"name": "Ben"}, {"name": "Len"}),
    Step("saveUser", "cleo", "PUT", "/users/cleo", {"name": "Cleo"}, {"name": "Leo"}),
    Step("createGroup", "ada", "POST", "/groups", {"name": "G"}, {"name": "H"}, keep="groupId"),
    Step("renameGroup", "ada", "PATCH", "/groups/{groupId}", {"name": "R"}, {"name": "S"}),
    Step(
        "joinGroup",
        "ben",
        "POST",
        "/groups/{groupId}/members",
        other="/groups/none/members",
    ),
    Step(
        "setPrivacy",
        "ada",
        "PUT",
        "/groups/{groupId}/privacy",
        {"private": True},
        {"private": False},
    ),
    Step(
        "inviteToGroup",
        "ben",
        "POST",
        "/groups/{groupId}/invitations",
        {"userId": "cleo"},
        {"userId": "ada"},
    ),
    Step(
        "declineGroup",
        "cleo",
        "DELETE",
        "/groups/{groupId}/invitations/cleo",
        other="/groups/none/invitations/cleo",
    ),
    Step(
        "createHangout",
        "ada",
        "POST",
        "/hangouts",
        {**HANGOUT, "groupIds": ["{groupId}"], "userIds": ["ben", "cleo"]},
        {**HANGOUT, "groupIds": ["{groupId}"], "userIds": ["ben"]},
        keep="hangoutId",
    ),
    Step(
        "updateHangout",
        "ada",
        "PATCH",
        "/hangouts/{hangoutId}",
        {"title": "Long run"},
        {"title": "Short run"},
    ),
    Step(
        "withdraw",
        "ada",
        "POST",
        "/hangouts/{hangoutId}/withdrawals",
        {"userIds": ["cleo", "ben"]},
        {"userIds": ["ben"]},
    ),
    Step(
        "invite",
        "ada",
        "POST",
        "/hangouts/{hangoutId}/guests",
        {"userIds": ["ben", "cleo"]},
        {"userIds": ["cleo"]},
    ),
    Step(
        "respond",
        "cleo",
        "PUT",
        "/hangouts/{hangoutId}/response",
        {"answer": "going"},
        {"answer": "maybe"},
    ),
    Step(
        "readNotifications",
        "ada",
        "POST",
        "/users/ada/notifications/read",
        {"notificationIds": ["none"]},
        {"notificationIds": ["other"]},
    ),
    *reported("cleo", "hangout", "{hangoutId}"),
    Step(
        "leaveGroup",
        "ben",
        "DELETE",
        "/groups/{groupId}/members/ben",
        other="/groups/none/members/ben",
    ),
    Step("deleteHangout", "ada", "DELETE", "/hangouts/{hangoutId}", other="/hangouts/none"),
    Step(
        "setPrivacy",
        "ada",
        "PUT",
        "/groups/{groupId}/privacy",
        {"private": False},
        {"private": True},
    ),
    Step("joinGroup", "cleo", "POST", "/groups/{groupId}/members", other="/groups/none/members"),
    Step(
        "handOverGroup",
        "ada",
        "PUT",
        "/groups/{groupId}/owner",
        {"userId": "cleo"},
        {"userId": "ben"},
    ),
    Step("deleteGroup", "cleo", "DELETE", "/groups/{groupId}", other="/groups/none"),
    Step("deleteUser", "cleo", "DELETE", "/users/cleo", other="/users/ben"),
    Step("deletePersonalData", "ben", "DELETE", "/people/ben/data", other="/people/ada/data"),
]


def test_every_mutation_is_here() -> None:
    mutations = {name for name, one in Inviter.operations.items() if one.kind == "mutation"}
    assert {step.operation for step in STEPS} == mutations


async def test_a_repeated_request_has_one_effect_and_other_input_is_refused(
    town: Town, client: Recorder
) -> None:
    async with served(town.service) as web:
        await check_repeats(web, client, STEPS)


async def test_the_same_request_many_times_at_once_has_one_effect(
    town: Town, client: Recorder, db: AsyncDb
) -> None:
    async with served(town.service) as web:
        await web["ada"].put("/users/ada", json={"name": "Ada"})
        key = {"idempotency-key": "k"}
        answers = await asyncio.gather(
            *(web["ada"].post("/groups", json={"name": "G"}, headers=key) for _ in range(8))
        )
        made = {one.json()["groupId"] for one in answers if one.status_code == 201}
        assert len(made) == 1
        assert {one.status_code for one in answers} <= {201, 409}
        last = await web["ada"].post("/groups", json={"name": "G"}, headers=key)
        assert last.json()["groupId"] in made
    assert len([one async for one in db.scan(Group)]) == 1


async def test_what_was_done_is_forgotten_after_a_day(town: Town, client: Recorder) -> None:
    async with served(town.service) as web:
        key = {"idempotency-key": "k"}
        await web["ada"].put("/users/ada", json={"name": "Ada"}, headers=key)
    noted = [one for one in await client.items() if one not in await stored(client)]
    begun = int(town.service.db.context.clock.now())
    assert [int(one["ttl"]["N"]) - begun for one in noted] == [24 * 3600]
