"""Reactions: likes and comments."""

from __future__ import annotations

from keyfold import Page
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists
from keyfold_systems.tamafriends.addresses import comment_address, new_id
from keyfold_systems.tamafriends.entities import Comment, Like, Post, UserProfile
from keyfold_systems.tamafriends.operations.access import Part, member
from keyfold_systems.tamafriends.patterns import (
    comment_by_id,
    comments_of_post,
    comments_of_user,
    likers_of_post,
    likes_of_user,
)
from keyfold_systems.tamafriends.payloads import CommentView, LikedPost, PersonSince, Stated


class Reactions(Part):
    """What people say of what others share."""

    @mutation("/posts/{post_id}/likes", name="like", allow=member, status=201)
    async def like(self, post_id: str, caller: Identity) -> Like:
        """Like a post."""
        post = await self.get_post(post_id)
        like = Like(
            post_id=post_id,
            user_id=caller.id,
            post_user_id=post.user_id,
            post_created_at=post.created_at,
            created_at=self.db.context.now(),
        )
        try:
            return await self.add(like, post.ref(), between=(post.user_id, caller.id))
        except AlreadyExists:
            raise Conflict("You like it already.", code="ALREADY_LIKED") from None

    @mutation("/posts/{post_id}/likes/mine", name="unlike", method="DELETE", allow=member)
    async def unlike(self, post_id: str, caller: Identity) -> None:
        """Take a like back."""
        await self.db.delete(Like.key(post_id=post_id, user_id=caller.id), must_exist=True)

    @query("/posts/{post_id}/likes", allow=authenticated)
    async def likers(self, post_id: str, page: PageRequest, caller: Identity) -> Page[PersonSince]:
        """Who likes a post."""
        await self._admit(post_id, caller)
        found = await likers_of_post.after(page.cursor)(self.db, post_id, limit=page.limit)
        known = [(one.user_id, one.created_at) for one in found]
        return Page(await self.views(caller).since(known), found.cursor)

    @query("/users/{user_id}/likes", allow=itself("user_id"))
    async def likes(self, user_id: str, page: PageRequest, caller: Identity) -> Page[LikedPost]:
        """What you like, newest first."""
        found = await likes_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        refs = [
            Post.key(user_id=one.post_user_id, post_id=one.post_id, created_at=one.post_created_at)
            for one in found
        ]
        posts = await self.views(caller).posts(await self.db.get_many(refs))
        since = {one.post_id: one.created_at for one in found}
        liked = [LikedPost(post=one, since=since[one.post_id]) for one in posts]
        return Page(liked, found.cursor)

    @mutation(
        "/posts/{post_id}/comments",
        name="comment",
        allow=member,
        status=201,
        example={"text": "How sweet!"},
    )
    async def comment(self, post_id: str, text: Stated, caller: Identity) -> CommentView:
        """Say something about a post."""
        post, now = await self.get_post(post_id), self.db.context.now()
        profile = await self.db.get(UserProfile.key(user_id=caller.id))
        said = Comment(
            post_id=post_id,
            comment_id=new_id(now),
            user_id=caller.id,
            user_handle=profile.handle,
            text=text,
            post_user_id=post.user_id,
            post_created_at=post.created_at,
            created_at=now,
        )
        made = await self.add(said, post.ref(), between=(post.user_id, caller.id))
        return await self._shown_comment(made, caller)

    @query("/comments/{comment_id}", allow=authenticated)
    async def comment_by_id(self, comment_id: str, caller: Identity) -> CommentView:
        """A comment."""
        found = await comment_by_id(self.db, comment_id)
        if found is None:
            raise Missing.of("comment", comment_id)
        return await self._shown_comment(found, caller)

    @mutation(
        "/posts/{post_id}/comments/{comment_id}",
        name="editComment",
        method="PATCH",
        allow=member,
        example={"text": "How very sweet!"},
    )
    async def edit_comment(
        self,
        post_id: str,
        comment_id: str,
        text: Stated,
        caller: Identity,
        expected_version: int | None = None,
    ) -> CommentView:
        """Change a comment of yours."""
        said = await self.get_comment(post_id, comment_id)
        if caller.id != said.user_id:
            raise NotAllowed("This is somebody else's comment.")
        await self.views(caller).admit(said.post_user_id)
        if expected_version is not None:
            said = said.model_copy(update={"version": expected_version})
            return await self._shown_comment(await self.db.update(said, text=text), caller)
        return await self._shown_comment(await self.db.update(said.ref(), text=text), caller)

    @mutation(
        "/posts/{post_id}/comments/{comment_id}",
        name="deleteComment",
        method="DELETE",
        allow=member,
    )
    async def delete_comment(self, post_id: str, comment_id: str, caller: Identity) -> None:
        """Delete a comment of yours, or one under a post of yours."""
        said = await self.get_comment(post_id, comment_id)
        if caller.id not in (said.user_id, said.post_user_id):
            raise NotAllowed("This is somebody else's comment.")
        await self.db.delete(said.ref())

    @query("/posts/{post_id}/comments", allow=authenticated)
    async def comments(
        self, post_id: str, page: PageRequest, caller: Identity
    ) -> Page[CommentView]:
        """What is said about a post, in order."""
        await self._admit(post_id, caller)
        found = await comments_of_post.after(page.cursor)(self.db, post_id, limit=page.limit)
        return Page(await self.views(caller).comments(found.items), found.cursor)

    @query("/users/{user_id}/comments", allow=authenticated)
    async def comments_of_user(
        self, user_id: str, page: PageRequest, caller: Identity
    ) -> Page[CommentView]:
        """What somebody said, newest first."""
        views = self.views(caller)
        await views.admit(user_id)
        found = await comments_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        return Page(await views.comments(found.items), found.cursor)

    async def get_comment(self, post_id: str, comment_id: str) -> Comment:
        """A comment by its key, which its id says; by the index, where it does not."""
        address = comment_address(post_id, comment_id)
        found = await self.db.find(address) if address is not None else None
        if found is None:
            found = await comment_by_id(self.db, comment_id)
        if found is None or found.post_id != post_id:
            raise Missing.of("comment", comment_id)
        return found

    async def _admit(self, post_id: str, caller: Identity) -> None:
        """What is said of a post is shown to those who may see the post."""
        post = await self.get_post(post_id)
        await self.views(caller).admit(post.user_id)

    async def _shown_comment(self, said: Comment, caller: Identity) -> CommentView:
        views = self.views(caller)
        shown = await views.comments([said])
        if not shown:
            for user_id in (said.user_id, said.post_user_id):
                await views.admit(user_id)
            raise Missing.of("comment", said.comment_id)
        return shown[0]
