"""Who follows and who keeps away whom, and what that means for what they write."""

from __future__ import annotations

from typing import Any

from keyfold import Page, check, delete, put
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists
from keyfold_systems.tamafriends.entities import Block, Follow, Notification, UserProfile, home
from keyfold_systems.tamafriends.operations.access import Part, member
from keyfold_systems.tamafriends.operations.notifications import inbox
from keyfold_systems.tamafriends.patterns import blocks_of, followers, following
from keyfold_systems.tamafriends.payloads import PersonSince


class Relations(Part):
    """Follows and blocks."""

    @mutation(
        "/users/{user_id}/following",
        name="follow",
        allow=itself("user_id") & member,
        status=201,
    )
    async def follow(self, user_id: str, followee_id: str) -> Follow:
        """Follow somebody; their posts come into your feed."""
        if followee_id == user_id:
            raise Invalid("followeeId", "you cannot follow yourself")
        edge = Follow(follower_id=user_id, followee_id=followee_id)
        followee = UserProfile.key(user_id=followee_id)
        _, shown = home.following(edge)
        try:
            return await self.add(edge, followee, shown, between=(followee_id, user_id))
        except AlreadyExists:
            raise Conflict("You follow them already.", code="ALREADY_FOLLOWING") from None

    @mutation(
        "/users/{user_id}/following/{followee_id}",
        name="unfollow",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def unfollow(self, user_id: str, followee_id: str) -> None:
        """Stop following somebody; their posts leave your feed at once."""
        edge = Follow(follower_id=user_id, followee_id=followee_id)
        await self.db.transact(*home.unfollowing(edge))

    @query("/users/{user_id}/followers", allow=authenticated)
    async def followers(
        self, user_id: str, page: PageRequest, caller: Identity
    ) -> Page[PersonSince]:
        """Who follows somebody."""
        await self.views(caller).admit(user_id)
        found = await followers.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await self._listed(caller, found, "follower_id")

    @query("/users/{user_id}/following", allow=authenticated)
    async def following(
        self, user_id: str, page: PageRequest, caller: Identity
    ) -> Page[PersonSince]:
        """Whom somebody follows."""
        await self.views(caller).admit(user_id)
        found = await following.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await self._listed(caller, found, "followee_id")

    @mutation("/users/{user_id}/blocks", name="block", allow=itself("user_id"), status=201)
    async def block(self, user_id: str, blocked_id: str) -> Block:
        """Keep somebody away: neither of you sees, follows or answers the other any more."""
        if blocked_id == user_id:
            raise Invalid("blockedId", "you cannot block yourself")
        results = await self.db.transact(
            put(Block(user_id=user_id, blocked_id=blocked_id)),
            delete(Follow.key(follower_id=blocked_id, followee_id=user_id)),
            delete(Follow.key(follower_id=user_id, followee_id=blocked_id)),
            check(UserProfile.key(user_id=user_id)),
            check(UserProfile.key(user_id=blocked_id)),
        )
        for reader, actor in ((user_id, blocked_id), (blocked_id, user_id)):
            await self._read_notices(reader, actor)
        made: Block = results[0]
        return made

    @mutation(
        "/users/{user_id}/blocks/{blocked_id}",
        name="unblock",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def unblock(self, user_id: str, blocked_id: str) -> None:
        """Let somebody near again."""
        await self.db.delete(Block.key(user_id=user_id, blocked_id=blocked_id), must_exist=True)

    @query("/users/{user_id}/blocks", allow=itself("user_id"))
    async def blocks(self, user_id: str, page: PageRequest) -> Page[PersonSince]:
        """Whom you keep away."""
        found = await blocks_of.after(page.cursor)(self.db, user_id, limit=page.limit)
        refs = [UserProfile.key(user_id=one.blocked_id) for one in found]
        profiles = await self.db.get_many(refs)
        views = self.views(Identity.of(user_id))
        listed = [
            PersonSince(user=views.person(profile), since=one.created_at)
            for one, profile in zip(found, profiles, strict=True)
            if profile is not None and one.created_at is not None
        ]
        return Page(listed, found.cursor)

    async def _read_notices(self, reader: str, actor: str) -> None:
        """What a block hides is not counted as unread."""
        hidden = Notification.key.query(user_id=reader).where(
            lambda n: (n.actor_id == actor) & (n.state == "unread")
        )
        async for page in self.db.pages(hidden):
            await inbox.mark(self.db, reader, {one.notification_id for one in page})

    async def _listed(self, caller: Identity, found: Page[Any], end: str) -> Page[PersonSince]:
        known = [(getattr(one, end), one.created_at) for one in found]
        return Page(await self.views(caller).since(known), found.cursor)
