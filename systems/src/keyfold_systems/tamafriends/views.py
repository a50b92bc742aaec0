"""What callers send, and what they are shown: the fields of entities, with people's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from keyfold import AsyncDb, Ref
from keyfold.fields import one_spelling
from keyfold_systems.tamafriends.entities import (
    Comment,
    Email,
    Handle,
    Like,
    Pet,
    Post,
    Scene,
    Username,
    UserProfile,
)
from keyfold_web import ItemView, Payload, cleared, unchanged

OneSpelling = BeforeValidator(
    lambda given: one_spelling(given) if isinstance(given, str) else given
)
DisplayName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
PostText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Bio = Annotated[str, Field(max_length=300)]


class NewProfile(Payload):
    """A new profile."""

    email: Annotated[Email, OneSpelling]
    username: Annotated[Username, OneSpelling]
    handle: Annotated[Handle, OneSpelling]
    display_name: DisplayName
    bio: Bio = ""
    pet: Pet | None = None


class ProfileChange(Payload):
    """What changes in a profile; null removes the bio or the pet."""

    email: Annotated[Email, OneSpelling] = unchanged()
    username: Annotated[Username, OneSpelling] = unchanged()
    handle: Annotated[Handle, OneSpelling] = unchanged()
    display_name: DisplayName = unchanged()
    bio: Bio | None = cleared("")
    pet: Pet | None = None


class NewPost(Payload):
    """A new post."""

    text: PostText
    scene: Scene = "meadow"


class Person(ItemView, of=UserProfile, only=("user_id", "handle", "display_name", "pet")):
    """A user in a list."""


class ProfileView(ItemView, of=UserProfile, without=("email", "username", "updated_at")):
    """A profile, without the email and the user name."""


class Account(ItemView, of=UserProfile, without=("updated_at",)):
    """A profile as its user, or the login, sees it."""


class PostView(ItemView, of=Post, without=("user_id", "post_sk")):
    """A post with its author, and whether the caller likes it."""

    author: Person
    liked: bool


class CommentView(ItemView, of=Comment, only=("comment_id", "post_id", "text", "created_at")):
    """A comment with its author."""

    author: Person


async def people(db: AsyncDb, ids: Iterable[str]) -> dict[str, Person]:
    """The users of a list, in one batch."""
    refs = [UserProfile.key(user_id=one) for one in sorted(set(ids))]
    found = await db.get_many(refs)
    return {one.user_id: Person.of(one) for one in found if one is not None}


async def show_posts(db: AsyncDb, posts: Sequence[Post], reader_id: str) -> list[PostView]:
    """Posts with their authors and the reader's likes, in one batch."""
    refs: list[Ref[Any]] = [UserProfile.key(user_id=one) for one in {p.user_id for p in posts}]
    if reader_id:  # nobody in particular likes nothing
        refs += [Like.key(post_id=post.post_id, user_id=reader_id) for post in posts]
    found = [one for one in await db.get_many(refs) if one is not None]
    authors = {one.user_id: Person.of(one) for one in found if isinstance(one, UserProfile)}
    liked = {one.post_id for one in found if isinstance(one, Like)}
    return [
        PostView.of(post, author=authors[post.user_id], liked=post.post_id in liked)
        for post in posts
        if post.user_id in authors
    ]


async def show_comments(db: AsyncDb, comments: Sequence[Comment]) -> list[CommentView]:
    """Comments with their authors, in one batch."""
    authors = await people(db, (one.user_id for one in comments))
    return [
        CommentView.of(one, author=authors[one.user_id])
        for one in comments
        if one.user_id in authors
    ]
