"""What callers send, and what they are shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keyfold import Timestamp
from keyfold_web import MediaLink, Password, Payload, cleared, unchanged
from keyfold_systems.tamafriends.entities import (
    MOST_IMAGES,
    Email,
    Handle,
    Reason,
    Reportable,
    Text,
    Username,
)

Hours = Annotated[int, Field(ge=1, le=24 * 365)]
Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]
"""What a post says, if anything."""
Device = Annotated[str, Field(max_length=200)]
Grounds = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
DisplayName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class NewAccount(Payload):
    """What you say to join."""

    email: Email
    username: Username
    handle: Handle
    display_name: DisplayName
    password: Password
    device: Device = ""


class Login(Payload):
    """Email, username or @handle, and password."""

    login: Name
    password: Password
    device: Device = ""


class Signed(Payload):
    """A token for the following requests."""

    user_id: str
    session_id: str
    token: str


class SignedIn(Payload):
    """A place where you are signed in."""

    session_id: str
    device: str
    created_at: Timestamp
    current: bool


class NewImage(Payload):
    """A picture that you uploaded, by its key."""

    key: Annotated[str, Field(max_length=512)]
    alt: Annotated[str, Field(max_length=500)] = ""


class NewPost(Payload):
    """What you share: words, pictures or both; for some hours, or for good."""

    text: Words = ""
    images: Annotated[list[NewImage], Field(max_length=MOST_IMAGES)] = []
    hours: Hours | None = None


class ProfileChange(Payload):
    """What changes about you; what is left out stays, and null takes the picture away."""

    email: Email = unchanged()
    username: Username = unchanged()
    handle: Handle = unchanged()
    display_name: DisplayName = unchanged()
    bio: Annotated[str, Field(max_length=500)] | None = cleared("")
    picture: NewImage | None = None


class ImageView(Payload):
    """A picture, with a link that is made now; none where the server keeps no files."""

    key: str
    alt: str
    url: str | None


class Upload(MediaLink):
    """Send a file there; the key goes into a post or a profile."""

    key: str


class Person(Payload):
    """Somebody, as lists show them."""

    user_id: str
    handle: str
    display_name: str
    picture: ImageView | None
    followed: bool
    """Whether you follow them."""


class PersonSince(Payload):
    """Somebody in a list, and since when."""

    user: Person
    since: Timestamp


class Profile(Person):
    """What you see of somebody."""

    bio: str
    role: str
    followers: int
    following: int
    follows_you: bool


class PostView(Payload):
    """A post with its author, and whether you like it."""

    post_id: str
    user_id: str
    author: Person
    text: str
    images: list[ImageView]
    likes: int
    comments: int
    liked: bool
    version: int
    created_at: Timestamp
    updated_at: Timestamp | None
    expires_at: Timestamp | None


class LikedPost(Payload):
    """A post that you like, and since when."""

    post: PostView
    since: Timestamp


class CommentView(Payload):
    """A comment with its author."""

    comment_id: str
    post_id: str
    user_id: str
    author: Person
    text: str
    version: int
    created_at: Timestamp
    updated_at: Timestamp | None


class Notice(Payload):
    """Something that happened to you."""

    notification_id: str
    kind: Literal["follow", "like", "comment", "removal"]
    actor: Person | None
    post_id: str | None
    comment_id: str | None
    text: str
    read: bool
    created_at: Timestamp


What = Literal["new", "changed", "gone"]


class PostChange(Payload):
    """A post that is new, different or gone."""

    post_id: str
    user_id: str
    what: What


class NewReport(Payload):
    """What moderators should look at, and why; a comment is named with its post."""

    kind: Reportable
    target_id: Name
    post_id: Name | None = None
    reason: Reason
    text: Annotated[str, Field(max_length=500)] = ""


class OwnReport(Payload):
    """A report as its author sees it: what it is about may be kept from them by a block."""

    kind: Reportable
    target_id: str
    post_id: str | None = None
    reason: Reason
    text: str
    created_at: Timestamp


class ReportView(Payload):
    """A report with the names of who made it and of whom it is about."""

    kind: Reportable
    target_id: str
    post_id: str | None
    user_id: str
    user_name: str | None
    author_id: str
    author_name: str | None
    reason: Reason
    text: str
    excerpt: str
    created_at: Timestamp
