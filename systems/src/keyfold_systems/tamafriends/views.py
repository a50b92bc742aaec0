"""What callers send, and what they are shown: the fields of entities, with people's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints

from keyfold import AsyncDb, Ref, Timestamp
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
from keyfold_web import Payload, cleared, unchanged

V = TypeVar("V", bound=Payload)
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


class Person(Payload):
    """A user in a list."""

    user_id: str
    handle: str
    display_name: str
    pet: Pet | None


class ProfileView(Person):
    """A profile, without the email and the user name."""

    bio: str
    follower_count: int
    following_count: int
    version: int
    created_at: Timestamp | None


class Account(ProfileView):
    """A profile as its user, or the login, sees it."""

    email: str
    username: str


class PostView(Payload):
    """A post with its author, and whether the caller likes it."""

    post_id: str
    author: Person
    text: str
    scene: Scene
    like_count: int
    comment_count: int
    liked: bool
    created_at: Timestamp


class CommentView(Payload):
    """A comment with its author."""

    comment_id: str
    post_id: str
    author: Person
    text: str
    created_at: Timestamp


def view_of(view: type[V], item: Any, **more: Any) -> V:
    """A view of an item: its fields of the same names, and what is given beside them."""
    own = {name: getattr(item, name) for name in view.model_fields if name not in more}
    return view(**own, **more)


async def people(db: AsyncDb, ids: Iterable[str]) -> dict[str, Person]:
    """The users of a list, in one batch."""
    refs = [UserProfile.key(user_id=one) for one in sorted(set(ids))]
    found = await db.get_many(refs)
    return {one.user_id: view_of(Person, one) for one in found if one is not None}


async def show_posts(db: AsyncDb, posts: Sequence[Post], reader_id: str) -> list[PostView]:
    """Posts with their authors and the reader's likes, in one batch."""
    refs: list[Ref[Any]] = [UserProfile.key(user_id=one) for one in {p.user_id for p in posts}]
    if reader_id:  # nobody in particular likes nothing
        refs += [Like.key(post_id=post.post_id, user_id=reader_id) for post in posts]
    found = [one for one in await db.get_many(refs) if one is not None]
    authors = {one.user_id: view_of(Person, one) for one in found if isinstance(one, UserProfile)}
    liked = {one.post_id for one in found if isinstance(one, Like)}
    return [
        view_of(PostView, post, author=authors[post.user_id], liked=post.post_id in liked)
        for post in posts
        if post.user_id in authors
    ]


async def show_comments(db: AsyncDb, comments: Sequence[Comment]) -> list[CommentView]:
    """Comments with their authors, in one batch."""
    authors = await people(db, (one.user_id for one in comments))
    return [
        view_of(CommentView, one, author=authors[one.user_id])
        for one in comments
        if one.user_id in authors
    ]
