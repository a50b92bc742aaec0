"""Who may do what in Search Room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from keyfold_web import ANONYMOUS, Identity
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.payloads import RoomChange
from keyfold_systems.search_room.service import SearchRoom
from tests.systems.access import Matrix, Scene, fresh

from .conftest import INES, JONAS, MIA, NOW, Home

CALLERS = {
    "anonymous": ANONYMOUS,
    "stranger": Identity.of("sam"),
    "invited": INES,
    "member": JONAS,
    "owner": MIA,
    "copilot": Identity.of("pilot", "ai_copilot"),
    "admin": Identity.of("root", "admin"),
}
MATRIX = Matrix(
    """
    operation             anonymous  stranger  invited  member  owner  copilot  admin
    saveProfile           401        403       403      yes     403    403      403
    profile               401        403       403      yes     403    403      403
    personalData          401        403       403      yes     403    403      yes
    deletePersonalData    401        403       403      yes     403    403      yes
    deletePerson          401        403       403      yes     403    403      403
    createRoom            401        yes       yes      yes     yes    yes      yes
    room                  401        403       403      yes     yes    yes      403
    roomView              401        403       403      yes     yes    403      403
    updateRoom            401        403       403      403     yes    403      403
    deleteRoom            401        403       403      403     yes    403      403
    rooms                 401        403       403      yes     403    403      403
    members               401        403       403      yes     yes    yes      403
    invite                401        403       403      403     yes    403      403
    invitations           401        403       403      yes     yes    403      403
    withdraw              401        403       403      403     yes    403      403
    myInvitations         401        403       yes      403     403    403      403
    decline               401        403       yes      403     403    403      403
    join                  401        403       yes      409     409    403      403
    createLink            401        403       403      403     yes    403      403
    links                 401        403       403      403     yes    403      403
    link                  401        yes       yes      yes     yes    yes      yes
    revokeLink            401        403       403      403     yes    403      403
    joinByLink            401        yes       yes      409     409    yes      yes
    changeRole            401        403       403      403     yes    403      403
    leave                 401        403       403      yes     yes    403      403
    addListing            401        403       403      yes     yes    403      403
    listings              401        403       403      yes     yes    yes      403
    listingByExternalId   401        403       403      yes     yes    yes      403
    listing               401        403       403      yes     yes    yes      403
    updateListing         401        403       403      yes     yes    403      403
    markSeen              401        403       403      yes     yes    403      403
    vote                  401        403       403      yes     yes    403      403
    deleteListing         401        403       403      yes     yes    403      403
    saveCriteria          401        403       403      yes     yes    403      403
    wishes                401        403       403      yes     yes    yes      403
    criteria              401        403       403      yes     yes    yes      403
    criteriaHistory       401        403       403      yes     yes    403      403
    combineCriteria       401        403       403      yes     yes    403      403
    combined              401        403       403      yes     yes    yes      403
    computeCompatibility  401        403       403      yes     yes    403      403
    compatibility         401        403       403      yes     yes    yes      403
    compatibilityHistory  401        403       403      yes     yes    403      403
    say                   401        403       403      yes     yes    403      403
    advise                401        403       403      403     403    yes      403
    activities            401        403       403      yes     yes    yes      403
    notifications         401        403       403      yes     403    403      403
    unread                401        403       403      yes     403    403      403
    readNotifications     401        403       403      yes     403    403      403
    report                401        422       422      yes     422    422      422
    report/person         401        yes       yes      422     yes    yes      yes
    reports               401        403       403      403     403    403      yes
    decide                401        403       403      403     403    403      yes
    suspendUser           401        403       403      403     403    403      yes
    restoreUser           401        403       403      403     403    403      404
    suspended             401        403       403      yes     403    403      yes
    audit                 401        403       403      403     403    403      yes
    """,
    CALLERS,
    {
        "createRoom": {"input": {"name": "Another", "searchType": "buy"}},
        "saveProfile": {"name": "Jonas H."},
        "updateRoom": {"input": {"name": "Mine"}},
        "invite": {"userId": "sam"},
        "withdraw": {"userId": "ines"},
        "myInvitations": {"userId": "ines"},
        "decline": {"userId": "ines"},
        "changeRole": {"role": "owner"},
        "addListing": {"input": {"sourceBrand": "homegate", "title": "Loft"}},
        "updateListing": {"input": {"status": "REJECTED"}},
        "saveCriteria": {"input": {"criteria": {"location": ["Bern"]}}},
        "combineCriteria": {"mode": "mixed"},
        "say": {"text": "Hello"},
        "advise": {"text": "Look here"},
        "vote": {"vote": "like"},
        "readNotifications": {},
        "report": {"kind": "room", "subjectId": "{roomId}", "reason": "Spam"},
        "report/person": {"kind": "person", "subjectId": "jonas", "reason": "Spam"},
        "suspendUser": {"hours": 1, "reason": "Spam"},
        "restoreUser": {"reason": "Over"},
        "decide": {
            "kind": "listing",
            "subjectId": "{roomId}/{listingId}",
            "decision": "remove",
            "reason": "Spam",
        },
    },
)


@asynccontextmanager
async def looking() -> AsyncIterator[Scene]:
    """Mia's room with Jonas in it and Ines asked into it, with a listing, wishes and a score."""
    async with fresh(design, NOW) as db:
        home = Home(SearchRoom(db))
        room_id = (await home.open()).room_id
        for who in CALLERS.values():
            if who.id:
                await home.meet(who)
        await home.service.invite(room_id, INES.id, MIA)
        await home.service.update_room(room_id, RoomChange(has_copilot=True), MIA)
        link = await home.service.create_link(room_id, MIA)
        listing = await home.listing("x1")
        await home.wish(MIA, location=["Bern"])
        await home.wish(JONAS, location=["Bern"])
        await home.service.combine_criteria(room_id, "all", MIA)
        await home.service.compute_compatibility(room_id, MIA)
        there = {
            "roomId": room_id,
            "userId": "jonas",
            "listingId": listing.listing_id,
            "linkId": link.link_id,
            "sourceBrand": "homegate",
            "externalId": "x1",
        }
        yield Scene(home.service, there)


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(SearchRoom)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, looking)


ELSEWHERE = (
    *("join", "personalData", "deletePersonalData"),
    *("reports", "decide", "audit", "suspendUser", "restoreUser", "suspended"),
)
INSIDE = [
    name for name, row in MATRIX.rows.items() if "403" in row.values() and name not in ELSEWHERE
]


@pytest.mark.parametrize("operation", INSIDE)
async def test_a_room_that_is_not_there_lets_nobody_in(operation: str, home: Home) -> None:
    method = SearchRoom.operations[operation].function.__name__
    found = await home.service.verdicts(method, CALLERS, room_id="none", user_id="none")
    assert found == {who: 401 if who == "anonymous" else 403 for who in CALLERS}


async def test_who_left_or_was_demoted_may_no_more(home: Home) -> None:
    room_id = home.room.room_id
    await home.service.change_role(room_id, "jonas", Role.OWNER, MIA)
    await home.service.change_role(room_id, "mia", Role.MEMBER, MIA)
    found = await home.service.verdicts("update_room", CALLERS, room_id=room_id)
    assert (found["member"], found["owner"]) == (200, 403)
    await home.service.leave(room_id, "mia", MIA)
    found = await home.service.verdicts("say", CALLERS, room_id=room_id)
    assert found["owner"] == 403
