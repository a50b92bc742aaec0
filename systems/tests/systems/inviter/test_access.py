"""Who may do what in Inviter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from tests.systems.access import Matrix, Scene, fresh

from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Group, Hangout, User
from keyfold_systems.inviter.operations import membership_of
from keyfold_systems.inviter.service import Inviter
from keyfold_web import ANONYMOUS, Identity

from .conftest import SOON

ADA, BEN, CLEO = (Identity.of(one) for one in ("ada", "ben", "cleo"))
STRANGER, ROOT = Identity.of("dora"), Identity.of("root", "admin")
MATRIX = Matrix(
    """
    operation           anonymous  stranger  invited  member  host  admin
    saveUser            401        403       403      yes     403   403
    user                401        yes       yes      yes     yes   yes
    createGroup         401        yes       yes      yes     yes   404
    group               401        yes       yes      yes     yes   yes
    renameGroup         401        403       403      yes     yes   403
    joinGroup           401        yes       yes      409     409   404
    leaveGroup          401        403       403      yes     yes   403
    members             401        403       403      yes     yes   403
    groups              401        403       403      yes     403   403
    groupFeed           401        403       403      yes     yes   403
    groupUpcoming       401        403       403      yes     yes   403
    hangouts            401        403       403      yes     403   403
    createHangout       401        yes       yes      yes     yes   404
    createHangout/group 401        422       422      yes     yes   404
    getHangoutDetail    401        403       yes      yes     yes   403
    updateHangoutTitle  401        403       403      403     yes   403
    updateHangout       401        403       403      403     yes   403
    deleteHangout       401        403       403      403     yes   403
    guests              401        403       yes      yes     yes   403
    invite              401        403       403      403     yes   403
    respond             401        403       yes      yes     yes   403
    answers             401        403       yes      yes     yes   403
    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": STRANGER,
        "invited": CLEO,
        "member": BEN,
        "host": ADA,
        "admin": ROOT,
    },
    {
        "saveUser": {"name": "Benjamin"},
        "createGroup": {"name": "Walkers"},
        "renameGroup": {"name": "Joggers"},
        "createHangout": {"input": {"title": "Swim", "startTimestamp": "2100-08-10T10:00:00Z"}},
        "createHangout/group": {
            "input": {
                "title": "Swim",
                "startTimestamp": "2100-08-10T10:00:00Z",
                "associatedGroups": ["{groupId}"],
            }
        },
        "updateHangoutTitle": {"title": "Long run"},
        "updateHangout": {"input": {"location": "Mill bridge"}},
        "invite": {"input": {"invitedUsers": ["dora"]}},
        "respond": {"answer": "going"},
    },
)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    async with fresh(design, SOON - timedelta(days=1)) as db:
        people = [User(user_id=one, name=one.title()) for one in ("ada", "ben", "cleo", "dora")]
        group = Group(group_id="g", name="Runners")
        run = Hangout(
            hangout_id="h",
            host_id="ada",
            title="Run",
            start_timestamp=SOON,
            associated_groups=["g"],
            invited_users=["ada", "cleo"],
        )
        for one in (*people, group, *(membership_of(group, p) for p in people[:2]), run):
            await db.create(one)
        yield Scene(Inviter(db), {"userId": "ben", "groupId": "g", "hangoutId": "h"})


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(Inviter)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, scene)
