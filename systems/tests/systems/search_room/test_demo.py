"""The demo's data obeys the rules of the service."""

from __future__ import annotations

from datetime import UTC, datetime

from keyfold_systems.search_room.demo import HOUSEHOLDS, data, fill

from .conftest import RoomAuthor, World


async def test_it_is_what_users_could_have_made(world: World, author: RoomAuthor) -> None:
    made = await fill(world.db)
    await world.settle()
    assert await world.drifts() == []
    items = [item for item in author.items() if item["entityType"] in KINDS]
    assert len(items) == made
    opened = {item["roomId"]: item["createdAt"] for item in items if item["entityType"] == "Room"}
    members = {(i["roomId"], i["userId"]) for i in items if i["entityType"] == "Member"}
    assert len(opened) == len(HOUSEHOLDS)
    now = datetime.now(UTC).isoformat()
    for item in items:
        room = item.get("roomId")
        for name in ("addedAt", "timestamp", "createdAt", "joinedAt"):
            if name in item and item["entityType"] != "Room":
                assert opened[room] <= item[name] < now
        seen = item.get("seenBy", [])
        assert all((room, who) in members for who in seen)
        if item["entityType"] == "Listing":
            assert (item["status"] == "UNSEEN") == (seen == [])
        for who in (item.get("senderId"), item["entityType"] == "UserCriteria" and item["userId"]):
            assert not who or (room, who) in members


KINDS = {
    *("Person", "Room", "Member", "Listing", "UserCriteria", "CombinedCriteria"),
    *("Activity", "Compatibility"),
}


def test_it_is_the_same_every_time() -> None:
    now = datetime(2031, 5, 1, tzinfo=UTC)
    assert data(now) == data(now)
