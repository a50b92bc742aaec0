"""The operations of TamaFriends."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from keyfold import (
    AsyncDb,
    Design,
    Page,
    check,
    create,
    new_ulid,
)
from keyfold.api import (
    Arguments,
    Conflict,
    Identity,
    Missing,
    NotAllowed,
    NotAuthenticated,
    PageRequest,
    Service,
    anyone,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)
from keyfold.errors import AlreadyExists, NotFound
from keyfold_systems.tamafriends import passwords
from keyfold_systems.tamafriends.design import (
    Comment,
    Credential,
    Like,
    Post,
    UserProfile,
    comment_by_id,
    comments_of_post,
    comments_of_user,
    design,
    likers_of_post,
    likes_of_user,
    post_by_id,
    posts_of_user,
    profile_by_email,
    profile_by_handle,
    profile_by_username,
)
from keyfold_systems.tamafriends.payloads import (
    Hours,
    Login,
    NewAccount,
    Profile,
    ProfileChange,
    Signed,
    Stated,
)
from keyfold_systems.tamafriends.relations import RelationOperations


@rule
async def member(service: TamaFriends, caller: Identity, _: Arguments) -> bool:
    """Tokens may outlive their accounts."""
    return await service.db.find(UserProfile.key(user_id=caller.id)) is not None


@rule
async def author(service: TamaFriends, caller: Identity, arguments: Arguments) -> bool:
    post = await post_by_id(service.db, arguments["post_id"])
    return post is None or post.user_id == caller.id


class TamaFriends(RelationOperations, Service):
    """Posts, comments, likes and follows."""

    design: ClassVar[Design] = design
    idempotent = True

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    @mutation(
        "/accounts",
        name="signUp",
        allow=anyone,
        status=201,
        remembered=False,
        example={
            "input": {
                "email": "ada@example.org",
                "username": "ada.lang",
                "handle": "ada",
                "displayName": "Ada Lang",
                "password": "correct horse",
            }
        },
    )
    async def sign_up(self, input: NewAccount) -> Signed:
        """Join; email, username and handle are yours alone."""
        user_id, salt = new_ulid(), passwords.new_salt()
        token = self._token(user_id)
        values = input.model_dump(exclude={"password"})
        digest = await passwords.digest(input.password, salt)
        await self.db.transact(
            create(UserProfile(user_id=user_id, **values)),
            create(Credential(user_id=user_id, salt=salt, digest=digest)),
        )
        return Signed(user_id=user_id, token=token)

    @mutation(
        "/sessions",
        name="signIn",
        allow=anyone,
        status=201,
        remembered=False,
        example={"input": {"login": "ada@example.org", "password": "correct horse"}},
    )
    async def sign_in(self, input: Login) -> Signed:
        """Sign in with your email or username."""
        lookup = profile_by_email if "@" in input.login else profile_by_username
        found = await lookup(self.db, input.login)
        credential = (
            None if found is None else await self.db.find(Credential.key(user_id=found.user_id))
        )
        # An unknown login costs the same time as a wrong password.
        salt = credential.salt if credential is not None else b"no such account."
        digest = await passwords.digest(input.password, salt)
        if found is None or credential is None or not passwords.same(digest, credential.digest):
            raise NotAuthenticated("Login or password is wrong.")
        return Signed(user_id=found.user_id, token=self._token(found.user_id))

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str) -> Profile:
        """Somebody's profile."""
        return _shown(await self.db.get(UserProfile.key(user_id=user_id)))

    @query("/users/{user_id}/account", allow=itself("user_id"))
    async def account(self, user_id: str) -> UserProfile:
        """Your own profile, with what only you see."""
        return await self.db.get(UserProfile.key(user_id=user_id))

    @query("/handles/{handle}", allow=authenticated)
    async def user_by_handle(self, handle: str) -> Profile:
        """A profile by its handle."""
        found = await profile_by_handle(self.db, handle)
        if found is None:
            raise Missing("There is no such user.")
        return _shown(found)

    @mutation(
        "/users/{user_id}",
        name="editProfile",
        method="PATCH",
        allow=itself("user_id"),
        example={"input": {"bio": "Keeper of three"}},
    )
    async def edit_profile(
        self, user_id: str, input: ProfileChange, expected_version: int | None = None
    ) -> UserProfile:
        """Change your profile, email, username or handle."""
        profile = await self.db.get(UserProfile.key(user_id=user_id))
        if expected_version is not None:
            profile = profile.model_copy(update={"version": expected_version})
        changes = input.model_dump(exclude_none=True)
        return await self.db.update(profile, **changes) if changes else profile

    @mutation("/users/{user_id}", name="deleteAccount", method="DELETE", allow=itself("user_id"))
    async def delete_account(self, user_id: str) -> None:
        """Leave; posts, comments, likes and follows go after you."""
        await self.db.delete(UserProfile.key(user_id=user_id), must_exist=True)

    @mutation(
        "/posts",
        name="createPost",
        allow=member,
        status=201,
        example={"text": "Look what hatched today!"},
    )
    async def create_post(
        self,
        text: Stated,
        caller: Identity,
        hours: Hours | None = None,
    ) -> Post:
        """Share something, for some hours or for good."""
        now = self.db.context.now()
        post = Post(
            user_id=caller.id,
            post_id=new_ulid(),
            text=text,
            created_at=now,
            expires_at=None if hours is None else now + timedelta(hours=hours),
        )

        made: Post = (
            await self.db.transact(create(post), check(UserProfile.key(user_id=caller.id)))
        )[0]
        return made

    @query("/posts/{post_id}", allow=authenticated)
    async def post(self, post_id: str) -> Post:
        """A post."""
        return await self._post(post_id)

    @mutation("/posts/{post_id}", name="editPost", method="PATCH", allow=author)
    async def edit_post(self, post_id: str, text: Stated) -> Post:
        """Change a post of yours."""
        post = await self._post(post_id)
        return await self.db.update(post.ref(), text=text)

    @mutation("/posts/{post_id}", name="deletePost", method="DELETE", allow=author)
    async def delete_post(self, post_id: str) -> None:
        """Delete a post of yours; its comments and likes go after it."""
        await self.db.delete((await self._post(post_id)).ref(), must_exist=True)

    @query("/users/{user_id}/posts", allow=authenticated)
    async def posts(self, user_id: str, page: PageRequest) -> Page[Post]:
        """Somebody's posts, newest first."""
        return await posts_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/posts/{post_id}/likes", name="like", allow=member, status=201)
    async def like(self, post_id: str, caller: Identity) -> Like:
        """Like a post."""
        post = await self._post(post_id)
        like = Like(
            post_id=post_id,
            user_id=caller.id,
            post_user_id=post.user_id,
            post_created_at=post.created_at,
            created_at=self.db.context.now(),
        )
        try:
            return await self._add(like, post.ref(), between=(post.user_id, caller.id))
        except AlreadyExists:
            raise Conflict("You like it already.", code="ALREADY_LIKED") from None

    @mutation("/posts/{post_id}/likes/mine", name="unlike", method="DELETE", allow=member)
    async def unlike(self, post_id: str, caller: Identity) -> None:
        """Take a like back."""
        await self.db.delete(Like.key(post_id=post_id, user_id=caller.id), must_exist=True)

    @query("/posts/{post_id}/likes", allow=authenticated)
    async def likers(self, post_id: str, page: PageRequest) -> Page[Like]:
        """Who likes a post."""
        return await likers_of_post.after(page.cursor)(self.db, post_id, limit=page.limit)

    @query("/users/{user_id}/likes", allow=itself("user_id"))
    async def likes(self, user_id: str, page: PageRequest) -> Page[Like]:
        """What you like, newest first."""
        return await likes_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation(
        "/posts/{post_id}/comments",
        name="comment",
        allow=member,
        status=201,
        example={"text": "How sweet!"},
    )
    async def comment(
        self,
        post_id: str,
        text: Stated,
        caller: Identity,
    ) -> Comment:
        """Say something about a post."""
        post = await self._post(post_id)
        profile = await self.db.get(UserProfile.key(user_id=caller.id))
        said = Comment(
            post_id=post_id,
            comment_id=new_ulid(),
            user_id=caller.id,
            user_handle=profile.handle,
            text=text,
            post_user_id=post.user_id,
            post_created_at=post.created_at,
            created_at=self.db.context.now(),
        )
        return await self._add(said, post.ref(), between=(post.user_id, caller.id))

    @query("/comments/{comment_id}", allow=authenticated)
    async def comment_by_id(self, comment_id: str) -> Comment:
        """A comment."""
        return await self._comment(comment_id)

    @mutation("/comments/{comment_id}", name="deleteComment", method="DELETE", allow=member)
    async def delete_comment(self, comment_id: str, caller: Identity) -> None:
        """Delete a comment of yours, or one under a post of yours."""
        said = await self._comment(comment_id)
        if caller.id not in (said.user_id, said.post_user_id):
            raise NotAllowed("This is somebody else's comment.")
        await self.db.delete(said.ref())

    @query("/posts/{post_id}/comments", allow=authenticated)
    async def comments(self, post_id: str, page: PageRequest) -> Page[Comment]:
        """What is said about a post, in order."""
        return await comments_of_post.after(page.cursor)(self.db, post_id, limit=page.limit)

    @query("/users/{user_id}/comments", allow=authenticated)
    async def comments_of_user(self, user_id: str, page: PageRequest) -> Page[Comment]:
        """What somebody said, newest first."""
        return await comments_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    async def _post(self, post_id: str) -> Post:
        found = await post_by_id(self.db, post_id)
        if found is None:
            raise Missing("There is no such post.")
        return found

    async def _comment(self, comment_id: str) -> Comment:
        found = await comment_by_id(self.db, comment_id)
        if found is None:
            raise Missing("There is no such comment.")
        return found

    def _token(self, user_id: str) -> str:
        if self.issue is None:
            raise NotFound("this application signs no tokens; sign in with its identity provider")
        return self.issue(user_id)


def service(db: AsyncDb) -> TamaFriends:
    return TamaFriends(db)


def _shown(profile: UserProfile) -> Profile:
    return Profile.model_validate(profile.model_dump(include=set(Profile.model_fields)))
