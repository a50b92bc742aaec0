"""Every mutation of Search Room, sent twice over HTTP."""

from __future__ import annotations

from keyfold_systems.search_room.service import SearchRoom
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import Step, check_repeats, reported

from .conftest import Home

ROOM = {"name": "First home", "searchType": "rent"}
FLAT = {"sourceBrand": "homegate", "externalId": "42", "title": "Loft"}
LISTING = "/rooms/{roomId}/listings/{listingId}"
STEPS = [
    Step("saveProfile", "sam", "PUT", "/users/sam", {"name": "Sam"}, {"name": "Samuel"}),
    Step("saveProfile", "paul", "PUT", "/users/paul", {"name": "Paul"}, {"name": "Paula"}),
    Step("createRoom", "mia", "POST", "/rooms", ROOM, {**ROOM, "name": "Last"}, keep="roomId"),
    Step("updateRoom", "mia", "PATCH", "/rooms/{roomId}", {"name": "R"}, {"name": "S"}),
    *(
        Step(
            "invite",
            "mia",
            "POST",
            "/rooms/{roomId}/invitations",
            {"userId": user},
            {"userId": "sam"},
        )
        for user in ("jonas", "ines", "paul")
    ),
    Step("join", "jonas", "POST", "/rooms/{roomId}/members", other="/rooms/none/members"),
    Step(
        "decline",
        "ines",
        "DELETE",
        "/users/ines/invitations/{roomId}",
        other="/users/ines/invitations/none",
    ),
    Step(
        "withdraw",
        "mia",
        "DELETE",
        "/rooms/{roomId}/invitations/paul",
        other="/rooms/{roomId}/invitations/sam",
    ),
    Step(
        "createLink",
        "mia",
        "POST",
        "/rooms/{roomId}/links",
        other="/rooms/none/links",
        keep="linkId",
    ),
    Step(
        "joinByLink",
        "sam",
        "POST",
        "/rooms/{roomId}/links/{linkId}/members",
        other="/rooms/{roomId}/links/none/members",
    ),
    Step(
        "revokeLink",
        "mia",
        "DELETE",
        "/rooms/{roomId}/links/{linkId}",
        other="/rooms/{roomId}/links/none",
    ),
    Step(
        "changeRole",
        "mia",
        "PUT",
        "/rooms/{roomId}/members/jonas/role",
        {"role": "owner"},
        {"role": "member"},
    ),
    Step(
        "addListing",
        "mia",
        "POST",
        "/rooms/{roomId}/listings",
        FLAT,
        {**FLAT, "externalId": "43"},
        keep="listingId",
    ),
    Step("updateListing", "mia", "PATCH", LISTING, {"title": "Big loft"}, {"title": "Attic"}),
    Step("markSeen", "jonas", "POST", f"{LISTING}/seen", other="/rooms/{roomId}/listings/x/seen"),
    Step("vote", "jonas", "PUT", f"{LISTING}/vote", {"vote": "like"}, {"vote": "dislike"}),
    *reported("jonas", "listing", "{roomId}/{listingId}"),
    Step("deleteListing", "mia", "DELETE", LISTING, other="/rooms/{roomId}/listings/x"),
    Step("updateRoom", "mia", "PATCH", "/rooms/{roomId}", {"hasCopilot": True}, {"name": "S"}),
    Step(
        "advise",
        "pilot:ai_copilot",
        "POST",
        "/rooms/{roomId}/copilot-messages",
        {"text": "Look"},
        {"text": "See"},
    ),
    Step("say", "mia", "POST", "/rooms/{roomId}/messages", {"text": "Hi"}, {"text": "Ho"}),
    Step(
        "saveCriteria",
        "mia",
        "POST",
        "/rooms/{roomId}/criteria",
        {"criteria": {"location": ["Bern", "Thun", "Biel"]}, "weights": {"location": 1}},
        {"criteria": {"location": ["Bern", "Thun"]}, "weights": {"location": 1}},
    ),
    Step(
        "saveCriteria",
        "jonas",
        "POST",
        "/rooms/{roomId}/criteria",
        {"criteria": {"location": ["Thun"]}},
        {"criteria": {"location": ["Bern"]}},
    ),
    Step(
        "combineCriteria",
        "mia",
        "POST",
        "/rooms/{roomId}/combined-criteria",
        {"mode": "all"},
        {"mode": "strict"},
    ),
    Step(
        "computeCompatibility",
        "mia",
        "POST",
        "/rooms/{roomId}/compatibility",
        other="/rooms/none/compatibility",
    ),
    Step(
        "readNotifications",
        "jonas",
        "POST",
        "/users/jonas/notifications/read",
        {"notificationIds": ["none"]},
        {"notificationIds": ["other"]},
    ),
    Step(
        "leave",
        "jonas",
        "DELETE",
        "/rooms/{roomId}/members/jonas",
        other="/rooms/none/members/jonas",
    ),
    Step("deletePerson", "sam", "DELETE", "/users/sam", other="/users/none"),
    Step("deletePersonalData", "ada", "DELETE", "/people/ada/data", other="/people/none/data"),
    Step("deleteRoom", "mia", "DELETE", "/rooms/{roomId}", other="/rooms/none"),
]


def test_every_mutation_is_here() -> None:
    mutations = {name for name, one in SearchRoom.operations.items() if one.kind == "mutation"}
    assert {step.operation for step in STEPS} == mutations


async def test_a_repeated_request_has_one_effect_and_other_input_is_refused(
    home: Home, client: Recorder
) -> None:
    async with served(home.service) as web:
        await check_repeats(web, client, STEPS)
