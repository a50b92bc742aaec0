"""The items of gg_core, with the keys and attribute names of its document."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

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
    States,
    Stored,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
)
from keyfold.feeds import Feed, Flag, Threshold
from keyfold.fields import one_spelling

design = Design("gg_core", description="Goals, groups, quests, chat and a hybrid feed.")

table = design.table(
    "gg_core",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK", purpose="what a user owns; reverse edges"),
        Index("GSI2", "GSI2PK", "GSI2SK", purpose="a user by nickname"),
        Index("GSI3", "GSI3PK", "GSI3SK", purpose="a user by email"),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)

FEED_DAYS = 30
FEED_CAP = 1000
MANY_FOLLOWERS = 10_000
MANY_ACTIVITIES = 5_000
"""How many promote an author, unless an operator has decided."""
MOST_LINKS = 20
MOST_IN_A_ROOM = 20

Time = Annotated[Timestamp, Stored("iso_ms")]
Later = Annotated[Timestamp | None, Stored("iso_ms")]
Made = Annotated[Timestamp | None, Created(), Stored("iso_ms")]
Changed = Annotated[Timestamp | None, Updated(), Stored("iso_ms")]
Expiry = Annotated[Timestamp | None, Ttl(), Name("ttl")]
Text = Annotated[str, Field(min_length=1, max_length=200)]
LongText = Annotated[str, Field(max_length=4000)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(max_length=20)]
Links = Annotated[list[Id], Field(max_length=MOST_LINKS)]
Nickname = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{2,30}$")]
Email = Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
Pixels = Annotated[int, Field(ge=1, le=100_000)]
Verb = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
ObjectType = Literal["Goal", "Task", "Group", "Post"]
Difficulty = Literal["easy", "medium", "hard"]

KEPT = "the document: written once, the single source of truth"
ORDERED = "the document lists what a user owns by time, in GSI1"
SHORTER = "the document's FeedItem has no tags; the one record is the activity"
SPELLING = "the service stores new ones in one spelling; older ones stay as they are"


class User(Entity, table=table, silence=(("K13", SPELLING), ("X11", ORDERED))):
    """A profile."""

    user_id: Annotated[Id, Name("id")]
    nickname: Nickname
    email: Email
    full_name: Text
    language: Annotated[str, Field(max_length=10)] = "en"
    tags: Tags = []
    tier: Literal["free", "plus", "pro"] = "free"
    version: Annotated[int, Version()] = 0
    created_at: Time
    updated_at: Changed = None

    key = Key("USER#{user_id}", "PROFILE#{user_id}")
    by_owner = On("GSI1", "USER#{user_id}", "ENTITY#User#{created_at:iso_ms}")
    by_nickname = On("GSI2", "NICK#{nickname}", "PROFILE#{user_id}")
    by_email = On("GSI3", "EMAIL#{email}", "PROFILE#{user_id}")
    one_nickname = Unique("nickname", normalise=one_spelling)
    one_email = Unique("email", normalise=one_spelling)


class Follow(Entity, table=table):
    """One user follows another: one item, with the reverse edge in GSI1."""

    follower_id: Annotated[Id, RefersTo("User")]
    followee_id: Annotated[Id, RefersTo("User")]
    created_at: Made = None

    key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
    followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")


class FollowersCounter(Entity, table=table):
    """How many follow a user."""

    user_id: Annotated[Id, InKey()]
    count: Annotated[
        int,
        Counter("Follow", via={"user_id": "followee_id"}, creates=True, stamps="updated_at"),
    ] = 0
    updated_at: Later = None

    key = Key("USER#{user_id}", "COUNTER#FOLLOWERS")


class FollowingCounter(Entity, table=table):
    """How many a user follows."""

    user_id: Annotated[Id, InKey()]
    count: Annotated[
        int,
        Counter("Follow", via={"user_id": "follower_id"}, creates=True, stamps="updated_at"),
    ] = 0
    updated_at: Later = None

    key = Key("USER#{user_id}", "COUNTER#FOLLOWING")


class ActivitiesCounter(Entity, table=table):
    """How much a user or a group has posted: a counter of ours, by which volume promotes."""

    actor_id: Annotated[Id, InKey()]
    count: Annotated[int, Counter("Activity", creates=True, sync="stream", stamps="updated_at")] = 0
    updated_at: Later = None

    key = Key("USER#{actor_id}", "COUNTER#ACTIVITIES")


class Group(Entity, table=table):
    """A project or a community."""

    group_id: Id
    name: Text
    description: LongText = ""
    owner_id: Annotated[Id, RefersTo("User")]
    tags: Tags = []
    is_persistent: bool = False
    version: Annotated[int, Version()] = 0
    created_at: Made = None
    updated_at: Changed = None

    key = Key("GROUP#{group_id}", "GROUP#{group_id}")


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class GroupMember(Entity, table=table):
    """A user in a group."""

    group_id: Id
    user_id: Id
    role: Role = Role.MEMBER
    joined_at: Time

    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "USER#{user_id}", "ENTITY#Group#{joined_at:iso_ms}#{group_id}")


class Goal(Entity, table=table, silence=(("X11", ORDERED),)):
    """A goal of a user."""

    user_id: Id
    goal_id: Id
    title: Text
    description: LongText = ""
    completed_at: Later = None
    created_at: Time

    key = Key("USER#{user_id}", "GOAL#{goal_id}")
    by_owner = On("GSI1", "USER#{user_id}", "ENTITY#Goal#{created_at:iso_ms}")


class Task(Entity, table=table):
    """A task of a goal; in its user's timeline if it is due at some time.

    The id of a new task begins with that of its goal, so that a quest's link leads to its key.
    """

    goal_id: Id
    task_id: Id
    user_id: Id
    title: Text
    due_at: Later = None
    completed_at: Later = None

    key = Key("GOAL#{goal_id}", "TASK#{task_id}")
    by_due = On("GSI1", "USER#{user_id}", "ENTITY#Task#{due_at:iso_ms}#{task_id}", when="due_at")


class Media(BaseModel):
    """A file in S3."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    s3_key: Annotated[str, Field(max_length=300)]
    content_type: Annotated[str, Field(max_length=100)]
    width: Pixels
    height: Pixels


class Activity(Entity, table=table, silence=(("W8", KEPT),)):
    """Something that a user or a group did; written once."""

    activity_id: Id
    actor_id: Id
    verb: Verb
    object_type: ObjectType
    object_id: Id
    preview_text: LongText = ""
    media: Media | None = None
    tags: Tags = []
    created_at: Time

    key = Key("ACTIVITY#{actor_id}", "TS#{created_at:iso_ms}#{activity_id}")


class FeedItem(Entity, table=table, silence=(("S8", SHORTER),)):
    """An activity of a promoted user or group, in the feed of a follower."""

    follower_id: Annotated[Id, RefersTo("User")]
    activity_id: Id
    actor_id: Id
    verb: Verb
    object_type: ObjectType
    object_id: Id
    preview_text: str = ""
    media: Media | None = None
    created_at: Time
    expires_at: Expiry = None

    key = Key("FEED#{follower_id}", "TS#{created_at:iso_ms}#{activity_id}")


class Promotion(Entity, table=table):
    """Whether the activities of a user or a group are copied to the followers."""

    user_id: Id
    fanout_enabled: bool
    reason: Literal["followers", "volume"] = "followers"
    thresholds: dict[str, int] = {}
    updated_at: Changed = None

    key = Key("PROMO#{user_id}", "PROMO#{user_id}")


home = Feed(
    "home",
    activity=Activity,
    edge={Follow: "followers", GroupMember: "key"},
    item=FeedItem,
    push=Flag(
        Promotion,
        "fanout_enabled",
        since="updated_at",
        thresholds=(
            Threshold(
                FollowersCounter,
                "count",
                MANY_FOLLOWERS,
                sets={"reason": "followers", "thresholds": {"followers": MANY_FOLLOWERS}},
            ),
            Threshold(
                ActivitiesCounter,
                "count",
                MANY_ACTIVITIES,
                sets={"reason": "volume", "thresholds": {"volume": MANY_ACTIVITIES}},
            ),
        ),
    ),
    cap=FEED_CAP,
    ttl=timedelta(days=FEED_DAYS),
)


Status = Literal["active", "completed", "cancelled"]


class Quest(Entity, table=table, silence=(("X11", ORDERED),)):
    """A gamified action of a user; nothing but its status changes."""

    quest_id: Annotated[Id, Name("id")]
    user_id: Id
    title: Text
    description: LongText | None = None
    difficulty: Difficulty
    reward_xp: int
    status: Annotated[Status, States({"active": {"completed", "cancelled"}})] = "active"
    tags: Tags = []
    deadline: Later = None
    kind: Literal["linked", "quantitative"]
    linked_goal_ids: Links | None = None
    linked_task_ids: Links | None = None
    target_count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    count_scope: Literal["any", "linked"] | None = None
    start_at: Later = None
    period_seconds: Annotated[int, Field(ge=60, le=366 * 86_400)] | None = None
    created_at: Time
    updated_at: Changed = None

    key = Key("USER#{user_id}", "QUEST#{quest_id}")
    by_owner = On("GSI1", "USER#{user_id}", "ENTITY#Quest#{created_at:iso_ms}")


class Room(Entity, table=table):
    """A chat between two users, or of several."""

    room_id: Id
    scope: Literal["dm", "group"]
    members: Annotated[list[Id], Field(min_length=2, max_length=MOST_IN_A_ROOM)]
    created_at: Made = None

    key = Key("ROOM#{room_id}", "ROOM#{room_id}")


class Message(Entity, table=table):
    """Something said in a room."""

    room_id: Id
    message_id: Id
    user_id: Id
    text: Annotated[str, Field(min_length=1, max_length=4000)]
    created_at: Time
    expires_at: Expiry = None

    key = Key("ROOM#{room_id}", "MSG#{created_at:iso_ms}#{message_id}")


class RoomOfUser(Entity, table=table):
    """A room in the list of a member: ours, in a partition that the document does not use."""

    user_id: Id
    room_id: Id
    created_at: Made = None

    key = Key("ROOMS#{user_id}", "ROOM#{room_id}")
