"""Profiles, follows and blocks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from keyfold_web import Conflict, Identity, Invalid, Missing, NotAllowed
from keyfold.errors import RequestReused, UniqueTaken
from keyfold_systems.gg_core.payloads import NewUser, UserChange
from tests.systems.conftest import served
from tests.systems.opening import LATER, ask

from .conftest import FIRST, MIA, OLGA, SAM, World

pytestmark = LATER


async def test_a_user_is_found_by_id_nickname_and_email_in_any_case(world: World) -> None:
    service = world.service
    assert (await service.user("olga", caller=OLGA)).nickname == "olga"
    assert (await service.user_by_nickname("OLGA")).id == "olga"
    assert (await service.user_by_email("Olga@X.org")).id == "olga"
    with pytest.raises(Missing):
        await service.user_by_nickname("nobody")


async def test_nicknames_and_emails_are_unique_under_concurrency_and_can_change(
    world: World,
) -> None:
    async def sign_up(number: int) -> bool:
        input = NewUser(nickname="Zoe", email=f"{number}@x.org", full_name="Zoe")
        try:
            await world.service.create_user(input, caller=Identity.of(f"z{number}"))
        except UniqueTaken:
            return False
        return True

    assert sum(await asyncio.gather(*(sign_up(number) for number in range(6)))) == 1
    await world.service.update_user("olga", UserChange(nickname="olli"))
    await world.service.update_user("mia", UserChange(nickname="OLGA"))
    assert (await world.service.user_by_nickname("olga")).id == "mia"


async def test_a_second_profile_is_refused(world: World) -> None:
    with pytest.raises(Conflict, match="profile already"):
        await world.register(OLGA)


async def test_a_follow_is_seen_from_both_sides_and_counted(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.follow_user("mia", caller=SAM)
    await world.settle()
    assert [f.followee_id for f in await world.service.following("olga", FIRST, caller=OLGA)] == [
        "mia"
    ]
    assert [f.follower_id for f in await world.service.followers("mia", FIRST, caller=OLGA)] == [
        "olga",
        "sam",
    ]
    assert (await world.service.counts("mia")).followers == 2
    await world.service.unfollow_user("mia", caller=OLGA)
    await world.settle()
    assert (await world.service.counts("mia")).followers == 1
    assert (await world.service.counts("olga")).following == 0


async def test_counters_never_go_below_zero(world: World) -> None:
    for _ in range(3):
        with pytest.raises(Missing):
            await world.service.unfollow_user("mia", caller=OLGA)
    await world.settle()
    assert (await world.service.counts("mia")).followers == 0


async def test_following_oneself_twice_or_nobody_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        await world.service.follow_user("olga", caller=OLGA)
    with pytest.raises(Missing):
        await world.service.follow_user("nobody", caller=OLGA)
    await world.service.follow_user("mia", caller=OLGA)
    with pytest.raises(Conflict, match="already"):
        await world.service.follow_user("mia", caller=OLGA)


async def test_a_block_ends_follows_and_forbids_new_ones_in_both_directions(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.follow_user("olga", caller=MIA)
    await world.post(MIA, "Secret")
    await world.service.block_user("olga", caller=MIA)
    assert await world.texts(OLGA) == []
    for who, whom in ((OLGA, "mia"), (MIA, "olga")):
        with pytest.raises(NotAllowed):
            await world.service.follow_user(whom, caller=who)
    await world.service.unblock_user("olga", caller=MIA)
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    assert (await world.service.counts("mia")).followers == 1
    assert await world.drift() == []


async def test_no_follow_slips_through_while_somebody_blocks(world: World) -> None:
    for number in range(8):
        fan = Identity.of(f"fan{number}")
        await world.register(fan)
        await asyncio.gather(
            world.service.follow_user("mia", caller=fan),
            world.service.block_user(fan.id, caller=MIA),
            return_exceptions=True,
        )
        assert fan.id not in {
            f.follower_id for f in await world.service.followers("mia", FIRST, caller=OLGA)
        }


async def test_a_repeated_request_has_one_effect_and_another_payload_is_refused(
    world: World,
) -> None:
    first = await ask(world.service, "followUser", OLGA, "r1", followee_id="mia")
    assert await ask(world.service, "followUser", OLGA, "r1", followee_id="mia") == first
    with pytest.raises(RequestReused):
        await ask(world.service, "followUser", OLGA, "r1", followee_id="sam")
    await world.settle()
    assert (await world.service.counts("olga")).following == 1


async def test_null_clears_what_is_optional_and_what_is_left_out_stays(world: World) -> None:
    full: dict[str, Any] = {"description": "Every morning", "tags": ["run"]}
    async with served(world.service) as web:
        olga = web["olga"]
        goal = (await olga.post("/goals", json={"title": "Run", **full})).json()["goalId"]
        group = (await olga.post("/groups", json={"name": "Runners", **full})).json()["groupId"]
        await olga.patch("/users/olga", json={"language": "de", "tags": ["run"]})
        for path, named, empty in (
            (f"/goals/{goal}", {"title": "Walk"}, {"description": "", "tags": []}),
            (f"/groups/{group}", {"name": "Walkers"}, {"description": "", "tags": []}),
            ("/users/olga", {"fullName": "Olga"}, {"language": "en", "tags": []}),
        ):
            kept = (await olga.patch(path, json=named)).json()
            assert kept["tags"] == ["run"]
            assert {name: kept[name] for name in empty} != empty
            cleared = (await olga.patch(path, json=dict.fromkeys(empty))).json()
            assert {name: cleared[name] for name in {**named, **empty}} == {**named, **empty}
            refused = await olga.patch(path, json=dict.fromkeys(named))
            assert refused.status_code == 422


async def test_what_happens_is_announced_once(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.unfollow_user("mia", caller=OLGA)
    await world.settle()
    await world.settle()
    names = await world.announced()
    assert names.count("UserCreated") == 3
    assert names.count("UserFollowed") == names.count("UserUnfollowed") == 1


async def test_blocking_oneself_or_nobody_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        await world.service.block_user("mia", caller=MIA)
    with pytest.raises(Missing):
        await world.service.block_user("root", caller=MIA)


async def test_a_profile_says_how_two_people_stand_to_each_other(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    seen = await world.service.user("mia", caller=OLGA)
    assert (seen.followed_by_me, seen.follows_me, seen.blocked_by_me) == (True, False, False)
    assert (seen.followers, seen.following) == (1, 0)
    assert (await world.service.user("olga", caller=MIA)).follows_me
    with pytest.raises(Missing):
        await world.service.user("nobody", caller=MIA)


async def test_lists_of_people_have_names_and_whom_one_follows_oneself(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.follow_user("mia", caller=SAM)
    await world.service.follow_user("sam", caller=OLGA)
    rows = await world.service.followers("mia", FIRST, caller=OLGA)
    assert [(row.person and row.person.full_name, row.followed_by_me) for row in rows] == [
        ("Olga", False),
        ("Sam", True),
    ]
    [row] = await world.service.following("sam", FIRST, caller=OLGA)
    assert (row.person and row.person.nickname, row.followed_by_me) == ("mia", True)
    await world.service.block_user("mia", caller=SAM)
    [blocked] = await world.service.blocks("sam", FIRST)
    assert blocked.person is not None
    assert blocked.person.full_name == "Mia"
    group = await world.found(OLGA)
    [member] = await world.service.group_members(group.group_id, FIRST)
    assert (member.role, member.person and member.person.full_name) == ("owner", "Olga")


async def test_a_field_that_is_left_out_stays_and_what_must_be_there_is_not_taken_away(
    world: World,
) -> None:
    changed = await world.service.update_user("olga", UserChange(language="de"))
    assert (changed.language, changed.full_name) == ("de", "Olga")
    with pytest.raises(ValidationError):
        UserChange.model_validate({"fullName": None})
