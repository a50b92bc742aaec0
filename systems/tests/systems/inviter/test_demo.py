"""The demo's data obeys the rules of the service."""

from __future__ import annotations

from datetime import UTC, datetime

from keyfold_systems.inviter.demo import PEOPLE, PLANS, data, fill

from .conftest import InviterAuthor, World


async def test_it_is_what_users_could_have_made(world: World, author: InviterAuthor) -> None:
    made = await fill(world.db)
    await world.settle()
    assert await world.drifts() == []
    items = author.items()
    by = {kind: [i for i in items if i["type"] == kind] for kind in {i["type"] for i in items}}
    pointers = len(by["HangoutPointer"]) + len(by["UserHangoutPointer"])
    assert len(items) == made + pointers
    member = {(one["groupId"], one["userId"]) for one in by["GroupMembership"]}
    hangouts = {one["hangoutId"]: one for one in by["Hangout"]}
    for one in hangouts.values():
        assert all((group, one["hostId"]) in member for group in one["associatedGroups"])
        assert one["hostId"] in one["invitedUsers"]
        assert one["endTimestamp"] > one["startTimestamp"]
    for one in by["Response"]:
        hangout = hangouts[one["hangoutId"]]
        if "guestId" in one:
            assert one["guestId"] == one["userId"]
            assert one["userId"] in hangout["invitedUsers"]
        else:
            assert (one["groupId"], one["userId"]) in member
        assert one["at"] > hangout["createdAt"]
    assert len(by["User"]) == len(PEOPLE)
    assert len(by["Group"]) == len(PLANS)
    assert sum(one["going"] for one in hangouts.values()) > 20


def test_it_is_the_same_every_time() -> None:
    now = datetime(2031, 5, 1, tzinfo=UTC)
    assert data(now) == data(now)
