"""What one caller is shown: people, posts and comments, with all that a list shows of them.

Whoever is kept away by a block, on either side, is not among them. A page is completed by one batch
of reads, whatever stands in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from keyfold import AsyncDb, Ref
from keyfold_web import MediaStore, Missing, NotAllowed
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Image,
    Like,
    Notification,
    Post,
    UserProfile,
)
from keyfold_systems.tamafriends.payloads import (
    CommentView,
    ImageView,
    Notice,
    Person,
    PersonSince,
    PostView,
    Profile,
)


@dataclass(frozen=True)
class Company:
    """The people of a page: those who are there, and those behind a block."""

    people: dict[str, Person]
    apart: set[str]

    def admit(self, user_id: str) -> Person:
        """Somebody, or the reason why the caller cannot see them."""
        if user_id in self.apart:
            raise NotAllowed("One of you has blocked the other.", code="BLOCKED")
        if user_id not in self.people:
            raise Missing.of("user", user_id)
        return self.people[user_id]


@dataclass(frozen=True)
class Views:
    """The eyes of one caller."""

    db: AsyncDb
    me: str
    media: MediaStore | None = None

    async def company(self, ids: Iterable[str]) -> Company:
        """Those of these people whom the caller may see."""
        company, _ = await self._company(ids)
        return company

    async def admit(self, user_id: str) -> None:
        """Refuse the caller what is of somebody they cannot see."""
        (await self.company([user_id])).admit(user_id)

    async def profile(self, user_id: str) -> Profile:
        """Somebody's profile."""
        follows_me = Follow.key(follower_id=user_id, followee_id=self.me)
        more: list[Ref[Any]] = [UserProfile.key(user_id=user_id), follows_me]
        company, (found, edge) = await self._company([user_id], more)
        person = company.admit(user_id)
        return Profile(
            **dict(person),
            bio=found.bio,
            role=found.role,
            followers=found.followers,
            following=found.following,
            follows_you=edge is not None,
        )

    async def since(self, known: Sequence[tuple[str, Any]]) -> list[PersonSince]:
        """People of a list, each with a moment."""
        people = (await self.company(one for one, _ in known)).people
        return [PersonSince(user=people[one], since=at) for one, at in known if one in people]

    async def posts(self, found: Iterable[Post | None]) -> list[PostView]:
        """Posts with their authors, in their order, without those that are gone."""
        there = [post for post in found if post is not None]
        likes = [Like.key(post_id=post.post_id, user_id=self.me) for post in there]
        company, liked = await self._company((post.user_id for post in there), likes)
        return [
            self._post(post, company.people[post.user_id], like is not None)
            for post, like in zip(there, liked, strict=True)
            if post.user_id in company.people
        ]

    async def comments(self, found: Sequence[Comment]) -> list[CommentView]:
        """Comments with their authors, without those under posts that a block hides."""
        company = await self.company(id for one in found for id in (one.user_id, one.post_user_id))
        people = company.people
        return [
            CommentView(author=people[one.user_id], **_of(one, CommentView, "author"))
            for one in found
            if one.user_id in people and one.post_user_id not in company.apart
        ]

    async def notices(self, found: Sequence[Notification]) -> list[Notice]:
        """Notifications with who they are about."""
        people = (await self.company(one.actor_id for one in found if one.actor_id)).people
        return [
            Notice(
                actor=people.get(one.actor_id or ""),
                read=one.state == "read",
                **_of(one, Notice, "actor", "read"),
            )
            for one in found
            if one.actor_id is None or one.actor_id in people
        ]

    def person(self, profile: UserProfile, *, followed: bool = False) -> Person:
        """Somebody, as lists show them."""
        return Person(
            user_id=profile.user_id,
            handle=profile.handle,
            display_name=profile.display_name,
            picture=self.image(profile.picture) if profile.picture is not None else None,
            followed=followed,
        )

    def image(self, image: Image) -> ImageView:
        url = self.media.download(image.key).url if self.media is not None else None
        return ImageView(key=image.key, alt=image.alt, url=url)

    def _post(self, post: Post, author: Person, liked: bool) -> PostView:
        return PostView(
            author=author,
            liked=liked,
            images=[self.image(one) for one in post.images],
            **_of(post, PostView, "author", "liked", "images"),
        )

    async def _company(
        self, ids: Iterable[str], more: Sequence[Ref[Any]] = ()
    ) -> tuple[Company, list[Any]]:
        """The people, and more items that are read with them."""
        wanted = sorted(set(ids))
        others = [one for one in wanted if one != self.me]
        parts: list[list[Ref[Any]]] = [
            [UserProfile.key(user_id=one) for one in wanted],
            [Block.key(user_id=self.me, blocked_id=one) for one in others],
            [Block.key(user_id=one, blocked_id=self.me) for one in others],
            [Follow.key(follower_id=self.me, followee_id=one) for one in others],
            list(more),
        ]
        found = iter(await self.db.get_many([ref for part in parts for ref in part]))
        profiles, ours, theirs, follows, rest = ([next(found) for _ in part] for part in parts)
        apart = {one.blocked_id for one in ours if one} | {one.user_id for one in theirs if one}
        followed = {one.followee_id for one in follows if one}
        people = {
            one.user_id: self.person(one, followed=one.user_id in followed)
            for one in profiles
            if one is not None and one.user_id not in apart
        }
        return Company(people, apart), rest


def _of(item: Any, shown: type[Any], *without: str) -> dict[str, Any]:
    """The fields of an item that are shown as they are."""
    return {name: getattr(item, name) for name in shown.model_fields if name not in without}
