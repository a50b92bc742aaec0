"""What people hear of while they look, and relations that a question goes along."""

from __future__ import annotations

from tests.systems.conftest import served
from tests.systems.listener import heard, refusal, until

from .conftest import JONAS, MIA, Home

ROOM = "subscription ($id: String!) { roomChanged(roomId: $id) { changed id } }"
SAID = "subscription ($id: String!) { activityAdded(roomId: $id) { type text senderName } }"
MINE = "subscription ($id: String!) { myListsChanged(userId: $id) { changed } }"


async def test_members_hear_what_changes_in_their_room(home: Home) -> None:
    room_id = home.room.room_id
    async with (
        served(home.service) as web,
        heard(web, "jonas", ROOM, id=room_id) as room,
        heard(web, "jonas", SAID, id=room_id) as said,
        heard(web, "ines", MINE, id="ines") as hers,
    ):
        flat = await home.listing("7")
        await until(room, {"roomChanged": {"changed": "Listing", "id": flat.listing_id}})
        await home.service.say(room_id, "Look!", MIA)
        words = {"type": "ChatMessage", "text": "Look!", "senderName": "Mia"}
        await until(said, {"activityAdded": words})
        await home.service.invite(room_id, "ines", MIA)
        await until(hers, {"myListsChanged": {"changed": "UserInvitation"}})


async def test_strangers_hear_nothing(home: Home) -> None:
    room_id = home.room.room_id
    async with served(home.service) as web:
        for query, id in ((ROOM, room_id), (SAID, room_id), (MINE, "mia")):
            async with heard(web, "ines", query, id=id) as queue:
                assert await refusal(queue) == "NOT_ALLOWED"


async def test_a_list_goes_on_to_rooms_and_listings_in_one_question(home: Home) -> None:
    await home.listing("7")
    await home.service.say(home.room.room_id, "Look!", JONAS)
    asked = """query ($user: String!, $room: String!) {
      rooms(userId: $user) { nodes { roomName memberCount listingCount room { searchType } } }
      activities(roomId: $room) { nodes { type senderName listing { title } } }
    }"""
    async with served(home.service) as web:
        body = {"query": asked, "variables": {"user": "jonas", "room": home.room.room_id}}
        answer = (await web["jonas"].post("/graphql", json=body)).json()
    (entry,) = answer["data"]["rooms"]["nodes"]
    assert entry == {
        "roomName": "Ours",
        "memberCount": 2,
        "listingCount": 1,
        "room": {"searchType": "rent"},
    }
    pinned = {"type": "ListingPinned", "senderName": "Mia", "listing": {"title": "Flat"}}
    said = {"type": "ChatMessage", "senderName": "Jonas", "listing": None}
    assert {str(pinned), str(said)} <= set(map(str, answer["data"]["activities"]["nodes"]))
