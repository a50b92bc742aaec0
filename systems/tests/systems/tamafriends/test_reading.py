"""What lists carry, whom blocks keep away, and what is found while an index is behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold_web import Conflict, Identity, Invalid, Missing, NotAllowed
from keyfold_web.media import LocalMedia
from keyfold.errors import VersionConflict
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Post, UserProfile
from keyfold_systems.tamafriends.payloads import NewImage, NewPost, ProfileChange
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.conftest import served, upload
from tests.systems.opening import LATER, ask

from .conftest import LENA, OMAR, PAGE, YUKI, World

pytestmark = LATER


class TestLists:
    async def test_a_post_has_its_author_and_says_whether_you_like_it(self, world: World) -> None:
        post = await world.post(YUKI)
        await world.like(OMAR, post)
        await world.follow(OMAR, YUKI)
        for who, liked, followed in ((OMAR, True, True), (LENA, False, False)):
            shown = await world.service.post(post.post_id, caller=who)
            assert (shown.liked, shown.author.followed) == (liked, followed)
            assert (shown.author.handle, shown.author.display_name) == ("yuki", "Yuki")
        [listed] = await world.service.posts("yuki", PAGE, caller=OMAR)
        assert listed == await world.service.post(post.post_id, caller=OMAR)

    async def test_liked_posts_come_with_their_posts(self, world: World) -> None:
        posts = [await world.post(YUKI, f"Post {number}") for number in range(3)]
        for post in posts:
            await world.like(OMAR, post)
        await world.service.delete_post(posts[1].post_id)
        liked = await world.service.likes("omar", PAGE, caller=OMAR)
        assert [one.post.text for one in liked] == ["Post 2", "Post 0"]
        assert {(one.post.author.handle, one.post.liked) for one in liked} == {("yuki", True)}

    async def test_likers_and_followers_come_with_their_profiles(self, world: World) -> None:
        post = await world.post(YUKI)
        await world.like(OMAR, post)
        await world.follow(OMAR, YUKI)
        await world.follow(LENA, OMAR)
        await world.service.edit_profile("omar", ProfileChange(display_name="Omar H."))
        service = world.service
        for listed in (
            await service.likers(post.post_id, PAGE, caller=LENA),
            await service.followers("yuki", PAGE, caller=LENA),
            await service.following("lena", PAGE, caller=LENA),
        ):
            [one] = listed
            assert (one.user.user_id, one.user.display_name) == ("omar", "Omar H.")
            assert one.user.followed

    async def test_comments_come_with_their_authors(self, world: World) -> None:
        post = await world.post(YUKI)
        await world.comment(OMAR, post)
        for listed in (
            await world.service.comments(post.post_id, PAGE, caller=LENA),
            await world.service.comments_of_user("omar", PAGE, caller=LENA),
        ):
            assert [one.author.display_name for one in listed] == ["Omar"]

    async def test_a_profile_says_who_follows_whom(self, world: World) -> None:
        await world.follow(OMAR, YUKI)
        shown = await world.service.user("yuki", caller=OMAR)
        assert (shown.followed, shown.follows_you) == (True, False)
        shown = await world.service.user("omar", caller=YUKI)
        assert (shown.followed, shown.follows_you) == (False, True)

    @pytest.mark.parametrize("people", [1, 20])
    async def test_a_page_takes_as_many_requests_for_one_as_for_twenty(
        self, local: World, people: int
    ) -> None:
        others = [Identity.of(f"fan{number}") for number in range(people)]
        await local.join(*others)
        post = await local.post(YUKI)
        for one in others:
            await local.like(one, post)
            await local.comment(one, post)
        for asked, most in (
            (local.service.likers(post.post_id, PAGE, caller=OMAR), 4),
            (local.service.comments(post.post_id, PAGE, caller=OMAR), 4),
        ):
            with local.db.work("page") as work:
                assert len(await asked) == people
            assert work.total.requests == most


class TestEditingComments:
    async def test_an_author_changes_what_they_said(self, world: World) -> None:
        post = await world.post()
        said = await world.comment(OMAR, post, "Nise.")
        edited = await world.service.edit_comment(
            post.post_id, said.comment_id, "Nice.", caller=OMAR
        )
        assert (edited.text, edited.version) == ("Nice.", said.version + 1)
        assert edited.updated_at is not None
        [shown] = await world.service.comments(post.post_id, PAGE, caller=YUKI)
        assert shown == edited

    async def test_others_do_not(self, world: World) -> None:
        post = await world.post(YUKI)
        said = await world.comment(OMAR, post)
        for who in (YUKI, LENA):
            with pytest.raises(NotAllowed):
                await world.service.edit_comment(post.post_id, said.comment_id, "No", caller=who)

    async def test_of_two_edits_of_one_version_the_second_is_refused(self, world: World) -> None:
        post = await world.post()
        said = await world.comment(OMAR, post)
        edit = world.service.edit_comment
        await edit(post.post_id, said.comment_id, "One", OMAR, said.version)
        with pytest.raises(VersionConflict):
            await edit(post.post_id, said.comment_id, "Two", OMAR, said.version)

    async def test_a_comment_is_found_under_its_own_post_only(self, world: World) -> None:
        post, other = await world.post(), await world.post()
        said = await world.comment(OMAR, post)
        with pytest.raises(Missing):
            await world.service.edit_comment(other.post_id, said.comment_id, "No", caller=OMAR)


class TestBlocks:
    async def test_blocks_are_listed_with_profiles_for_who_made_them(self, world: World) -> None:
        await world.service.block("yuki", "omar")
        [listed] = await world.service.blocks("yuki", PAGE)
        assert (listed.user.user_id, listed.user.display_name) == ("omar", "Omar")
        assert (await world.service.blocks("omar", PAGE)).items == []
        await world.service.unblock("yuki", "omar")
        assert (await world.service.blocks("yuki", PAGE)).items == []

    @pytest.mark.parametrize(("blocker", "blocked"), [(YUKI, OMAR), (OMAR, YUKI)])
    async def test_what_is_of_one_is_refused_to_the_other(
        self, world: World, blocker: Identity, blocked: Identity
    ) -> None:
        post = await world.post(YUKI)
        said = await world.comment(YUKI, post)
        await world.service.block(blocker.id, blocked.id)
        service = world.service
        for refused in (
            service.user("yuki", caller=OMAR),
            service.user_by_handle("yuki", caller=OMAR),
            service.post(post.post_id, caller=OMAR),
            service.posts("yuki", PAGE, caller=OMAR),
            service.comments(post.post_id, PAGE, caller=OMAR),
            service.likers(post.post_id, PAGE, caller=OMAR),
            service.comment_by_id(said.comment_id, caller=OMAR),
            service.comments_of_user("yuki", PAGE, caller=OMAR),
            service.followers("yuki", PAGE, caller=OMAR),
            service.following("yuki", PAGE, caller=OMAR),
        ):
            with pytest.raises(NotAllowed) as told:
                await refused
            assert told.value.code == "BLOCKED"
        assert (await service.post(post.post_id, caller=LENA)).text == "Look!"

    @pytest.mark.parametrize(("blocker", "blocked"), [(YUKI, OMAR), (OMAR, YUKI)])
    async def test_what_others_say_under_a_hidden_post_is_hidden_too(
        self, world: World, blocker: Identity, blocked: Identity
    ) -> None:
        hidden, seen = await world.post(YUKI), await world.post(LENA)
        said = [await world.comment(LENA, post) for post in (hidden, seen)]
        await world.service.block(blocker.id, blocked.id)
        with pytest.raises(NotAllowed) as told:
            await world.service.comment_by_id(said[0].comment_id, caller=OMAR)
        assert told.value.code == "BLOCKED"
        listed = await world.service.comments_of_user("lena", PAGE, caller=OMAR)
        assert [one.comment_id for one in listed] == [said[1].comment_id]
        assert len(await world.service.comments_of_user("lena", PAGE, caller=LENA)) == 2

    @pytest.mark.parametrize(("blocker", "blocked"), [(YUKI, OMAR), (OMAR, YUKI)])
    async def test_lists_leave_the_other_out(
        self, world: World, blocker: Identity, blocked: Identity
    ) -> None:
        post, liked = await world.post(LENA), await world.post(YUKI)
        for who in (YUKI, OMAR):
            await world.like(who, post)
            await world.comment(who, post)
            await world.follow(who, LENA)
        await world.follow(LENA, YUKI)
        await world.like(OMAR, liked)
        await world.comment(OMAR, liked)
        await world.follow(OMAR, YUKI)
        await world.settle()
        await world.service.block(blocker.id, blocked.id)
        service = world.service
        assert len(await service.likers(post.post_id, PAGE, caller=LENA)) == 2
        likers = await service.likers(post.post_id, PAGE, caller=OMAR)
        comments = await service.comments(post.post_id, PAGE, caller=OMAR)
        followers = await service.followers("lena", PAGE, caller=OMAR)
        assert [one.user.user_id for one in likers] == ["omar"]
        assert [one.user_id for one in comments] == ["omar"]
        assert [one.user.user_id for one in followers] == ["omar"]
        assert (await service.following("lena", PAGE, caller=OMAR)).items == []
        mine = await service.likes("omar", PAGE, caller=OMAR)
        assert [one.post.user_id for one in mine] == ["lena"]
        assert {one.user_id for one in await service.home("omar", PAGE, caller=OMAR)} == {"lena"}
        notices = await service.notifications("yuki", PAGE)
        assert {one.actor.user_id for one in notices if one.actor} == {"lena"}


@pytest.mark.sandbox(index_lag=60)
class TestWhileIndexesAreBehind:
    """Nothing that was written is in an index yet."""

    @pytest.fixture
    async def world(self, sandbox: Sandbox) -> World:
        db = await sandbox.open_async(design)
        made = World(TamaFriends(db), db, sandbox)
        await made.join(YUKI, OMAR, LENA)
        return made

    async def test_an_author_reads_changes_and_deletes_their_new_post(self, world: World) -> None:
        made = await ask(world.service, "createPost", YUKI, input=NewPost(text="Look!"))
        assert await ask(world.service, "post", YUKI, post_id=made.post_id) == made
        await ask(world.service, "editPost", YUKI, post_id=made.post_id, text="See!")
        assert (await ask(world.service, "post", YUKI, post_id=made.post_id)).text == "See!"
        with pytest.raises(NotAllowed):
            await ask(world.service, "deletePost", OMAR, post_id=made.post_id)
        await ask(world.service, "deletePost", YUKI, post_id=made.post_id)
        with pytest.raises(Missing):
            await ask(world.service, "post", YUKI, post_id=made.post_id)

    async def test_a_follower_who_sees_a_new_post_can_answer_it(self, world: World) -> None:
        await world.follow(OMAR, YUKI)
        await world.post(YUKI)
        [seen] = await world.service.home("omar", PAGE, caller=OMAR)
        await world.service.like(seen.post_id, caller=OMAR)
        said = await world.service.comment(seen.post_id, "Nise.", caller=OMAR)
        await world.service.edit_comment(seen.post_id, said.comment_id, "Nice.", caller=OMAR)
        [shown] = await world.service.comments(seen.post_id, PAGE, caller=YUKI)
        assert shown.text == "Nice."
        await world.service.delete_comment(seen.post_id, said.comment_id, caller=OMAR)
        await world.service.unlike(seen.post_id, caller=OMAR)


async def test_posts_and_comments_with_older_ids_are_found_by_the_index(world: World) -> None:
    at = world.db.context.now()
    old = await world.db.create(Post(user_id="yuki", post_id="post7", text="Old", created_at=at))
    await world.like(OMAR, old)
    about = {"post_user_id": "yuki", "post_created_at": at, "created_at": at}
    said = Comment.model_validate(
        {"post_id": "post7", "comment_id": "c7", "user_id": "omar", "user_handle": "omar"}
        | {"text": "Hm", **about}
    )
    await world.db.create(said)
    await world.service.edit_comment("post7", "c7", "Hm!", caller=OMAR)
    assert (await world.service.post("post7", caller=OMAR)).liked


class TestImages:
    @pytest.fixture
    def media(self, world: World, tmp_path: Path) -> LocalMedia:
        world.service.media = LocalMedia(tmp_path, clock=world.sandbox.clock)
        return world.service.media

    async def test_a_picture_is_kept_by_its_key_and_linked_when_it_is_read(
        self, world: World, media: LocalMedia
    ) -> None:
        upload = await world.service.upload_image("image/png", caller=YUKI)
        assert upload.key.startswith("users/yuki/")
        new = NewPost(images=[NewImage(key=upload.key, alt="A hen")])
        made = await world.service.create_post(new, caller=YUKI)
        [image] = made.images
        assert (image.key, image.alt) == (upload.key, "A hen")
        assert image.url is not None
        assert "signature=" in image.url
        stored = [item for item in await world.items() if "images" in item]
        assert "signature" not in str(stored)
        world.sandbox.clock.advance(3600)
        [later] = (await world.service.post(made.post_id, caller=OMAR)).images
        assert later.url != image.url

    async def test_a_profile_has_a_picture_that_null_takes_away(
        self, world: World, media: LocalMedia
    ) -> None:
        picture = NewImage(key="users/yuki/me")
        await world.service.edit_profile("yuki", ProfileChange(picture=picture))
        post = await world.post(YUKI)
        author = (await world.service.post(post.post_id, caller=OMAR)).author
        assert author.picture is not None
        assert author.picture.key == "users/yuki/me"
        await world.service.edit_profile("yuki", ProfileChange(bio="Hens."))
        assert (await world.db.get(UserProfile.key(user_id="yuki"))).picture is not None
        await world.service.edit_profile("yuki", ProfileChange(picture=None))
        assert (await world.db.get(UserProfile.key(user_id="yuki"))).picture is None

    @pytest.mark.parametrize(
        "key", ["users/omar/x", "users/yuki/../omar/x", "users/yuki/..", "users/yuki/"]
    )
    async def test_nobody_shows_what_others_uploaded(self, world: World, key: str) -> None:
        theirs = NewImage(key=key)
        with pytest.raises(Invalid, match="not a picture that you uploaded"):
            await world.service.create_post(NewPost(images=[theirs]), caller=YUKI)
        with pytest.raises(Invalid):
            await world.service.edit_profile("yuki", ProfileChange(picture=theirs))

    async def test_a_post_has_words_or_pictures(self, world: World) -> None:
        with pytest.raises(Invalid, match="words or pictures"):
            await world.service.create_post(NewPost(text="  "), caller=YUKI)

    @pytest.mark.parametrize("text", [None, "", "  "])
    async def test_words_can_go_where_pictures_stay(self, world: World, text: str | None) -> None:
        image = NewImage(key="users/yuki/a", alt="A hen")
        shown, bare = await world.post(images=[image]), await world.post()
        body = {"text": text}
        async with served(world.service) as web:
            cleared = await web["yuki"].patch(f"/posts/{shown.post_id}", json=body)
            refused = await web["yuki"].patch(f"/posts/{bare.post_id}", json=body)
        assert (cleared.json()["text"], len(cleared.json()["images"])) == ("", 1)
        assert refused.json()["errors"] == [
            {"path": "text", "message": "a post has words or pictures"}
        ]

    @pytest.mark.parametrize("operation", ["delete_account", "delete_personal_data"])
    async def test_uploads_go_with_who_leaves(
        self, world: World, media: LocalMedia, tmp_path: Path, operation: str
    ) -> None:
        for one in (YUKI, OMAR):
            link = await world.service.upload_image("image/png", caller=one)
            await upload(media, link)
        assert len(list(tmp_path.rglob("*.bin"))) == 2
        given = {"caller": YUKI} if operation == "delete_personal_data" else {}
        await getattr(world.service, operation)("yuki", **given)
        assert len(list(tmp_path.rglob("*.bin"))) == 1

    async def test_a_repeated_upload_has_one_key(self, world: World, media: LocalMedia) -> None:
        keys = [
            (await ask(world.service, "uploadImage", YUKI, "r", content_type="image/png")).key
            for _ in range(2)
        ]
        assert keys[0] == keys[1]

    async def test_where_no_files_are_kept_it_is_said(self, world: World) -> None:
        with pytest.raises(Conflict, match="keeps no files"):
            await world.service.upload_image("image/png", caller=YUKI)


@pytest.mark.parametrize("handle", ["nobody", "@", "", "a#b", "a b", "x" * 500])
async def test_a_handle_that_nobody_has_or_can_have_is_missing(world: World, handle: str) -> None:
    with pytest.raises(Missing):
        await world.service.user_by_handle(handle, caller=YUKI)
