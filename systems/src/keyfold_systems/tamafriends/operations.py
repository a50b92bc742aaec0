"""The operations: profiles, posts, follows, comments and likes."""

from __future__ import annotations

from keyfold import Page, check, create
from keyfold.errors import AlreadyExists
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
    view_of,
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
    """The author of a post. Nobody is that of one which the index does not show."""
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
        try:
            made = await self.db.create(UserProfile(user_id=caller.id, **dict(input)))
        except AlreadyExists:
            raise Conflict("You have a profile.", code="PROFILE_EXISTS") from None
        return view_of(Account, made)

    @mutation("/users/{user_id}", method="PATCH", allow=itself("user_id"))
    async def edit_profile(
        self, user_id: str, input: ProfileChange, expected_version: int | None = None
    ) -> Account:
        """Change your profile."""
        ref = UserProfile.key(user_id=user_id)
        if expected_version is None:
            return view_of(Account, await self.db.update(ref, **input.given()))
        read = (await self.db.get(ref)).model_copy(update={"version": expected_version})
        return view_of(Account, await self.db.update(read, **input.given()))

    @query("/users/{user_id}", allow=anyone)
    async def profile(self, user_id: str) -> ProfileView:
        """A profile."""
        return self._profile(await patterns.profile(self.db, user_id), user_id)

    @query("/handles/{handle}", allow=anyone)
    async def profile_by_handle(self, handle: str) -> ProfileView:
        """A profile by its @handle."""
        name = handle.removeprefix("@")
        found = await patterns.profile_by_handle(self.db, name)
        found = found or await patterns.profile_by_handle(self.db, one_spelling(name))
        return self._profile(found, handle)

    @query("/logins/email/{email}", allow=admin)
    async def login_by_email(self, email: str) -> Account:
        """Which user signs in with this email; for the service that issues tokens."""
        found = await patterns.profile_by_email(self.db, email)
        found = found or await patterns.profile_by_email(self.db, one_spelling(email))
        return self._login(found, email)

    @query("/logins/username/{username}", allow=admin)
    async def login_by_username(self, username: str) -> Account:
        """Which user signs in with this user name; for the service that issues tokens."""
        found = await patterns.profile_by_username(self.db, username)
        found = found or await patterns.profile_by_username(self.db, one_spelling(username))
        return self._login(found, username)

    # Posts

    @mutation("/posts", allow=authenticated, status=201, example={"input": {"text": "Hatched!"}})
    async def create_post(self, input: NewPost, caller: Identity) -> PostView:
        """Post something."""
        new = Post.new(caller.id, input.text, self.db.context.now(), input.scene)
        made, _ = await self.db.transact(create(new), member(caller.id))
        return (await show_posts(self.db, [made], caller.id))[0]

    @query("/posts/{post_id}", allow=anyone)
    async def post(self, post_id: str, caller: Identity) -> PostView:
        """A post."""
        views = await show_posts(self.db, [await self._post(post_id)], caller.id)
        if not views:
            raise Missing.of("post", post_id)
        return views[0]

    @query("/users/{user_id}/posts", allow=anyone)
    async def posts(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """A user's posts, newest first."""
        read = patterns.posts_of_user.after(page.cursor)
        found = await read(self.db, user_id, limit=page.limit)
        return Page(await show_posts(self.db, found.items, caller.id), found.cursor)

    @query("/users/{user_id}/wall", allow=itself("user_id"))
    async def wall(self, user_id: str, page: PageRequest, caller: Identity) -> Page[PostView]:
        """The posts of the users you follow, newest first."""
        edges = await patterns.following(self.db, user_id, limit=patterns.MOST_WALLS)
        read = patterns.posts_of_users.after(page.cursor)
        found = await read(self.db, [one.followee_id for one in edges], limit=page.limit)
        return Page(await show_posts(self.db, found.items, caller.id), found.cursor)

    @mutation("/posts/{post_id}", method="DELETE", allow=author)
    async def delete_post(self, post_id: str) -> None:
        """Delete a post of yours, with its comments and likes."""
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
        new = Follow(follower_id=caller.id, followee_id=user_id)
        try:
            made, *_ = await self.db.transact(create(new), member(user_id), member(caller.id))
        except AlreadyExists:
            raise Conflict("You follow this user already.", code="ALREADY_FOLLOWED") from None
        return made

    @mutation("/users/{user_id}/followers/me", method="DELETE", allow=authenticated)
    async def unfollow(self, user_id: str, caller: Identity) -> None:
        """Unfollow a user."""
        await self.db.delete(
            Follow.key(follower_id=caller.id, followee_id=user_id), must_exist=True
        )

    @query("/users/{user_id}/followers", allow=anyone)
    async def followers(self, user_id: str, page: PageRequest) -> Page[Person]:
        """A user's followers."""
        found = await patterns.followers.after(page.cursor)(self.db, user_id, limit=page.limit)
        known = await people(self.db, (one.follower_id for one in found))
        return Page(list(known.values()), found.cursor)

    @query("/users/{user_id}/following", allow=anyone)
    async def following(self, user_id: str, page: PageRequest) -> Page[Person]:
        """The users whom a user follows."""
        found = await patterns.following.after(page.cursor)(self.db, user_id, limit=page.limit)
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
        if not views:
            raise Missing.of("comment", comment_id)
        return views[0]

    @query("/posts/{post_id}/comments", allow=anyone)
    async def comments(self, post_id: str, page: PageRequest) -> Page[CommentView]:
        """A post's comments, in order."""
        read = patterns.comments_of_post.after(page.cursor)
        found = await read(self.db, post_id, limit=page.limit)
        return Page(await show_comments(self.db, found.items), found.cursor)

    @query("/users/{user_id}/comments", allow=anyone)
    async def comments_of_user(self, user_id: str, page: PageRequest) -> Page[CommentView]:
        """A user's comments, newest first."""
        read = patterns.comments_of_user.after(page.cursor)
        found = await read(self.db, user_id, limit=page.limit)
        return Page(await show_comments(self.db, found.items), found.cursor)

    @mutation("/comments/{comment_id}", method="DELETE", allow=authenticated)
    async def delete_comment(self, comment_id: str, caller: Identity) -> None:
        """Delete a comment of yours, or one on your post."""
        found = await self._comment(comment_id)
        if caller.id not in (found.user_id, found.post_user_id):
            raise NotAllowed("Only its author, or that of the post, may delete a comment.")
        await self.db.delete(found.ref(), must_exist=True)

    # Likes

    @mutation("/posts/{post_id}/likes", allow=authenticated, status=201)
    async def like(self, post_id: str, caller: Identity) -> Like:
        """Like a post."""
        post = await self._post(post_id)
        new = Like.of(post, caller.id, self.db.context.now())
        try:
            made, *_ = await self.db.transact(create(new), check(post.ref()), member(caller.id))
        except AlreadyExists:
            raise Conflict("You like this post already.", code="ALREADY_LIKED") from None
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
        found = await patterns.likes_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        refs = [Post.key(user_id=one.post_user_id, post_sk=one.post_sk) for one in found]
        posts = [one for one in await self.db.get_many(refs) if one is not None]
        return Page(await show_posts(self.db, posts, caller.id), found.cursor)

    # What several of them need

    async def _delete_reactions(self, post_id: str) -> None:
        await self.db.delete_collection(Comment.key.query(post_id=post_id))
        await self.db.delete_collection(Like.key.query(post_id=post_id))

    async def _post(self, post_id: str) -> Post:
        found = await patterns.post_by_id(self.db, post_id)
        if found is None:
            raise Missing.of("post", post_id)
        return found

    async def _comment(self, comment_id: str) -> Comment:
        found = await patterns.comment_by_id(self.db, comment_id)
        if found is None:
            raise Missing.of("comment", comment_id)
        return found

    def _profile(self, found: UserProfile | None, name: str) -> ProfileView:
        if found is None:
            raise Missing.of("profile", name)
        return view_of(ProfileView, found)

    def _login(self, found: UserProfile | None, name: str) -> Account:
        if found is None:
            raise Missing.of("login", name)
        return view_of(Account, found)
