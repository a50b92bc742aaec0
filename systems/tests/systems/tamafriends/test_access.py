"""Who may do what in TamaFriends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from tests.systems.access import Matrix, Scene, fresh
from tests.systems.author import server
from tests.systems.conftest import ADDRESS

from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Follow, Like, Post, UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_web import ANONYMOUS, Identity

from .conftest import opened

START = datetime(2031, 1, 1, tzinfo=UTC)
YUKI, OMAR, LENA = Identity.of("yuki"), Identity.of("omar"), Identity.of("lena")
STRANGER, ROOT = Identity.of("stranger"), Identity.of("root", "admin")

MATRIX = Matrix(
    """
    operation        anonymous  stranger  member  reader  author  admin
    createProfile    401        yes       409     409     409     yes
    editProfile      401        403       403     403     yes     403
    profile          yes        yes       yes     yes     yes     yes
    profileByHandle  yes        yes       yes     yes     yes     yes
    loginByEmail     401        403       403     403     403     yes
    loginByUsername  401        403       403     403     403     yes
    createPost       401        404       yes     yes     yes     404
    post             yes        yes       yes     yes     yes     yes
    posts            yes        yes       yes     yes     yes     yes
    wall             401        403       403     403     yes     403
    deletePost       401        403       403     403     yes     403
    follow           401        404       yes     409     422     404
    unfollow         401        404       404     yes     404     404
    followers        yes        yes       yes     yes     yes     yes
    following        yes        yes       yes     yes     yes     yes
    comment          401        404       yes     yes     yes     404
    commentById      yes        yes       yes     yes     yes     yes
    comments         yes        yes       yes     yes     yes     yes
    commentsOfUser   yes        yes       yes     yes     yes     yes
    deleteComment    401        403       403     yes     yes     403
    like             401        404       yes     409     yes     404
    unlike           401        404       404     yes     404     404
    likedPosts       yes        yes       yes     yes     yes     yes
    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": STRANGER,
        "member": LENA,
        "reader": OMAR,
        "author": YUKI,
        "admin": ROOT,
    },
    {
        "createProfile": {
            "input": {
                "email": "new@example.com",
                "username": "new",
                "handle": "new",
                "displayName": "New",
            }
        },
        "editProfile": {"input": {"bio": "Hello"}},
        "createPost": {"input": {"text": "Look!"}},
        "comment": {"text": "Nice."},
    },
)


def profile(user: str) -> UserProfile:
    return UserProfile(
        user_id=user,
        display_name=user.title(),
        email=f"{user}@example.com",
        username=f"{user}.name",
        handle=user,
    )


@asynccontextmanager
async def posted() -> AsyncIterator[Scene]:
    """A post of Yuki's that Omar, who follows her, likes and comments."""
    async with fresh(design, START) as db:
        await db.bulk(profile(one.id) for one in (YUKI, OMAR, LENA))
        post = Post.new("yuki", "Look!", START)
        said = Comment.on(post, "omar", "Nice.", START)
        await db.bulk([post, said, Like.of(post, "omar", START)])
        await db.create(Follow(follower_id="omar", followee_id="yuki"))
        there = {
            "userId": "yuki",
            "handle": "yuki",
            "email": "yuki@example.com",
            "username": "yuki.name",
            "postId": post.post_id,
            "commentId": said.comment_id,
        }
        yield Scene(TamaFriends(db), there)


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(TamaFriends)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, posted)


@pytest.mark.skipif(ADDRESS is not None, reason="only our indexes can be held")
async def test_nobody_deletes_what_a_lagging_index_does_not_show() -> None:
    """The indexes show nothing at all: whoever asks, nothing may go."""
    with server(index_lag="held") as address:
        async with opened(address, "held-") as world:
            await world.join("ana", "ben", "cleo")
            post = (await world.do("ana", "POST", "/posts", {"text": "Hello."}))["postId"]
            [made] = [one async for one in world.db.scan(Post)]
            now = world.db.context.now()
            said = Comment.on(made, "ben", "Oh.", now)
            await world.db.bulk([said, Like.of(made, "ben", now)])
            for who in ("cleo", "ben", "ana", "root"):
                deleted = await world.call(who, "DELETE", f"/posts/{post}")
                assert deleted.status_code == 403
                deleted = await world.call(who, "DELETE", f"/comments/{said.comment_id}")
                assert deleted.status_code == 404
            assert [one.comment_id async for one in world.db.scan(Comment)] == [said.comment_id]
            assert len([one async for one in world.db.scan(Like)]) == 1
            await world.do("ben", "DELETE", f"/posts/{post}/likes/me")  # by key
