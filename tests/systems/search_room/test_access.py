"""Who may do what in Search Room, for every operation."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold.serve import ANONYMOUS, Identity
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.service import SearchRoom

from .conftest import JONAS, MIA, Home

CALLERS = {
    "anonymous": ANONYMOUS,
    "stranger": Identity.of("sam"),
    "member": JONAS,
    "owner": MIA,
}
ANYBODY = {"anonymous": 401, "stranger": 200, "member": 200, "owner": 200}
MEMBERS = {"anonymous": 401, "stranger": 403, "member": 200, "owner": 200}
OWNERS = {"anonymous": 401, "stranger": 403, "member": 403, "owner": 200}
OTHERS = {"anonymous": 401, "stranger": 403, "member": 403, "owner": 403}

MATRIX: dict[str, tuple[dict[str, int], dict[str, Any]]] = {
    "create_room": (ANYBODY, {}),
    "room": (MEMBERS, {}),
    "room_view": (MEMBERS, {}),
    "rename_room": (OWNERS, {}),
    "delete_room": (OWNERS, {}),
    "rooms": (OTHERS, {"user_id": "ines"}),
    "members": (MEMBERS, {}),
    "invite": (OWNERS, {}),
    "invitations": (MEMBERS, {}),
    "withdraw": (OWNERS, {"user_id": "ines"}),
    "my_invitations": (OTHERS, {"user_id": "ines"}),
    "decline": (OTHERS, {"user_id": "ines"}),
    "join": (ANYBODY, {}),
    "change_role": (OWNERS, {"user_id": "jonas"}),
    "leave": (OWNERS, {"user_id": "ines"}),
    "add_listing": (MEMBERS, {}),
    "listings": (MEMBERS, {}),
    "listing_by_external_id": (MEMBERS, {}),
    "listing": (MEMBERS, {}),
    "update_listing": (MEMBERS, {}),
    "mark_seen": (MEMBERS, {}),
    "delete_listing": (MEMBERS, {}),
    "save_criteria": (MEMBERS, {}),
    "criteria": (MEMBERS, {}),
    "criteria_history": (MEMBERS, {}),
    "combine_criteria": (MEMBERS, {}),
    "combined": (MEMBERS, {}),
    "compute_compatibility": (MEMBERS, {}),
    "compatibility": (MEMBERS, {}),
    "compatibility_history": (MEMBERS, {}),
    "say": (MEMBERS, {}),
    "activities": (MEMBERS, {}),
}


def test_the_matrix_has_every_operation() -> None:
    named = {one.function.__name__ for one in SearchRoom.operations.values()}
    assert named == set(MATRIX)


@pytest.mark.parametrize("name", MATRIX)
async def test_who_may(name: str, home: Home) -> None:
    expected, more = MATRIX[name]
    arguments = {"room_id": home.room.room_id, **more}
    assert await home.service.verdicts(name, CALLERS, **arguments) == expected


@pytest.mark.parametrize("name", [name for name, (who, _) in MATRIX.items() if who is MEMBERS])
async def test_a_room_that_is_not_there_lets_nobody_in(name: str, home: Home) -> None:
    found = await home.service.verdicts(name, CALLERS, room_id="none")
    assert found == OTHERS


async def test_everybody_may_leave_and_see_their_own_rooms(home: Home) -> None:
    me = {"member": JONAS}
    leaving = {"room_id": home.room.room_id, "user_id": "jonas"}
    assert await home.service.verdicts("leave", me, **leaving) == {"member": 200}
    assert await home.service.verdicts("rooms", me, user_id="jonas") == {"member": 200}


async def test_who_left_or_was_demoted_may_no_more(home: Home) -> None:
    room_id = home.room.room_id
    await home.service.change_role(room_id, "jonas", Role.OWNER)
    await home.service.change_role(room_id, "mia", Role.MEMBER)
    found = await home.service.verdicts("rename_room", CALLERS, room_id=room_id)
    assert (found["member"], found["owner"]) == (200, 403)
    await home.service.leave(room_id, "mia")
    found = await home.service.verdicts("say", CALLERS, room_id=room_id)
    assert found["owner"] == 403
