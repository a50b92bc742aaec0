"""Who may do what in Inviter, for every operation."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold.serve import ANONYMOUS, Identity
from keyfold_systems.inviter.payloads import Guests
from keyfold_systems.inviter.service import Inviter

from .conftest import Town

CALLERS = {
    "anonymous": ANONYMOUS,
    "stranger": Identity.of("sam"),
    "invited": Identity.of("cleo"),
    "member": Identity.of("ben"),
    "owner": Identity.of("ada"),
}


def only(*who: str) -> dict[str, int]:
    return {one: 200 if one in who else 401 if one == "anonymous" else 403 for one in CALLERS}


ANYBODY = only("stranger", "invited", "member", "owner")
MEMBERS = only("member", "owner")
GUESTS = only("invited", "member", "owner")
OWNER = only("owner")
MATRIX: dict[str, tuple[dict[str, int], dict[str, Any]]] = {
    "save_user": (only("member"), {"user_id": "ben"}),
    "user": (ANYBODY, {"user_id": "ben"}),
    "delete_user": (only("member"), {"user_id": "ben"}),
    "create_group": (ANYBODY, {}),
    "group": (MEMBERS, {}),
    "rename_group": (OWNER, {}),
    "delete_group": (OWNER, {}),
    "join_group": (ANYBODY, {}),
    "leave_group": (only("member"), {"user_id": "ben"}),
    "members": (MEMBERS, {}),
    "groups": (only("member"), {"user_id": "ben"}),
    "group_feed": (MEMBERS, {}),
    "group_upcoming": (MEMBERS, {}),
    "my_hangouts": (only("invited"), {"user_id": "cleo"}),
    "create_hangout": (ANYBODY, {}),
    "hangout": (GUESTS, {}),
    "update_hangout": (OWNER, {}),
    "delete_hangout": (OWNER, {}),
    "invite": (OWNER, {}),
    "withdraw": (OWNER, {}),
    "respond": (GUESTS, {}),
    "responses": (GUESTS, {}),
}


def test_the_matrix_has_every_operation() -> None:
    named = {one.function.__name__ for one in Inviter.operations.values()}
    assert named == set(MATRIX)


@pytest.mark.parametrize("name", MATRIX)
async def test_who_may(name: str, town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    expected, more = MATRIX[name]
    arguments = {"group_id": group.group_id, "hangout_id": hangout.hangout_id, **more}
    assert await town.service.verdicts(name, CALLERS, **arguments) == expected


@pytest.mark.parametrize("name", [n for n, (who, more) in MATRIX.items() if who is not ANYBODY])
async def test_what_is_not_there_lets_nobody_in(name: str, town: Town) -> None:
    await town.settle()
    arguments = {"group_id": "none", "hangout_id": "none", "user_id": "none"}
    assert await town.service.verdicts(name, CALLERS, **arguments) == only()


async def test_a_withdrawn_guest_may_no_more(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    everybody = Guests(user_ids={"cleo"}, group_ids={group.group_id})
    await town.service.withdraw(hangout.hangout_id, everybody)
    found = await town.service.verdicts("hangout", CALLERS, hangout_id=hangout.hangout_id)
    assert found == only("owner")
