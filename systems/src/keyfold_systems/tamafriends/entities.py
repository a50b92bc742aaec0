"""The five entities of TamaFriends, with the keys and attribute names of its document.

Index keys are the document's. Of the base keys it gives one, a post's partition; the other base
keys are ours, and each stands on one line here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from keyfold import (
    Counter,
    Created,
    Design,
    Entity,
    Id,
    Index,
    InKey,
    Key,
    Name,
    On,
    RefersTo,
    Stored,
    Timestamp,
    Unique,
    Updated,
    Version,
    new_ulid,
)
from keyfold.fields import one_spelling

design = Design("tamafriends", description="Pets, their people, and what they post.")

table = design.table(
    "tamafriends",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK", purpose="an entity by its id, or by its target"),
        Index("GSI2", "GSI2PK", "GSI2SK", purpose="what a user owns; the target of a follow"),
        Index("GSI3", "GSI3PK", "GSI3SK", purpose="a user by a public identifier"),
    ],
    stream="NEW_AND_OLD_IMAGES",
    ttl="ttl",  # of remembered request ids; no entity of the document expires
)

Time = Annotated[Timestamp, Stored("iso_ms")]
Made = Annotated[Timestamp | None, Created(), Stored("iso_ms")]
Email = Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
Username = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,30}$")]
Handle = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{2,30}$")]
PostSK = Annotated[str, Field(pattern=r"^POST#[^#]+#[^#]+$")]
Kind = Literal["cat", "dog", "bird", "rabbit", "turtle"]
Scene = Literal["meadow", "sofa", "rain", "night", "bath"]

WHOLE = "post_sk is a whole sort key and begins with POST#: its pattern says so"
PROCESSORS = "the document's stream processors read GSI2PK; its readers read GSI1"
KEPT = "the document lets nothing expire"
SPELLING = "the service stores new ones in one spelling; older ones stay as they are"


class Pet(BaseModel):
    """The animal that a profile is about; pages draw it."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    kind: Kind = "cat"
    colour: Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")] = "#e8a15c"


class UserProfile(Entity, table=table, type_name="USER_PROFILE", silence=(("K13", SPELLING),)):
    """A user."""

    user_id: Id
    email: Email
    username: Username
    handle: Handle
    display_name: Annotated[str, Field(min_length=1, max_length=80)]
    bio: Annotated[str, Field(max_length=300)] = ""
    pet: Pet | None = None
    follower_count: Annotated[
        int, Counter("Follow", via={"user_id": "followee_id"}, sync="stream")
    ] = 0
    following_count: Annotated[
        int, Counter("Follow", via={"user_id": "follower_id"}, sync="stream")
    ] = 0
    version: Annotated[int, Version()] = 0
    created_at: Made = None
    updated_at: Annotated[Timestamp | None, Updated(), Stored("iso_ms")] = None

    key = Key("USER#{user_id}", "PROFILE")
    by_email = On("GSI1", "EMAIL#{email}", "USER#{user_id}")
    by_username = On("GSI2", "USERNAME#{username}", "USER#{user_id}")
    by_handle = On("GSI3", "HANDLE#{handle}", "USER#{user_id}")
    one_email = Unique("email", normalise=one_spelling)
    one_username = Unique("username", normalise=one_spelling)
    one_handle = Unique("handle", normalise=one_spelling)


class Post(Entity, table=table, type_name="POST", silence=(("K4", WHOLE),)):
    """Something that a user shares.

    Its sort key is one field, `post_sk`, because likes and comments carry it whole, as `postSK`.
    """

    user_id: Annotated[Id, RefersTo("UserProfile")]
    post_sk: Annotated[PostSK, InKey()]
    post_id: Id
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    scene: Scene = "meadow"
    like_count: Annotated[int, Counter("Like", via={"user_id": "post_user_id"}, sync="stream")] = 0
    comment_count: Annotated[
        int, Counter("Comment", via={"user_id": "post_user_id"}, sync="stream")
    ] = 0
    created_at: Time

    key = Key("USER#{user_id}", "{post_sk}")
    by_id = On("GSI1", "POST#{post_id}", "USER#{user_id}")

    @classmethod
    def new(
        cls, user_id: str, text: str, at: datetime, scene: Scene = "meadow", post_id: str = ""
    ) -> Self:
        """A post of this moment, with its sort key."""
        post_id, stamp = post_id or new_ulid(), at.isoformat(timespec="milliseconds")
        return cls(
            user_id=user_id,
            post_sk=f"POST#{stamp.replace('+00:00', 'Z')}#{post_id}",
            post_id=post_id,
            text=text,
            scene=scene,
            created_at=at,
        )


class Follow(Entity, table=table, type_name="FOLLOW", silence=(("K4", WHOLE),)):
    """One user follows another; both ids are in the keys, where processors look for them."""

    follower_id: Annotated[Id, InKey(), RefersTo("UserProfile")]
    followee_id: Annotated[Id, InKey(), RefersTo("UserProfile")]
    created_at: Made = None

    key = Key("USER#{follower_id}", "FOLLOW#{followee_id}")
    by_followee = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")
    by_target = On(
        "GSI2", "USER#{followee_id}", "FOLLOW#{follower_id}", silence=(("X2", PROCESSORS),)
    )


class Comment(Entity, table=table, type_name="COMMENT", silence=(("W8", KEPT),)):
    """Something said about a post, with the address of the post that counts it."""

    post_id: Id
    comment_id: Id
    user_id: Annotated[Id, RefersTo("UserProfile")]
    text: Annotated[str, Field(min_length=1, max_length=1000)]
    post_user_id: Id
    post_sk: Annotated[PostSK, Name("postSK")]
    created_at: Time

    key = Key("POST#{post_id}", "COMMENT#{created_at:iso_ms}#{comment_id}")
    by_id = On("GSI1", "COMMENT#{comment_id}", "POST#{post_id}")
    by_user = On("GSI2", "USER#{user_id}", "COMMENT#{created_at:iso_ms}#{comment_id}")

    @classmethod
    def on(cls, post: Post, user_id: str, text: str, at: datetime, comment_id: str = "") -> Self:
        """A comment of this moment on a post."""
        return cls(
            post_id=post.post_id,
            comment_id=comment_id or new_ulid(),
            user_id=user_id,
            text=text,
            post_user_id=post.user_id,
            post_sk=post.post_sk,
            created_at=at,
        )


class Like(Entity, table=table, type_name="LIKE"):
    """A user likes a post, at most once; with the address of the post that counts it."""

    post_id: Id
    user_id: Annotated[Id, RefersTo("UserProfile")]
    post_user_id: Id
    post_sk: Annotated[PostSK, Name("postSK")]
    created_at: Time

    key = Key("POST#{post_id}", "LIKE#{user_id}")
    by_user = On("GSI2", "USER#{user_id}", "LIKE#{post_id}")

    @classmethod
    def of(cls, post: Post, user_id: str, at: datetime) -> Self:
        """A user's like of a post."""
        return cls(
            post_id=post.post_id,
            user_id=user_id,
            post_user_id=post.user_id,
            post_sk=post.post_sk,
            created_at=at,
        )
