"""What callers send and get besides the entities."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from keyfold.api import Payload
from keyfold_systems.tamafriends.design import Email, Handle, Text, Username

Hours = Annotated[int, Field(ge=1, le=24 * 365)]
Password = Annotated[str, Field(min_length=8, max_length=200)]

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
DisplayName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class NewAccount(Payload):
    """What you say to join."""

    email: Email
    username: Username
    handle: Handle
    display_name: DisplayName
    password: Password


class Login(Payload):
    """Email or username, and password."""

    login: Annotated[str, Field(min_length=1, max_length=200)]
    password: Password


class Signed(Payload):
    """A token for the following requests."""

    user_id: str
    token: str


class ProfileChange(Payload):
    """What changes about you; what is left out stays."""

    email: Email | None = None
    username: Username | None = None
    handle: Handle | None = None
    display_name: DisplayName | None = None
    bio: Annotated[str, Field(max_length=500)] | None = None


class Profile(Payload):
    """What everybody sees of a user."""

    user_id: str
    handle: str
    display_name: str
    bio: str
    followers: int
    following: int
