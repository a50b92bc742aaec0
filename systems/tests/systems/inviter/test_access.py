"""Who may do what in Inviter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from keyfold_web import ANONYMOUS, Identity
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.payloads import Guests
from keyfold_systems.inviter.service import Inviter
from tests.systems.access import Matrix, Scene, fresh

from .conftest import NOW, Town

CALLERS = {
    "anonymous": ANONYMOUS,
    "stranger": Identity.of("sam"),
    "invited": Identity.of("cleo"),
    "member": Identity.of("ben"),
    "owner": Identity.of("ada"),
    "admin": Identity.of("root", "admin"),
}
MATRIX = Matrix(
    """
operation          anonymous  stranger  invited  member  owner  admin
    saveUser           401        403       403      yes     403    403
    user               401        yes       yes      yes     yes    yes
    profile            401        403       403      yes     403    403
    personalData       401        403       403      yes     403    yes
    deletePersonalData 401        403       403      yes     403    yes
    people             401        yes       yes      yes     yes    yes
    deleteUser         401        403       403      yes     403    403
    createGroup        401        yes       yes      yes     yes    yes
    group              401        403       403      yes     yes    403
    linkedGroup        401        yes       yes      yes     yes    yes
    linkedGroup/private 401       403       yes      yes     yes    403
    renameGroup        401        403       403      403     yes    403
    setPrivacy         401        403       403      403     yes    403
    handOverGroup      401        403       403      403     yes    403
    deleteGroup        401        403       403      403     yes    403
    joinGroup          401        yes       yes      409     409    yes
    joinGroup/private  401        403       yes      yes     409    403
    leaveGroup         401        403       403      yes     yes    403
    members            401        403       403      yes     yes    403
    groups             401        403       403      yes     403    403
    inviteToGroup      401        403       403      yes     yes    403
    declineGroup       401        403       yes      403     yes    403
    groupInvitations   401        403       403      yes     yes    403
    invitations        401        403       403      yes     403    403
    groupFeed          401        403       403      yes     yes    403
    groupUpcoming      401        403       403      yes     yes    403
    myHangouts         401        403       403      yes     403    403
    hosted             401        403       403      yes     403    403
    createHangout      401        yes       yes      yes     yes    yes
    hangout            401        403       yes      yes     yes    403
    guests             401        403       yes      yes     yes    403
    updateHangout      401        403       403      403     yes    403
    deleteHangout      401        403       403      403     yes    403
    invite             401        403       403      403     yes    403
    withdraw           401        403       403      403     yes    403
    respond            401        403       yes      yes     yes    403
    responses          401        403       yes      yes     yes    403
    notifications      401        403       403      yes     403    403
    unread             401        403       403      yes     403    403
    readNotifications  401        403       403      yes     403    403
    report             401        yes       422      yes     yes    yes
    report/hangout     401        422       yes      yes     422    422
    reports            401        403       403      403     403    yes
    decide             401        403       403      403     403    yes
    suspendUser        401        403       403      403     403    yes
    restoreUser        401        403       403      403     403    404
    suspended          401        403       403      yes     403    yes
    audit              401        403       403      403     403    yes
    """,
    CALLERS,
    {
        "saveUser": {"name": "Benjamin"},
        "createGroup": {"name": "Walkers"},
        "people": {"name": "a"},
        "renameGroup": {"name": "Joggers"},
        "setPrivacy": {"private": True},
        "handOverGroup": {"userId": "ben"},
        "joinGroup/private": {"groupId": "{privateId}"},
        "linkedGroup/private": {"groupId": "{privateId}"},
        "inviteToGroup": {"userId": "sam"},
        "declineGroup": {"groupId": "{privateId}", "userId": "cleo"},
        "readNotifications": {"notificationIds": ["none"]},
        "createHangout": {
            "input": {
                "title": "Swim",
                "startsAt": "2031-08-10T10:00:00Z",
                "endsAt": "2031-08-10T11:00:00Z",
                "userIds": ["cleo"],
            }
        },
        "updateHangout": {"input": {"title": "Long run"}},
        "invite": {"input": {"userIds": ["sam"]}},
        "withdraw": {"input": {"userIds": ["cleo"]}},
        "respond": {"answer": "going"},
        "report": {"kind": "user", "subjectId": "cleo", "reason": "Spam"},
        "report/hangout": {"kind": "hangout", "subjectId": "{hangoutId}", "reason": "Spam"},
        "suspendUser": {"hours": 1, "reason": "Spam"},
        "restoreUser": {"reason": "Over"},
        "decide": {
            "kind": "group",
            "subjectId": "{groupId}",
            "decision": "remove",
            "reason": "Spam",
        },
    },
)


@asynccontextmanager
async def running() -> AsyncIterator[Scene]:
    """Ada's group with Ben in it, her hangout that Cleo is invited to, and Ben's own things."""
    async with fresh(design, NOW) as db:
        town = Town(Inviter(db))
        group = await town.settle()
        for one in ("sam", "root"):
            await town.service.save_user(one, one.title())
        hangout = await town.hangout(group, user_ids={"cleo"})
        private = await town.service.create_group("Friends", town.ada, private=True)
        for one in ("ben", "cleo"):
            await town.service.invite_to_group(private.group_id, one, town.ada)
        there = {
            "groupId": group.group_id,
            "privateId": private.group_id,
            "hangoutId": hangout.hangout_id,
            "userId": "ben",
        }
        yield Scene(town.service, there)


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(Inviter)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, running)


def only(*who: str) -> dict[str, int]:
    return {one: 200 if one in who else 401 if one == "anonymous" else 403 for one in CALLERS}


@pytest.mark.parametrize(
    "operation", [n for n, row in MATRIX.rows.items() if "403" in row.values() and "/" not in n]
)
async def test_what_is_not_there_lets_nobody_in(operation: str, town: Town) -> None:
    await town.settle()
    method = Inviter.operations[operation].function.__name__
    arguments = {"group_id": "none", "hangout_id": "none", "user_id": "none"}
    allowed = {"admin"} if MATRIX.rows[operation]["admin"] != "403" else set[str]()
    assert await town.service.verdicts(method, CALLERS, **arguments) == only(*allowed)


async def test_a_withdrawn_guest_may_no_more(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    everybody = Guests(user_ids={"cleo"}, group_ids={group.group_id})
    await town.service.withdraw(hangout.hangout_id, everybody)
    found = await town.service.verdicts("hangout", CALLERS, hangout_id=hangout.hangout_id)
    assert found == only("owner")
