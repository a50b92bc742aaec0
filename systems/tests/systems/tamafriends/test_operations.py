"""Profiles, posts, follows and blocks: what works, and what is refused for which reason."""

from __future__ import annotations

import asyncio

import pytest

from keyfold_web import Conflict, Invalid, Missing, NotAllowed
from keyfold.errors import NotFound, RequestReused, VersionConflict
from keyfold_systems.tamafriends.entities import Block, Follow, UserProfile
from keyfold_systems.tamafriends.payloads import NewPost, ProfileChange
from tests.systems.opening import LATER, ask

from .conftest import LENA, OMAR, PAGE, STRANGER, YUKI, World

pytestmark = LATER


class TestProfiles:
    async def test_of_two_edits_of_one_version_the_second_is_refused(self, world: World) -> None:
        version = (await world.service.account("yuki")).version
        await world.service.edit_profile("yuki", ProfileChange(bio="One"), version)
        with pytest.raises(VersionConflict):
            await world.service.edit_profile("yuki", ProfileChange(bio="Two"), version)
        assert (await world.service.account("yuki")).bio == "One"

    async def test_others_see_no_email(self, world: World) -> None:
        shown = await world.service.user_by_handle("@Yuki", caller=OMAR)
        assert shown == await world.service.user("yuki", caller=OMAR)
        assert "email" not in shown.model_dump()

    async def test_a_deleted_account_takes_everything_along(self, world: World) -> None:
        post, others = await world.post(YUKI), await world.post(OMAR)
        await world.like(OMAR, post)
        await world.comment(OMAR, post)
        await world.like(YUKI, others)
        await world.comment(YUKI, others)
        await world.follow(YUKI, OMAR)
        await world.follow(LENA, YUKI)
        await world.service.block("yuki", "lena")
        await world.follow(OMAR, YUKI)
        await world.settle()
        assert await world.reactions(others) == (1, 1)
        await world.service.delete_account("yuki")
        await world.settle()
        assert await world.kinds() == {"USER_PROFILE": 2, "Unique": 6, "POST": 1}
        assert await world.reactions(others) == (0, 0)
        assert await world.counts(OMAR) == (0, 0)
        assert await world.drift() == []
        await world.join(YUKI)


class TestPosts:
    async def test_a_request_id_makes_one_post_and_one_comment(self, world: World) -> None:
        first = await ask(world.service, "createPost", YUKI, "r", input=NewPost(text="Look!"))
        assert (
            await ask(world.service, "createPost", YUKI, "r", input=NewPost(text="Look!")) == first
        )
        with pytest.raises(RequestReused):
            await ask(world.service, "createPost", YUKI, "r", input=NewPost(text="Another"))
        assert len(await world.service.posts("yuki", PAGE, caller=OMAR)) == 1
        for _ in range(2):
            await ask(world.service, "comment", OMAR, "c", post_id=first.post_id, text="Hi")
        assert len(await world.service.comments(first.post_id, PAGE, caller=YUKI)) == 1

    async def test_a_post_is_liked_once_by_each(self, world: World) -> None:
        post = await world.post()
        tries = (world.like(OMAR, post) for _ in range(5))
        results = await asyncio.gather(*tries, return_exceptions=True)
        assert sum(isinstance(one, Conflict) for one in results) == 4
        likers = await world.service.likers(post.post_id, PAGE, caller=YUKI)
        assert [one.user.user_id for one in likers] == ["omar"]

    async def test_ones_own_post_may_be_liked(self, world: World) -> None:
        post = await world.post(YUKI)
        await world.like(YUKI, post)
        await world.settle()
        assert await world.reactions(post) == (1, 0)

    async def test_what_is_not_there_is_missing(self, world: World) -> None:
        with pytest.raises(Missing):
            await world.service.like("none", caller=OMAR)
        with pytest.raises(Missing):
            await world.service.comment("none", "Hi", caller=OMAR)
        with pytest.raises(Missing):
            await world.service.delete_comment("none", "none", caller=OMAR)
        with pytest.raises(NotFound):
            await world.service.unlike((await world.post()).post_id, caller=OMAR)

    async def test_a_comment_is_deleted_by_its_author_or_the_posts(self, world: World) -> None:
        post = await world.post(YUKI)
        first, second = await world.comment(OMAR, post), await world.comment(OMAR, post)
        with pytest.raises(NotAllowed):
            await world.service.delete_comment(post.post_id, first.comment_id, caller=LENA)
        await world.service.delete_comment(post.post_id, first.comment_id, caller=OMAR)
        await world.service.delete_comment(post.post_id, second.comment_id, caller=YUKI)
        assert (await world.service.comments(post.post_id, PAGE, caller=OMAR)).items == []

    async def test_nobody_reacts_without_an_account(self, world: World) -> None:
        post = await world.post()
        for refused in (
            world.service.create_post(NewPost(text="Hi"), caller=STRANGER),
            world.service.like(post.post_id, caller=STRANGER),
            world.service.comment(post.post_id, "Hi", caller=STRANGER),
        ):
            with pytest.raises(NotFound):
                await refused


class TestFollows:
    async def test_nobody_follows_themselves(self, world: World) -> None:
        with pytest.raises(Invalid, match="cannot follow yourself"):
            await world.follow(YUKI, YUKI)

    async def test_nobody_follows_twice(self, world: World) -> None:
        await world.follow(OMAR, YUKI)
        with pytest.raises(Conflict, match="already"):
            await world.follow(OMAR, YUKI)
        await world.settle()
        assert await world.counts(YUKI) == (1, 0)

    async def test_nobody_follows_nobody(self, world: World) -> None:
        with pytest.raises(NotFound):
            await world.follow(OMAR, STRANGER)
        with pytest.raises(NotFound):
            await world.follow(STRANGER, OMAR)
        with pytest.raises(NotFound):
            await world.service.unfollow("omar", "yuki")


class TestBlocks:
    async def test_a_block_ends_follows_in_both_directions(self, world: World) -> None:
        await world.follow(OMAR, YUKI)
        await world.follow(YUKI, OMAR)
        await world.service.block("yuki", "omar")
        await world.settle()
        assert await world.counts(YUKI) == await world.counts(OMAR) == (0, 0)

    async def test_who_is_blocked_neither_follows_nor_reacts(self, world: World) -> None:
        post = await world.post(YUKI)
        await world.service.block("yuki", "omar")
        for refused in (
            world.follow(OMAR, YUKI),
            world.follow(YUKI, OMAR),
            world.like(OMAR, post),
            world.comment(OMAR, post),
        ):
            with pytest.raises(NotAllowed, match="blocked"):
                await refused
        await world.service.unblock("yuki", "omar")
        await world.follow(OMAR, YUKI)
        await world.like(OMAR, post)

    async def test_who_is_blocked_changes_no_comment_and_may_delete_it(self, world: World) -> None:
        post = await world.post(YUKI)
        said = await world.comment(OMAR, post)
        await world.service.block("yuki", "omar")
        with pytest.raises(NotAllowed, match="blocked"):
            await world.service.edit_comment(post.post_id, said.comment_id, "Evil", caller=OMAR)
        await world.service.delete_comment(post.post_id, said.comment_id, caller=OMAR)

    async def test_one_blocks_somebody_else_who_exists(self, world: World) -> None:
        with pytest.raises(Invalid, match="cannot block yourself"):
            await world.service.block("yuki", "yuki")
        with pytest.raises(NotFound):
            await world.service.block("yuki", "nobody")
        assert await world.db.find(Block.key(user_id="yuki", blocked_id="nobody")) is None

    async def test_a_follow_and_a_block_at_once_end_apart(self, world: World) -> None:
        for number in range(10):
            one = UserProfile.model_validate(
                {
                    "user_id": f"p{number}",
                    "email": f"p{number}@example.com",
                    "username": f"person{number}",
                    "handle": f"person{number}",
                    "display_name": "P",
                }
            )
            await world.db.create(one)
            await asyncio.gather(
                world.service.follow(one.user_id, "yuki"),
                world.service.block("yuki", one.user_id),
                return_exceptions=True,
            )
            edge = Follow.key(follower_id=one.user_id, followee_id="yuki")
            assert await world.db.find(Block.key(user_id="yuki", blocked_id=one.user_id))
            assert await world.db.find(edge) is None
