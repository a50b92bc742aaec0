"""The entities of gg_core: one table for people, groups, goals, quests, chat and feeds."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from keyfold import (
    AtMost,
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
    On,
    RemovedList,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
    exists,
    missing,
)
from keyfold_systems.gg_core import entities_types as typed

design = Design("gg_core", description="Goals, groups, quests, chat and a hybrid feed.")

table = design.table(
    "gg_core",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK", purpose="what a user owns, and who follows them"),
        Index("GSI2", "GSI2PK", "GSI2SK", purpose="users by nickname, and reports about them"),
        Index("GSI3", "GSI3PK", "GSI3SK", purpose="users by email"),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)

FEED_DAYS = 30
FEED_CAP = 1000
MOST_COPIES = 1_000_000
"""A post is copied to so many followers at most: some 25 seconds at 40,000 writes a second."""
MOST_REPLICAS = 80
"""Of the list of removed activities: 240,000 pages of the feed a second."""
SETTLED_AFTER = timedelta(seconds=10)
"""With 10^8 users and two removals a second, a page then reads the whole list for one unit."""

Text = Annotated[str, Field(min_length=1, max_length=200)]
LongText = Annotated[str, Field(max_length=4000)]
Tags = Annotated[set[Annotated[str, Field(min_length=1, max_length=40)]], AtMost(20)]

Tier = Literal["free", "plus", "pro"]
Pixels = Annotated[int, Field(ge=1, le=100_000)]


class User(typed.User, Entity, table=table):
    """A person's profile."""

    id: Id
    nickname: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{2,30}$")]
    email: Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
    full_name: Text
    language: Annotated[str, Field(max_length=10)] = "en"
    tags: Tags = set()
    tier: Tier = "free"
    xp: Annotated[int, Counter("Award", sums="xp", via={"id": "user_id"}, sync="stream")] = 0
    active_quests: Annotated[
        int, Counter("Quest", via={"id": "user_id"}, where=lambda q: q.status == "active")
    ] = 0
    leaving: bool = False
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("USER#{id}", "PROFILE#{id}")
    by_nickname = On("GSI2", "NICK#{nickname:lower}", "PROFILE#{id}")
    by_email = On("GSI3", "EMAIL#{email:lower}", "PROFILE#{id}")
    one_nickname = Unique("nickname", normalise=str.casefold)
    one_email = Unique("email", normalise=str.casefold)
    following = Cascade("Follow", via={"id": "follower_id"}, sync="stream")
    followed = Cascade("Follow", through="followers", via={"id": "followee_id"}, sync="stream")
    blocks = Cascade("Block", via={"id": "user_id"}, sync="stream")
    blocked = Cascade("Block", through="blockers", via={"id": "blocked_id"}, sync="stream")
    groups = Cascade("GroupMember", through="by_user", via={"id": "user_id"}, sync="stream")
    goals = Cascade("Goal", via={"id": "user_id"}, sync="stream")
    quests = Cascade("Quest", via={"id": "user_id"}, sync="stream")
    awards = Cascade("Award", via={"id": "user_id"}, sync="stream")
    notices = Cascade("Notice", via={"id": "user_id"}, sync="stream")
    told = Cascade("Notice", through="by_sender", via={"id": "from_id"}, sync="stream")
    reports = Cascade("Report", via={"id": "reporter_id"}, sync="stream")
    reported = Cascade("Report", through="by_owner", via={"id": "owner_id"}, sync="stream")
    followers_counter = Cascade("FollowersCounter", via={"id": "user_id"}, sync="stream")
    following_counter = Cascade("FollowingCounter", via={"id": "user_id"}, sync="stream")
    unread_counter = Cascade("UnreadCounter", via={"id": "user_id"}, sync="stream")


class Follow(typed.Follow, Entity, table=table):
    """One user follows another; the index shows it from the other side."""

    follower_id: Id
    followee_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
    followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")


class Block(typed.Block, Entity, table=table):
    """One user wants to have nothing to do with another."""

    user_id: Id
    blocked_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "BLOCK#{blocked_id}")
    blockers = On("GSI1", "USER#{blocked_id}", "BLOCKER#{user_id}")


class FollowersCounter(typed.FollowersCounter, Entity, table=table):
    """How many follow a user."""

    user_id: Id
    count: Annotated[
        int, Counter("Follow", via={"user_id": "followee_id"}, sync="stream", creates=True)
    ] = 0

    key = Key("USER#{user_id}", "COUNTER#FOLLOWERS")


class FollowingCounter(typed.FollowingCounter, Entity, table=table):
    """How many a user follows."""

    user_id: Id
    count: Annotated[
        int, Counter("Follow", via={"user_id": "follower_id"}, sync="stream", creates=True)
    ] = 0

    key = Key("USER#{user_id}", "COUNTER#FOLLOWING")


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class Group(typed.Group, Entity, table=table):
    """A project, or a community that stays."""

    group_id: Id
    name: Text
    description: LongText = ""
    owner_id: Id
    tags: Tags = set()
    is_persistent: bool = True
    owners: Annotated[int, Counter("GroupMember", where=lambda m: m.role == Role.OWNER)] = 0
    member_count: Annotated[int, Counter("GroupMember", sync="stream")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("GROUP#{group_id}", "GROUP#{group_id}")
    members = Cascade("GroupMember")
    rooms = Cascade("Room", through="by_group")
    activities = Cascade("Activity", through="of_group", sync="stream")


class GroupMember(typed.GroupMember, Entity, table=table):
    """A user in a group, also listed among the user's groups with the group's name."""

    group_id: Id
    user_id: Id
    role: Role = Role.MEMBER
    group_name: Annotated[str, Copied("Group", "name")]
    joined_at: Annotated[Timestamp, Field()]

    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "USER#{user_id}", "ENTITY#Group#{joined_at:iso}#{group_id}")


class Media(BaseModel):
    """A stored file; links to it are made when it is read."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    s3_key: Annotated[str, Field(max_length=300)]
    content_type: Annotated[str, Field(max_length=100)]
    width: Pixels | None = None
    height: Pixels | None = None


ObjectType = Literal["Goal", "Task", "Group", "Post"]
Verb = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""What was done. "post", "comment" and "goal_update" mean something here, others are shown."""


class Activity(
    typed.Activity,
    Entity,
    table=table,
    silence=(("W8", "the one record of what was done is kept, as the document says"),),
):
    """Something that a user or a group did: the one record of it, which stays.

    It is listed with what it belongs to: the group that did it, the goal that it tells of, or the
    post that it is a comment on.
    """

    actor_id: Id
    activity_id: Id
    author_id: Id
    verb: Verb
    object_type: ObjectType
    object_id: Id
    group_id: Id | None = None
    goal_id: Id | None = None
    post_id: Id | None = None
    post_actor_id: Id | None = None
    post_created_at: Timestamp | None = None
    preview_text: LongText = ""
    media: Media | None = None
    tags: Tags = set()
    created_at: Timestamp

    key = Key("ACTIVITY#{actor_id}", "TS#{created_at:iso}#{activity_id}")
    of_group = On(
        "GSI1",
        "GROUP#{group_id}",
        "ENTITY#Activity#{created_at:iso}#{activity_id}",
        when="group_id",
    )
    of_goal = On(
        "GSI1",
        "GOAL#{goal_id}",
        "ENTITY#Activity#{created_at:iso}#{activity_id}",
        when=lambda a: exists(a.goal_id) & missing(a.group_id),
    )
    on_post = On(
        "GSI1",
        "POST#{post_id}",
        "COMMENT#{created_at:iso}#{activity_id}",
        when=lambda a: exists(a.post_id) & missing(a.goal_id) & missing(a.group_id),
    )
    comments = Cascade(
        "Activity",
        through="on_post",
        via={
            "actor_id": "post_actor_id",
            "created_at": "post_created_at",
            "activity_id": "post_id",
        },
        sync="stream",
    )


class CommentsCounter(typed.CommentsCounter, Entity, table=table):
    """How many comments an activity has."""

    post_id: Id
    count: Annotated[int, Counter("Activity", sync="stream", creates=True)] = 0

    key = Key("POST#{post_id}", "COUNTER#COMMENTS")


class FeedItem(
    typed.FeedItem,
    Entity,
    table=table,
    silence=(("S8", "a group is the actor, a goal and a post are the object"),),
):
    """A copy of an activity in a follower's feed, for sources that push."""

    follower_id: Id
    activity_id: Id
    actor_id: Id
    author_id: Id
    verb: Verb
    object_type: ObjectType
    object_id: Id
    post_actor_id: Id | None = None
    post_created_at: Timestamp | None = None
    preview_text: str = ""
    media: Media | None = None
    tags: Tags = set()
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl()] = None

    key = Key("FEED#{follower_id}", "TS#{created_at:iso}#{activity_id}")


class Promotion(typed.Promotion, Entity, table=table):
    """A person's decision about how a source reaches its followers."""

    user_id: Id
    fanout_enabled: bool
    reason: Literal["followers", "volume", "manual"] = "manual"
    thresholds: dict[str, float] = {}
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("PROMO#{user_id}", "PROMO#{user_id}")


home = Feed(
    "home",
    activity=Activity,
    edge={Follow: "followers", GroupMember: "key"},
    item=FeedItem,
    promotion=Promotion,
    cap=FEED_CAP,
    ttl=timedelta(days=FEED_DAYS),
    policy=FeedPolicy(widest=MOST_COPIES),
    removed=RemovedList(replicas=MOST_REPLICAS, settled_after=SETTLED_AFTER),
)
