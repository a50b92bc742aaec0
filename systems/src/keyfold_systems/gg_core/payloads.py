"""What callers send, and what they are shown where it is not the stored item itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keyfold import Timestamp
from keyfold_web import MediaLink, Payload, cleared, unchanged
from keyfold_systems.gg_core.entities import LongText, Media, ObjectType, Role, Tags, Text, Verb
from keyfold_systems.gg_core.notices import NoticeKind
from keyfold_systems.gg_core.oversight import ReportStatus, SubjectType
from keyfold_systems.gg_core.rooms import MOST_MEMBERS_OF_A_ROOM

Nickname = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{2,30}$")]
Email = Annotated[str, Field(pattern=r"^[^@\s#]+@[^@\s#]+$", max_length=200)]
Language = Annotated[str, Field(max_length=10)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Hours = Annotated[int, Field(ge=1, le=24 * 365)]
Thresholds = Annotated[dict[Name, float], Field(max_length=20)]
Note = Annotated[str, Field(max_length=1000)]
"""Why something was decided."""


class NewUser(Payload):
    """A profile."""

    nickname: Nickname
    email: Email
    full_name: Stated
    language: Language = "en"
    tags: Tags = set()


class UserChange(Payload):
    """What changes about a profile."""

    nickname: Nickname = unchanged()
    email: Email = unchanged()
    full_name: Stated = unchanged()
    language: Language | None = cleared("en")
    tags: Tags | None = cleared(set())


class Person(Payload):
    """What everybody sees of a user."""

    id: str
    nickname: str
    full_name: str
    language: str
    tags: Tags
    tier: str
    xp: int


class Counts(Payload):
    """How many follow somebody, and how many they follow."""

    followers: int
    following: int


class Profile(Person, Counts):
    """What everybody sees of a user, and how they and the caller stand to each other."""

    followed_by_me: bool
    follows_me: bool
    blocked_by_me: bool


class Followed(Payload):
    """A follow, with the one at its other end."""

    follower_id: str
    followee_id: str
    created_at: Timestamp | None
    person: Person | None
    followed_by_me: bool


class Blocked(Payload):
    """Somebody whom you blocked."""

    blocked_id: str
    created_at: Timestamp | None
    person: Person | None


class NewGroup(Payload):
    """A project, or a community that stays."""

    name: Stated
    description: LongText = ""
    tags: Tags = set()
    is_persistent: bool = True


class GroupChange(Payload):
    """What changes about a group; a project may become a community, and then stays one."""

    name: Stated = unchanged()
    description: LongText | None = cleared("")
    tags: Tags | None = cleared(set())
    is_persistent: Literal[True] = unchanged()


class Member(Payload):
    """Somebody in a group."""

    group_id: str
    user_id: str
    role: Role
    joined_at: Timestamp
    person: Person | None


class Membership(Payload):
    """A group that somebody is in."""

    group_id: str
    group_name: str
    user_id: str
    role: Role
    joined_at: Timestamp
    description: str
    is_persistent: bool
    member_count: int


class NewGoal(Payload):
    """Something to reach."""

    title: Stated
    description: LongText = ""
    tags: Tags = set()


class GoalChange(Payload):
    """What changes about a goal."""

    title: Stated = unchanged()
    description: LongText | None = cleared("")
    tags: Tags | None = cleared(set())


class NewTask(Payload):
    """A step towards a goal."""

    title: Stated
    due_at: Timestamp | None = None


class TaskChange(Payload):
    """What changes about a task."""

    title: Stated = unchanged()
    due_at: Timestamp | None = None


class DueTask(Payload):
    """A task that is due, with what it is for."""

    goal_id: str
    goal_title: str
    task_id: str
    title: str
    due_at: Timestamp | None
    completed_at: Timestamp | None


class NewActivity(Payload):
    """Something you did, or a group of yours."""

    actor_id: Name | None = None
    """A group that you are in; without it, it is you."""
    verb: Verb = "post"
    object_type: ObjectType = "Post"
    object_id: Name | None = None
    object_actor_id: Name | None = None
    """Whose post a comment is on; for a comment on a task, its goal."""
    object_created_at: Timestamp | None = None
    """When that post was made."""
    preview_text: LongText = ""
    media: Media | None = None
    tags: Tags = set()


class MediaView(Payload):
    """A stored file, with a link that is good for a while."""

    s3_key: str
    content_type: str
    width: int | None = None
    height: int | None = None
    url: str | None = None


class Entry(Payload):
    """An activity as it is read."""

    activity_id: str
    actor_id: str
    author_id: str
    author_name: str | None
    group_name: str | None
    """The group that it was done in, if any."""
    verb: Verb
    object_type: ObjectType
    object_id: str
    post_actor_id: str | None
    post_created_at: Timestamp | None
    """With the object's id, the post that a comment is on."""
    preview_text: str
    media: MediaView | None
    tags: Tags
    comments: int
    mine: bool
    created_at: Timestamp


class Upload(MediaLink):
    """Where to send a file, and the key to post it under."""

    s3_key: str


class Reason(Payload):
    """Why a follower gets copies."""

    follower_id: Name
    reason: str


class Reach(Payload):
    """How a source reaches its followers, as it was decided."""

    posts: float
    """A day, of late."""
    followers: int
    copied: int
    """Followers who get copies of each post; both counts stop at 10,000."""
    promoted: bool | None
    """What an administrator decided: copies for all, or for nobody."""
    reasons: list[Reason]
    """For some who get copies, why."""


class Way(Payload):
    """How one follower gets somebody's posts, and what the other way would save."""

    mode: Literal["pull", "push"]
    saving: float
    """Read units a day that the other way would save; negative if this one is cheaper."""
    price: float
    """Read units of a switch."""
    reason: str


class LinkedTask(Payload):
    """A task and the goal that it is under."""

    goal_id: Name
    task_id: Name


class NewQuest(Payload):
    """A challenge: linked to goals and tasks of yours, or counted."""

    title: Stated
    description: LongText = ""
    difficulty: Literal["easy", "medium", "hard"] = "easy"
    tags: Tags = set()
    deadline: Timestamp | None = None
    kind: Literal["linked", "quantitative"]
    linked_goal_ids: Annotated[set[Name], Field(max_length=20)] = set()
    linked_tasks: Annotated[list[LinkedTask], Field(max_length=20)] = []
    target_count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    count_scope: Literal["any", "linked"] = "any"
    start_at: Timestamp | None = None
    period_seconds: Annotated[int, Field(ge=60, le=366 * 86400)] | None = None


class NewRoom(Payload):
    """A room for some people, or for a whole group."""

    scope: Literal["dm", "group"]
    members: Annotated[set[Name], Field(max_length=MOST_MEMBERS_OF_A_ROOM)] = set()
    group_id: Name | None = None


class RoomView(Payload):
    """A room as it stands in a list."""

    room_id: str
    scope: Literal["dm", "group"]
    group_id: str | None
    title: str
    """The others in it, or the group."""
    people: list[Person]
    last_text: str | None
    last_by: str | None
    last_by_name: str | None
    last_at: Timestamp | None
    unread: bool


class MessageView(Payload):
    """A message, and who wrote it."""

    room_id: str
    message_id: str
    user_id: str
    author_name: str | None
    mine: bool
    text: str
    created_at: Timestamp
    expires_at: Timestamp | None


class NoticeView(Payload):
    """Something that concerns you."""

    notice_id: str
    kind: NoticeKind
    from_id: str | None
    from_name: str | None
    subject_id: str | None
    text: str
    created_at: Timestamp
    read_at: Timestamp | None


class News(Payload):
    """Something changed; whoever shows it reads it again."""

    changed: str
    id: str


class ReportView(Payload):
    """A report, with what it is about as that looks now."""

    reporter_id: str
    reporter_name: str | None
    subject_type: SubjectType
    subject_id: str
    place_id: str | None
    subject_created_at: Timestamp | None
    owner_id: str | None
    owner_name: str | None
    excerpt: str
    reason: str
    status: ReportStatus
    handled_by: str | None
    handled_by_name: str | None
    handled_at: Timestamp | None
    note: str
    created_at: Timestamp


class NewReport(Payload):
    """What should not be here, and why."""

    subject_type: SubjectType
    subject_id: Name
    place_id: Name | None = None
    """The actor of an activity, the room of a message."""
    created_at: Timestamp | None = None
    """When the activity or the message was made."""
    reason: Annotated[Text, StringConstraints(strip_whitespace=True)]
