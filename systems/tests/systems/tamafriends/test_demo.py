"""The demo's data obeys the rules of the service."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.systems.author import Author

from keyfold_systems.tamafriends.demo import OWNERS, TEXTS, data, fill

from .conftest import World


async def test_it_is_what_users_could_have_made(world: World, author: Author) -> None:
    made = await fill(world.db)
    await world.settle()
    assert await world.drifts() == []
    items = [item for item in author.items() if item["type"].isupper()]
    assert len(items) == made
    by = {kind: [i for i in items if i["type"] == kind] for kind in {i["type"] for i in items}}
    born = {one["userId"]: one["createdAt"] for one in by["USER_PROFILE"]}
    posted = {one["postId"]: one for one in by["POST"]}
    assert all(one["PK"] != one["GSI1PK"] for one in by["FOLLOW"])
    assert all(one["createdAt"] > born[one["userId"]] for one in by["POST"])
    reactions = by["COMMENT"] + by["LIKE"]
    assert all(one["createdAt"] > posted[one["postId"]]["createdAt"] for one in reactions)
    assert all(one["userId"] != one["postUserId"] for one in by["LIKE"])
    assert all(one["followerCount"] > 0 for one in by["USER_PROFILE"])
    assert len({one["text"] for one in by["POST"]}) == len(TEXTS)
    assert len(born) == len(OWNERS)


def test_it_is_the_same_every_time() -> None:
    now = datetime(2031, 5, 1, tzinfo=UTC)
    assert data(now) == data(now)
