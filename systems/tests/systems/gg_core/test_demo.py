"""The demo's data obeys the rules of the service."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.systems.author import Author

from keyfold_systems.gg_core.demo import FAMOUS, POSTS, data, fill

from .conftest import World


async def test_it_is_what_users_could_have_made(world: World, author: Author) -> None:
    made = await fill(world.db)
    await world.settle()
    assert await world.drifts() == []
    items = author.items()
    kinds = {i["type"] for i in items}
    by = {kind: [i for i in items if i["type"] == kind] for kind in kinds}
    own = ("FeedItem", "FollowersCounter", "FollowingCounter", "ActivitiesCounter", "Unique")
    stored = [i for i in items if i["type"] not in own and not i["PK"].startswith("UNIQUE")]
    assert len(stored) == made
    born = {one["id"]: one["createdAt"] for one in by["User"]}
    founded = {one["groupId"]: one["createdAt"] for one in by["Group"]}
    actors = {**born, **founded}
    assert all(one["createdAt"] > actors[one["actorId"]] for one in by["Activity"])
    assert all(one["followerId"] != one["followeeId"] for one in by["Follow"])
    assert all(one["joinedAt"] >= founded[one["groupId"]] for one in by["GroupMember"])
    goals = {one["goalId"]: one for one in by["Goal"]}
    for task in by["Task"]:
        goal = goals[task["goalId"]]
        assert task["userId"] == goal["userId"]
        assert task["taskId"].startswith(f"{task['goalId']}.")
        assert task.get("completedAt", "9") > goal["createdAt"]
    assert len({one["previewText"] for one in by["Activity"]}) == len(POSTS) + len(founded)


async def test_only_the_famous_are_copied_and_a_feed_has_both(world: World, author: Author) -> None:
    await fill(world.db)
    await world.settle()
    copies = [i for i in author.items() if i["type"] == "FeedItem"]
    assert {i["actorId"] for i in copies} <= set(FAMOUS)
    page = await world.do("ada", "GET", "/users/ada/feed?limit=50")
    assert {one["promoted"] for one in page["items"]} == {True, False}


def test_it_is_the_same_every_time() -> None:
    now = datetime(2031, 5, 1, tzinfo=UTC)
    assert data(now) == data(now)
