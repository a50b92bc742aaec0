"""Posts: sharing something, and the feed that posts come together in."""

from __future__ import annotations

from datetime import timedelta

from keyfold import Page, check
from keyfold_web import (
    Identity,
    Invalid,
    Missing,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold_systems.tamafriends.addresses import new_post_id
from keyfold_systems.tamafriends.entities import Post, UserProfile, home
from keyfold_systems.tamafriends.operations.access import Part, author, member, own_image
from keyfold_systems.tamafriends.patterns import posts_of_user
from keyfold_systems.tamafriends.payloads import NewPost, PostView, Words

MOST_ENTRIES = 100
NOTHING = "a post has words or pictures"


class Posts(Part):
    """What people share."""

    @mutation(
        "/posts",
        name="createPost",
        allow=member,
        status=201,
        example={"input": {"text": "Look what hatched today!"}},
    )
    async def create_post(self, input: NewPost, caller: Identity) -> PostView:
        """Share something, for some hours or for good."""
        if not input.text and not input.images:
            raise Invalid("text", NOTHING)
        now = self.db.context.now()
        post = Post(
            user_id=caller.id,
            post_id=new_post_id(now, caller.id),
            text=input.text,
            images=[own_image(caller.id, one) for one in input.images],
            created_at=now,
            expires_at=None if input.hours is None else now + timedelta(hours=input.hours),
        )
        made = await home.post(self.db, post, check(UserProfile.key(user_id=caller.id)))
        return await self._shown_post(made, caller)

    @query("/posts/{post_id}", allow=authenticated)
    async def post(self, post_id: str, caller: Identity) -> PostView:
        """A post."""
        return await self._shown_post(await self.get_post(post_id), caller)

    @mutation(
        "/posts/{post_id}",
        name="editPost",
        method="PATCH",
        allow=author & member,
        example={"text": "Look who hatched today!"},
    )
    async def edit_post(
        self,
        post_id: str,
        text: Words | None,
        caller: Identity,
        expected_version: int | None = None,
    ) -> PostView:
        """Change the words of a post of yours; null takes them away where pictures stay."""
        post, words = await self.get_post(post_id), text or ""
        if not words and not post.images:
            raise Invalid("text", NOTHING)
        if expected_version is not None:
            post = post.model_copy(update={"version": expected_version})
            return await self._shown_post(await self.db.update(post, text=words), caller)
        return await self._shown_post(await self.db.update(post.ref(), text=words), caller)

    @mutation("/posts/{post_id}", name="deletePost", method="DELETE", allow=author)
    async def delete_post(self, post_id: str) -> None:
        """Delete a post of yours; its likes and comments go with it."""
        post = await self.get_post(post_id)
        await self.db.delete(post.ref(), must_exist=True)

    @query("/users/{user_id}/posts", allow=authenticated)
    async def posts(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """What somebody shared, newest first."""
        views = self.views(caller)
        await views.admit(user_id)
        found = await posts_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        return Page(await views.posts(found), found.cursor)

    @query("/users/{user_id}/home", allow=itself("user_id"))
    async def home(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """What those you follow shared, newest first."""
        limit = min(page.limit, MOST_ENTRIES)
        found = await home.page(self.db, user_id, limit=limit, cursor=page.cursor)
        refs = [
            Post.key(user_id=one.user_id, post_id=one.post_id, created_at=one.created_at)
            for one in found
        ]
        posts = await self.views(caller).posts(await self.db.get_many(refs))
        return Page(posts, found.cursor)

    async def _shown_post(self, post: Post, caller: Identity) -> PostView:
        views = self.views(caller)
        shown = await views.posts([post])
        if not shown:
            await views.admit(post.user_id)
            raise Missing.of("post", post.post_id)
        return shown[0]
