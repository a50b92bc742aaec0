"""The design of TamaFriends: the index allocation of its document, with base keys of our own.

A user's partition holds the profile, the posts by time and whom the user follows; a post's
partition holds its comments by time and its likes. So everything that one page shows of a user or
of a post is one query, and every counter's target is known from the counted item itself.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyfold import (
    Cascade,
    Copied,
    Counter,
    Created,
    Design,
    Entity,
    First,
    Get,
    Id,
    Index,
    Key,
    Name,
    On,
    Query,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
    get,
)
from keyfold_systems.tamafriends import design_types as typed

design = Design("tamafriends", description="Posts, comments, likes and follows.")

table = design.table(
    "tamafriends",
    indexes=[
        Index(
            "GSI1",
            "GSI1PK",
            "GSI1SK",
            holds="identifier, target",
            purpose="an entity by its identifier, or by its target",
        ),
        Index("GSI2", "GSI2PK", "GSI2SK", holds="owner", purpose="what a user made"),
        Index(
            "GSI3", "GSI3PK", "GSI3SK", holds="alternative", purpose="a user by a public identifier"
        ),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Email = Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
Username = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,30}$")]
Handle = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{2,30}$")]


class UserProfile(
    typed.UserProfile,
    Entity,
    table=table,
    type_name="USER_PROFILE",
    silence=(
        ("X13", "one of three alternative identifiers is in GSI3; an item has one place there"),
    ),
):
    """A person."""

    user_id: Id
    email: Email
    username: Username
    handle: Handle
    display_name: Annotated[str, Field(min_length=1, max_length=80)]
    bio: Annotated[str, Field(max_length=500)] = ""
    followers: Annotated[int, Counter("Follow", via={"user_id": "followee_id"}, sync="stream")] = 0
    following: Annotated[int, Counter("Follow", via={"user_id": "follower_id"}, sync="stream")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("USER#{user_id}", "PROFILE")
    by_email = On("GSI1", "EMAIL#{email:lower}", "USER#{user_id}")
    by_username = On("GSI2", "USERNAME#{username:lower}", "USER#{user_id}")
    by_handle = On("GSI3", "HANDLE#{handle:lower}", "USER#{user_id}")
    one_email = Unique("email", normalise=str.casefold)
    one_username = Unique("username", normalise=str.casefold)
    one_handle = Unique("handle", normalise=str.casefold)
    credentials = Cascade("Credential")
    posts = Cascade("Post", sync="stream")
    follows = Cascade("Follow", via={"user_id": "follower_id"}, sync="stream")
    followed = Cascade(
        "Follow", through="by_followee", via={"user_id": "followee_id"}, sync="stream"
    )
    comments = Cascade("Comment", through="by_user", sync="stream")
    likes = Cascade("Like", through="by_user", sync="stream")
    blocks = Cascade("Block", sync="stream")


class Credential(typed.Credential, Entity, table=table):
    """What somebody proves themselves with, apart from the profile that everybody may read."""

    user_id: Id
    salt: bytes
    digest: bytes

    key = Key("USER#{user_id}", "CREDENTIAL")


class Post(typed.Post, Entity, table=table, type_name="POST"):
    """Something a user shares, for good or for a while."""

    user_id: Id
    post_id: Id
    text: Text
    likes: Annotated[
        int,
        Counter(
            "Like",
            via={"user_id": "post_user_id", "created_at": "post_created_at"},
            sync="stream",
        ),
    ] = 0
    comments: Annotated[
        int,
        Counter(
            "Comment",
            via={"user_id": "post_user_id", "created_at": "post_created_at"},
            sync="stream",
        ),
    ] = 0
    version: Annotated[int, Version()] = 0
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    expires_at: Annotated[Timestamp | None, Ttl(), Name("ttl")] = None

    key = Key("USER#{user_id}", "POST#{created_at:iso}#{post_id}")
    by_id = On("GSI1", "POST#{post_id}", "USER#{user_id}")
    its_comments = Cascade(
        "Comment",
        via={"user_id": "post_user_id", "created_at": "post_created_at"},
        sync="stream",
    )
    its_likes = Cascade(
        "Like",
        via={"user_id": "post_user_id", "created_at": "post_created_at"},
        sync="stream",
    )


class Follow(typed.Follow, Entity, table=table, type_name="FOLLOW"):
    """One user follows another."""

    follower_id: Id
    followee_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
    by_followee = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")


class Block(typed.Block, Entity, table=table, type_name="BLOCK"):
    """One user does not want another around."""

    user_id: Id
    blocked_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "BLOCK#{blocked_id}")


class Comment(
    typed.Comment,
    Entity,
    table=table,
    type_name="COMMENT",
    silence=(("W8", "comments live as long as their post, and are deleted with it"),),
):
    """Something said about a post; it carries where the post is, so that counting reads nothing."""

    post_id: Id
    comment_id: Id
    user_id: Id
    user_handle: Annotated[str, Copied("UserProfile", "handle", through="by_user")]
    text: Text
    post_user_id: Id
    post_created_at: Timestamp
    created_at: Timestamp

    key = Key("POST#{post_id}", "COMMENT#{created_at:iso}#{comment_id}")
    by_id = On("GSI1", "COMMENT#{comment_id}", "POST#{post_id}")
    by_user = On("GSI2", "USER#{user_id}", "COMMENT#{created_at:iso}#{comment_id}")


class Like(typed.Like, Entity, table=table, type_name="LIKE"):
    """A user likes a post, at most once."""

    post_id: Id
    user_id: Id
    post_user_id: Id
    post_created_at: Timestamp
    created_at: Timestamp

    key = Key("POST#{post_id}", "LIKE#{user_id}")
    by_user = On("GSI2", "USER#{user_id}", "LIKE#{created_at:iso}#{post_id}")


@design.pattern(requests=1)
def profile(user_id: str) -> Get[UserProfile]:
    """A profile."""
    return get(UserProfile.key(user_id=user_id))


@design.pattern(requests=1)
def profile_by_email(email: str) -> First[UserProfile]:
    """Login by email."""
    return UserProfile.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile_by_username(username: str) -> First[UserProfile]:
    """Login by username."""
    return UserProfile.by_username.query(username=username).first()


@design.pattern(requests=1)
def profile_by_handle(handle: str) -> First[UserProfile]:
    """Profile by @handle."""
    return UserProfile.by_handle.query(handle=handle).first()


@design.pattern(requests=1)
def post_by_id(post_id: str) -> First[Post]:
    """Get post by ID."""
    return Post.by_id.query(post_id=post_id).first()


@design.pattern(requests=1)
def posts_of_user(user_id: str, limit: int = 50) -> Query[Post]:
    """A user's posts, newest first."""
    return Post.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def followers(user_id: str, limit: int = 50) -> Query[Follow]:
    """Get user's followers."""
    return Follow.by_followee.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def following(user_id: str, limit: int = 50) -> Query[Follow]:
    """Whom a user follows."""
    return Follow.key.query(follower_id=user_id).limit(limit)


@design.pattern(requests=1)
def comment_by_id(comment_id: str) -> First[Comment]:
    """Get comment by ID."""
    return Comment.by_id.query(comment_id=comment_id).first()


@design.pattern(requests=1)
def comments_of_user(user_id: str, limit: int = 50) -> Query[Comment]:
    """User's comments, newest first."""
    return Comment.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def comments_of_post(post_id: str, limit: int = 50) -> Query[Comment]:
    """A post's comments, in order."""
    return Comment.key.query(post_id=post_id).limit(limit)


@design.pattern(requests=1)
def likes_of_user(user_id: str, limit: int = 50) -> Query[Like]:
    """User's liked posts, newest first."""
    return Like.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def likers_of_post(post_id: str, limit: int = 50) -> Query[Like]:
    """Who likes a post."""
    return Like.key.query(post_id=post_id).limit(limit)


@design.pattern(requests=1)
def like_of(post_id: str, user_id: str) -> Get[Like]:
    """Whether a user likes a post."""
    return get(Like.key(post_id=post_id, user_id=user_id))
