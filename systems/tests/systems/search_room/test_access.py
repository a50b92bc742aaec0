"""Who may do what in Search Room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from tests.systems.access import Matrix, Scene, fresh

from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    CombinedCriteria,
    Listing,
    Member,
    Person,
    Role,
    Room,
    UserCriteria,
)
from keyfold_systems.search_room.service import SearchRoom
from keyfold_web import ANONYMOUS, Identity

START = datetime(2031, 5, 1, tzinfo=UTC)
CALLERS = {
    "anonymous": ANONYMOUS,
    "stranger": Identity.of("sam"),
    "member": Identity.of("jonas"),
    "owner": Identity.of("mia"),
    "copilot": Identity.of("pilot", "ai_copilot"),
    "admin": Identity.of("root", "admin"),
}
MATRIX = Matrix(
    """
    operation             anonymous  stranger  member  owner  copilot  admin
    saveName              401        403       yes     403    403      403
    createRoom            401        yes       yes     yes    yes      yes
    room                  401        403       yes     yes    403      403
    rooms                 401        403       yes     403    403      403
    updateRoom            401        403       403     yes    403      403
    deleteRoom            401        403       403     yes    403      403
    members               401        403       yes     yes    403      403
    addMember             401        403       403     yes    403      403
    leave                 401        403       yes     yes    403      403
    addListing            401        403       yes     yes    403      403
    listings              401        403       yes     yes    403      403
    listingByExternalId   401        403       yes     yes    403      403
    listing               401        403       yes     yes    403      403
    updateListing         401        403       yes     yes    403      403
    markSeen              401        403       yes     yes    403      403
    deleteListing         401        403       yes     yes    403      403
    saveCriteria          401        403       yes     yes    403      403
    wishes                401        403       yes     yes    403      403
    criteriaHistory       401        403       yes     yes    403      403
    combineCriteria       401        403       yes     yes    403      403
    computeCompatibility  401        403       yes     yes    403      403
    compatibility         401        403       yes     yes    403      403
    say                   401        403       yes     yes    403      403
    activities            401        403       yes     yes    403      403
    """,
    CALLERS,
    {
        "saveName": {"name": "Jonas H."},
        "createRoom": {"input": {"name": "Another", "searchType": "buy"}},
        "updateRoom": {"input": {"name": "Mine"}},
        "addMember": {"userId": "sam"},
        "addListing": {"input": {"sourceBrand": "homegate", "title": "Loft"}},
        "updateListing": {"input": {"status": "REJECTED"}},
        "saveCriteria": {"input": {"criteria": {"location": ["Bern"]}}},
        "combineCriteria": {"combineMode": "mixed"},
        "say": {"text": "Hello"},
    },
)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    async with fresh(design, START) as db:
        price = {"price": {"max": 2000}}
        made = [
            *(Person(user_id=one, name=one.title()) for one in ("mia", "jonas", "sam")),
            Room(room_id="r", name="Ours", created_by_user_id="mia", search_type="rent"),
            Member(room_id="r", user_id="mia", role=Role.OWNER),
            Member(room_id="r", user_id="jonas"),
            Listing(
                listing_id="l",
                room_id="r",
                source_brand="homegate",
                external_id="1",
                title="Flat",
            ),
            *(
                UserCriteria.model_validate(
                    {"room_id": "r", "user_id": one, "timestamp": START, "criteria": price}
                )
                for one in ("mia", "jonas")
            ),
            CombinedCriteria(room_id="r", timestamp=START, criteria={}, combine_mode="all"),
        ]
        for one in made:
            await db.create(one)
        there = {"roomId": "r", "listingId": "l", "userId": "jonas"}
        there |= {"sourceBrand": "homegate", "externalId": "1"}
        yield Scene(SearchRoom(db), there)


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(SearchRoom)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, scene)


INSIDE = [name for name in MATRIX.rows if name not in ("saveName", "createRoom", "rooms")]


@pytest.mark.parametrize("operation", INSIDE)
async def test_a_room_that_is_not_there_lets_nobody_in(operation: str) -> None:
    async with scene() as made:
        method = SearchRoom.operations[operation].function.__name__
        found = await made.service.verdicts(method, CALLERS, room_id="none", user_id="none")
    assert found == {who: 401 if who == "anonymous" else 403 for who in CALLERS}
