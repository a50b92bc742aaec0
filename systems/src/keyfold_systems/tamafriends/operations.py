"""The operations: profiles, posts, follows, comments and likes."""

from __future__ import annotations

from keyfold import Page, check, create
from keyfold.fields import one_spelling
from keyfold.runtime import Intent
from keyfold_systems.tamafriends import patterns
from keyfold_systems.tamafriends.entities import Comment, Follow, Like, Post, UserProfile
from keyfold_systems.tamafriends.views import (
    Account,
    CommentView,
    NewPost,
    NewProfile,
    Person,
    PostView,
    ProfileChange,
    ProfileView,
    Said,
    people,
    show_comments,
    show_posts,
)
from keyfold_web import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    Service,
    admin,
    anyone,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)


@rule
async def author(service: Operations, caller: Identity, arguments: Arguments) -> bool:
    """The author of a post. A post that the index does not show yet is refused."""
    post = await patterns.post_by_id(service.db, arguments["post_id"])
    return post is not None and post.user_id == caller.id


def member(user_id: str) -> Intent:
    """The condition that a user has a profile."""
    return check(UserProfile.key(user_id=user_id))


class Operations(Service):
    """Profiles, posts, follows, comments and likes."""

    # Profiles

    @mutation("/profiles", allow=authenticated, status=201)
    async def create_profile(self, input: NewProfile, caller: Identity) -> Account:
        """Create your profile."""
        there = Conflict("You have a profile.", code="PROFILE_EXISTS")
        new = UserProfile(user_id=caller.id, **dict(input))
        return Account.of(await self.db.create(new, refuse=there))

    @mutation("/users/{user_id}", method="PATCH", allow=itself("user_id"))
    async def edit_profile(
        self, user_id: str, input: ProfileChange, expected_version: int | None = None
    ) -> Account:
        """Change your profile."""
        ref = UserProfile.key(user_id=user_id)
        edited = await self.db.update(ref, **input.given(), expected_version=expected_version)
        return Account.of(edited)

    @query("/users/{user_id}", allow=anyone)
    async def profile(self, user_id: str) -> ProfileView:
        """A profile."""
        return ProfileView.of(await self.db.get(UserProfile.key(user_id=user_id)))

    @query("/handles/{handle}", allow=anyone)
    async def profile_by_handle(self, handle: str) -> ProfileView:
        """A profile by its @handle."""
        name = handle.removeprefix("@")
        found = await patterns.profile_by_handle(self.db, name)
        found = found or await patterns.profile_by_handle(self.db, one_spelling(name))
        return ProfileView.of(Missing.unless(found, "profile", handle))

    @query("/logins/email/{email}", allow=admin)
    async def login_by_email(self, email: str) -> Account:
        """Which user signs in with this email; for the service that issues tokens."""
        found = await patterns.profile_by_email(self.db, email)
        found = found or await patterns.profile_by_email(self.db, one_spelling(email))
        return Account.of(Missing.unless(found, "login", email))

    @query("/logins/username/{username}", allow=admin)
    async def login_by_username(self, username: str) -> Account:
        """Which user signs in with this user name; for the service that issues tokens."""
        found = await patterns.profile_by_username(self.db, username)
        found = found or await patterns.profile_by_username(self.db, one_spelling(username))
        return Account.of(Missing.unless(found, "login", username))

    # Posts

    @mutation("/posts", allow=authenticated, status=201)
    async def create_post(self, input: NewPost, caller: Identity) -> PostView:
        """Create a post."""
        new = Post.new(caller.id, input.text, self.db.context.now(), input.scene)
        made, _ = await self.db.transact(create(new), member(caller.id))
        return (await show_posts(self.db, [made], caller.id))[0]

    @query("/posts/{post_id}", allow=anyone)
    async def post(self, post_id: str, caller: Identity) -> PostView:
        """A post."""
        views = await show_posts(self.db, [await self._post(post_id)], caller.id)
        return Missing.unless(next(iter(views), None), "post", post_id)

    @query("/users/{user_id}/posts", allow=anyone)
    async def posts(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """A user's posts, newest first."""
        found = await page.read(self.db, patterns.posts_of_user, user_id)
        return Page(await show_posts(self.db, found.items, caller.id), found.cursor)

    @query("/users/{user_id}/wall", allow=itself("user_id"))
    async def wall(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """The posts of the users you follow, newest first."""
        edges = await patterns.following(self.db, user_id, limit=patterns.MOST_WALLS)
        found = await page.read(
            self.db, patterns.posts_of_users, [one.followee_id for one in edges]
        )
        return Page(await show_posts(self.db, found.items, caller.id), found.cursor)

    @mutation("/posts/{post_id}", method="DELETE", allow=author)
    async def delete_post(self, post_id: str) -> None:
        """Delete one of your posts, with its comments and likes."""
        post = await self._post(post_id)
        await self._delete_reactions(post_id)  # first, so that the author can repeat what broke off
        await self.db.delete(post.ref())
        await self._delete_reactions(post_id)  # what came in between; from now on, none can come

    # Follows

    @mutation("/users/{user_id}/followers", allow=authenticated, status=201)
    async def follow(self, user_id: str, caller: Identity) -> Follow:
        """Follow a user."""
        if user_id == caller.id:
            raise Invalid("userId", "is your own")
        twice = Conflict("You follow this user already.", code="ALREADY_FOLLOWED")
        edge = create(Follow(follower_id=caller.id, followee_id=user_id), refuse=twice)
        made, *_ = await self.db.transact(edge, member(user_id), member(caller.id))
        return made

    @mutation("/users/{user_id}/followers/me", method="DELETE", allow=authenticated)
    async def unfollow(self, user_id: str, caller: Identity) -> None:
        """Unfollow a user."""
        edge = Follow.key(follower_id=caller.id, followee_id=user_id)
        await self.db.delete(edge, must_exist=True)

    @query("/users/{user_id}/followers", allow=anyone)
    async def followers(self, user_id: str, page: PageRequest) -> Page[Person]:
        """A user's followers."""
        found = await page.read(self.db, patterns.followers, user_id)
        known = await people(self.db, (one.follower_id for one in found))
        return Page(list(known.values()), found.cursor)

    @query("/users/{user_id}/following", allow=anyone)
    async def following(self, user_id: str, page: PageRequest) -> Page[Person]:
        """The users whom a user follows."""
        found = await page.read(self.db, patterns.following, user_id)
        known = await people(self.db, (one.followee_id for one in found))
        return Page(list(known.values()), found.cursor)

    # Comments

    @mutation("/posts/{post_id}/comments", allow=authenticated, status=201)
    async def comment(self, post_id: str, text: Said, caller: Identity) -> CommentView:
        """Comment on a post."""
        post, now = await self._post(post_id), self.db.context.now()
        new = Comment.on(post, caller.id, text, now)
        made, *_ = await self.db.transact(create(new), check(post.ref()), member(caller.id))
        return (await show_comments(self.db, [made]))[0]

    @query("/comments/{comment_id}", allow=anyone)
    async def comment_by_id(self, comment_id: str) -> CommentView:
        """A comment."""
        views = await show_comments(self.db, [await self._comment(comment_id)])
        return Missing.unless(next(iter(views), None), "comment", comment_id)

    @query("/posts/{post_id}/comments", allow=anyone)
    async def comments(self, post_id: str, page: PageRequest) -> Page[CommentView]:
        """A post's comments, in order."""
        found = await page.read(self.db, patterns.comments_of_post, post_id)
        return Page(await show_comments(self.db, found.items), found.cursor)

    @query("/users/{user_id}/comments", allow=anyone)
    async def comments_of_user(self, user_id: str, page: PageRequest) -> Page[CommentView]:
        """A user's comments, newest first."""
        found = await page.read(self.db, patterns.comments_of_user, user_id)
        return Page(await show_comments(self.db, found.items), found.cursor)

    @mutation("/comments/{comment_id}", method="DELETE", allow=authenticated)
    async def delete_comment(self, comment_id: str, caller: Identity) -> None:
        """Delete your comment, or one on your post."""
        found = await self._comment(comment_id)
        if caller.id not in (found.user_id, found.post_user_id):
            raise NotAllowed("Only its author, or that of the post, may delete a comment.")
        await self.db.delete(found.ref(), must_exist=True)

    # Likes

    @mutation("/posts/{post_id}/likes", allow=authenticated, status=201)
    async def like(self, post_id: str, caller: Identity) -> Like:
        """Like a post."""
        post = await self._post(post_id)
        twice = Conflict("You like this post already.", code="ALREADY_LIKED")
        new = create(Like.of(post, caller.id, self.db.context.now()), refuse=twice)
        made, *_ = await self.db.transact(new, check(post.ref()), member(caller.id))
        return made

    @mutation("/posts/{post_id}/likes/me", method="DELETE", allow=authenticated)
    async def unlike(self, post_id: str, caller: Identity) -> None:
        """Remove your like."""
        await self.db.delete(Like.key(post_id=post_id, user_id=caller.id), must_exist=True)

    @query("/users/{user_id}/likes", allow=anyone)
    async def liked_posts(
        self, user_id: str, page: PageRequest, caller: Identity
    ) -> Page[PostView]:
        """The posts that a user likes, the latest post first."""
        found = await page.read(self.db, patterns.likes_of_user, user_id)
        refs = [Post.key(user_id=one.post_user_id, post_sk=one.post_sk) for one in found]
        posts = [one for one in await self.db.get_many(refs) if one is not None]
        return Page(await show_posts(self.db, posts, caller.id), found.cursor)

    # What several of them need

    async def _delete_reactions(self, post_id: str) -> None:
        await self.db.delete_collection(Comment.key.query(post_id=post_id))
        await self.db.delete_collection(Like.key.query(post_id=post_id))

    async def _post(self, post_id: str) -> Post:
        return Missing.unless(await patterns.post_by_id(self.db, post_id), "post", post_id)

    async def _comment(self, comment_id: str) -> Comment:
        found = await patterns.comment_by_id(self.db, comment_id)
        return Missing.unless(found, "comment", comment_id)
