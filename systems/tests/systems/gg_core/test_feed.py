"""The hybrid feed: pulled by default, copied for who is promoted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from tests.systems.author import Author

from keyfold import Entity
from keyfold_systems.gg_core import entities
from keyfold_systems.gg_core.entities import home

from .conftest import World


async def copies(author: Author) -> list[str]:
    return [i["activityId"] for i in author.items() if i["type"] == "FeedItem"]


async def test_nobody_is_promoted_by_default_and_nothing_is_copied(
    world: World, author: Author
) -> None:
    await world.join("ada", "ben")
    await world.do("ada", "POST", "/following/ben")
    await world.post("ben", "One")
    await world.settle()
    assert await copies(author) == []
    assert await world.feed("ada") == ["One"]


async def test_what_was_posted_before_and_after_the_flag_is_shown_once(
    world: World, author: Author
) -> None:
    await world.join("ada", "ben")
    await world.do("ada", "POST", "/following/ben")
    await world.post("ben", "Before")
    await asyncio.sleep(0.002)  # times are stored in milliseconds
    await world.do("root", "PUT", "/promotions/ben", {"fanoutEnabled": True})
    await world.post("ben", "After")
    await world.settle()
    assert len(await copies(author)) == 1
    assert await world.feed("ada") == ["After", "Before"]
    await world.do("root", "PUT", "/promotions/ben", {"fanoutEnabled": False})
    await world.post("ben", "Demoted")
    await world.settle()
    assert len(await copies(author)) == 1
    assert await world.feed("ada") == ["Demoted", "After", "Before"]


async def test_what_an_unfollowed_user_did_leaves_at_once(world: World) -> None:
    await world.join("ada", "ben")
    await world.do("root", "PUT", "/promotions/ben", {"fanoutEnabled": True})
    await world.do("ada", "POST", "/following/ben")
    await world.post("ben", "Copied")
    await world.settle()
    await world.do("ada", "DELETE", "/following/ben")
    assert await world.feed("ada") == []


async def test_what_a_group_does_is_shown_to_its_members(world: World) -> None:
    await world.join("ada", "ben")
    group = (await world.do("ada", "POST", "/groups", {"name": "Runners"}))["groupId"]
    await world.do("ben", "POST", f"/groups/{group}/members")
    await world.post("ada", "Sunday at eight", actorId=group)
    [entry] = (await world.do("ben", "GET", "/users/ben/feed"))["items"]
    assert (entry["previewText"], entry["actorName"]) == ("Sunday at eight", "Runners")
    refused = await world.call("ben", "POST", "/activities", {"previewText": "x", "actorId": group})
    assert refused.status_code == 403
    await world.do("ben", "DELETE", f"/groups/{group}/members/me")
    assert await world.feed("ben") == []
    assert (await world.call("ben", "GET", f"/users/{group}/activities")).status_code == 403


@contextmanager
def reached_at(holder: type[Entity], least: int) -> Iterator[None]:
    """A threshold that a test can reach."""
    assert home.push is not None
    [threshold] = [one for one in home.push.thresholds if one.entity is holder]
    declared = threshold.least
    object.__setattr__(threshold, "least", least)
    try:
        yield
    finally:
        object.__setattr__(threshold, "least", declared)


async def test_many_followers_promote_and_an_operator_overrules_it(world: World) -> None:
    fans = [f"fan{number}" for number in range(3)]
    await world.join("ada", *fans)
    with reached_at(entities.FollowersCounter, 3):
        for one in fans:
            await world.do(one, "POST", "/following/ada")
        await world.settle()
        flag = await world.do("root", "GET", "/promotions/ada")
        assert (flag["fanoutEnabled"], flag["reason"]) == (True, "followers")
        await world.do("root", "PUT", "/promotions/ada", {"fanoutEnabled": False})
        await world.do(fans[0], "DELETE", "/following/ada")
        await world.do(fans[0], "POST", "/following/ada")
        await world.settle()
        assert not (await world.do("root", "GET", "/promotions/ada"))["fanoutEnabled"]


async def test_volume_promotes_too(world: World, author: Author) -> None:
    await world.join("ada", "ben")
    await world.do("ben", "POST", "/following/ada")
    with reached_at(entities.ActivitiesCounter, 3):
        for number in range(3):
            await world.post("ada", f"{number}")
        await world.settle()
        flag = await world.do("root", "GET", "/promotions/ada")
        assert (flag["fanoutEnabled"], flag["reason"]) == (True, "volume")
        assert flag["thresholds"] == {"volume": entities.MANY_ACTIVITIES}
        await world.post("ada", "Copied")
        await world.settle()
    assert len(await copies(author)) == 1
    assert await world.feed("ben") == ["Copied", "2", "1", "0"]


async def test_one_cursor_pages_through_pulled_and_copied_alike(world: World) -> None:
    await world.join("ada", "ben", "cyd")
    await world.do("root", "PUT", "/promotions/ben", {"fanoutEnabled": True})
    for who in ("ben", "cyd"):
        await world.do("ada", "POST", f"/following/{who}")
    wanted = [f"{n}" for n in range(7)]
    for number, text in enumerate(wanted):
        await world.post(("ben", "cyd")[number % 2], text)
    await world.settle()
    found, cursor = list[str](), ""
    for _ in range(9):
        page = await world.do("ada", "GET", f"/users/ada/feed?limit=2{cursor}")
        found += [one["previewText"] for one in page["items"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert found == wanted[::-1]
