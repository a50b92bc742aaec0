"""The entities of TamaFriends: the index allocation of its document, with base keys of our own.

A user's partition holds the profile, the posts by time and whom the user follows; a post's
partition holds its comments by time and its likes. So everything that one page shows of a user or
of a post is one query, and every counter's target is known from the counted item itself.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from keyfold import (
    Cascade,
    Copied,
    Counter,
    Created,
    Design,
    Entity,
    Feed,
    FeedPolicy,
    Id,
    Index,
    Key,
    Name,
    On,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
)
from keyfold_systems.tamafriends import entities_types as typed

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

FEED_DAYS = 30
MOST_COPIES = 1_000_000
"""The most followers that a post is copied to: some 25 seconds at 40,000 writes a second."""
NOTICE_DAYS = 60
SESSION_DAYS = 30
MOST_IMAGES = 4

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Email = Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
Username = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,30}$")]
Handle = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{2,30}$")]


Role = Literal["member", "moderator", "admin"]


class Image(BaseModel):
    """A stored picture; links to it are made when it is read."""

    key: Annotated[str, Field(max_length=512)]
    alt: Annotated[str, Field(max_length=500)] = ""


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
    picture: Image | None = None
    role: Role = "member"
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
    sessions = Cascade("Session", sync="stream")
    posts = Cascade("Post", sync="stream")
    follows = Cascade("Follow", via={"user_id": "follower_id"}, sync="stream")
    followed = Cascade(
        "Follow", through="by_followee", via={"user_id": "followee_id"}, sync="stream"
    )
    comments = Cascade("Comment", through="by_user", sync="stream")
    likes = Cascade("Like", through="by_user", sync="stream")
    blocks = Cascade("Block", sync="stream")
    blocked = Cascade("Block", through="by_blocked", via={"user_id": "blocked_id"}, sync="stream")
    notices = Cascade("Notification", sync="stream")
    inbox = Cascade("Inbox", sync="stream")
    copies = Cascade("FeedItem", via={"user_id": "reader_id"}, sync="stream")
    reports = Cascade("Report", through="by_user", sync="stream")
    reported = Cascade("Report", through="by_author", via={"user_id": "author_id"}, sync="stream")


class Credential(typed.Credential, Entity, table=table):
    """What somebody proves themselves with, apart from the profile that everybody may read.

    Its fields are those of `keyfold_web.PasswordFields`.
    """

    user_id: Id
    password: str
    failures: int = 0
    locked_until: Timestamp | None = None
    session: int = 1
    """Sessions of another generation are over: one write ends all of them."""
    reset: str | None = None
    reset_until: Timestamp | None = None

    key = Key("USER#{user_id}", "CREDENTIAL")


class Session(typed.Session, Entity, table=table):
    """Somebody is signed in; of the token only a digest is kept."""

    user_id: Id
    session_id: Id
    digest: bytes
    generation: int
    device: Annotated[str, Field(max_length=200)] = ""
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl(days=SESSION_DAYS, after="created_at")] = None

    key = Key("USER#{user_id}", "SESSION#{session_id}")


class Post(typed.Post, Entity, table=table, type_name="POST"):
    """Something a user shares, for good or for a while."""

    user_id: Id
    post_id: Id
    text: Annotated[str, Field(max_length=2000)]
    images: Annotated[list[Image], Field(max_length=MOST_IMAGES)] = []
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
    by_blocked = On("GSI1", "USER#{blocked_id}", "BLOCKER#{user_id}")


class Comment(typed.Comment, Entity, table=table, type_name="COMMENT"):
    """Something said about a post; it carries where the post is, so that counting reads nothing."""

    post_id: Id
    comment_id: Id
    user_id: Id
    user_handle: Annotated[str, Copied("UserProfile", "handle", through="by_user")]
    text: Text
    post_user_id: Id
    post_created_at: Timestamp
    version: Annotated[int, Version()] = 0
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None

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


class FeedItem(
    typed.FeedItem,
    Entity,
    table=table,
    silence=(("S8", "a page reads its posts in one batch, with likes and edits of this moment"),),
):
    """Where a post is, in a follower's feed; what it says is read with it, as it is by then."""

    reader_id: Id
    user_id: Id
    post_id: Id
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl(), Name("ttl")] = None

    key = Key("FEED#{reader_id}", "POST#{created_at:iso}#{post_id}")


home = Feed(
    "home",
    activity=Post,
    edge={Follow: "by_followee"},
    item=FeedItem,
    ttl=timedelta(days=FEED_DAYS),
    policy=FeedPolicy(widest=MOST_COPIES),
    removed=None,  # the home page reads the posts themselves
)


class Notification(typed.Notification, Entity, table=table):
    """Something that happened to a user; it goes when what it tells of is taken back."""

    user_id: Id
    notification_id: Id
    kind: Literal["follow", "like", "comment", "removal"]
    actor_id: Id | None = None
    post_id: Id | None = None
    comment_id: Id | None = None
    text: str = ""
    state: Literal["unread", "read"] = "unread"
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl(days=NOTICE_DAYS, after="created_at")] = None

    key = Key("NOTICES#{user_id}", "NOTICE#{created_at:iso}#{notification_id}")


class Inbox(typed.Inbox, Entity, table=table):
    """How many notifications a user has not read."""

    user_id: Id
    unread: Annotated[
        int,
        Counter("Notification", where=lambda n: n.state == "unread", sync="stream", creates=True),
    ] = 0

    key = Key("NOTICES#{user_id}", "INBOX")


Reportable = Literal["post", "comment", "user"]
Reason = Literal["spam", "abuse", "other"]


class Report(
    typed.Report,
    Entity,
    table=table,
    silence=(("X8", "only what is undecided is here: some hundreds, read by moderators"),),
):
    """Somebody wants moderators to look at something; it stays until one decided."""

    kind: Reportable
    target_id: Id
    user_id: Id
    author_id: Id
    post_id: Id | None = None
    reason: Reason
    text: Annotated[str, Field(max_length=500)] = ""
    excerpt: Annotated[str, Field(max_length=200)] = ""
    created_at: Timestamp

    key = Key("REPORTS", "REPORT#{kind}#{target_id}#{user_id}")
    by_author = On("GSI1", "USER#{author_id}", "REPORTED#{kind}#{target_id}#{user_id}")
    by_user = On("GSI2", "USER#{user_id}", "REPORT#{created_at:iso}#{target_id}")
