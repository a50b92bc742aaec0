"""What callers send, and what they are shown where it is not the stored item itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from keyfold import Timestamp
from keyfold.fields import one_spelling
from keyfold_systems.gg_core.entities import (
    MOST_IN_A_ROOM,
    Activity,
    Difficulty,
    Email,
    GroupMember,
    Links,
    LongText,
    Media,
    Message,
    Nickname,
    ObjectType,
    Room,
    Tags,
    Text,
    User,
    Verb,
)
from keyfold_web import ItemView, Payload, cleared, unchanged

OneSpelling = BeforeValidator(
    lambda given: one_spelling(given) if isinstance(given, str) else given
)
Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that a user types, without the blanks around it; blanks alone are refused."""
Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Hours = Annotated[int, Field(ge=1, le=24 * 365)]
AnyId = Annotated[str, Field(min_length=1, max_length=100)]


class NewUser(Payload):
    """A profile."""

    nickname: Annotated[Nickname, OneSpelling]
    email: Annotated[Email, OneSpelling]
    full_name: Stated
    language: Annotated[str, Field(max_length=10)] = "en"
    tags: Tags = []


class UserChange(Payload):
    """What changes in a profile."""

    nickname: Annotated[Nickname, OneSpelling] = unchanged()
    email: Annotated[Email, OneSpelling] = unchanged()
    full_name: Stated = unchanged()
    language: Annotated[str, Field(max_length=10)] | None = cleared("en")
    tags: Tags | None = cleared([])


class Person(ItemView, of=User, only=("user_id", "nickname", "full_name", "tags", "tier")):
    """What everybody sees of a user."""


class Counts(Payload):
    """How many follow a user, and how many the user follows."""

    followers: int
    following: int


class Profile(Person, Counts):
    """A user, with the counts, and whether the caller follows."""

    followed_by_me: bool


class Owned(Payload):
    """An entry of a user's timeline: an entity of GSI1."""

    type: Literal["User", "Group", "Goal", "Task", "Quest"]
    id: str
    title: str
    at: Timestamp


class NewGroup(Payload):
    """A project, or a community that stays."""

    name: Stated
    description: LongText = ""
    tags: Tags = []
    is_persistent: bool = False


class Member(ItemView, of=GroupMember, only=("role", "joined_at")):
    """A member of a group."""

    person: Person


class Membership(ItemView, of=GroupMember, without=("user_id",)):
    """A group that a user is in."""

    name: str


class NewGoal(Payload):
    """Something to reach."""

    title: Stated
    description: LongText = ""


class NewTask(Payload):
    """A step towards a goal."""

    title: Stated
    due_at: Timestamp | None = None


class NewActivity(Payload):
    """Something you did, or a group that you are an owner or admin of."""

    actor_id: AnyId | None = None
    verb: Verb = "post"
    object_type: ObjectType = "Post"
    object_id: AnyId | None = None
    preview_text: LongText = ""
    media: Media | None = None
    tags: Tags = []


class Entry(ItemView, of=Activity, without=("media", "tags")):
    """An activity as it is read."""

    actor_name: str
    promoted: bool
    """Whether it comes to its followers as a copy."""
    media_url: str | None


class NewQuest(Payload):
    """A challenge: linked to goals and tasks of yours, or counted."""

    title: Stated
    description: LongText | None = None
    difficulty: Difficulty = "easy"
    tags: Tags = []
    deadline: Timestamp | None = None
    kind: Literal["linked", "quantitative"]
    linked_goal_ids: Links | None = None
    linked_task_ids: Links | None = None
    target_count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    count_scope: Literal["any", "linked"] | None = None
    start_at: Timestamp | None = None
    period_seconds: Annotated[int, Field(ge=60, le=366 * 86_400)] | None = None


class NewRoom(Payload):
    """Whom to talk to: one other user is a "dm", more are a "group"."""

    members: Annotated[list[AnyId], Field(min_length=1, max_length=MOST_IN_A_ROOM - 1)]


class RoomView(ItemView, of=Room, only=("room_id", "scope")):
    """A room, and who else is in it."""

    people: list[Person]


class MessageView(ItemView, of=Message, without=("expires_at",)):
    """A message, and who wrote it."""

    user_name: str
