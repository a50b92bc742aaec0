"""Who follows and who keeps away whom, and what that means for what they write."""

from __future__ import annotations

from typing import Any, TypeVar

from keyfold import AsyncDb, Entity, Page, Ref, check, create, delete, missing, put
from keyfold.api import (
    Conflict,
    Invalid,
    NotAllowed,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold_systems.tamafriends.design import Block, Follow, UserProfile, followers, following

E = TypeVar("E", bound=Entity)


class RelationOperations:
    """Follows and blocks."""

    db: AsyncDb

    @mutation("/users/{user_id}/following", name="follow", allow=itself("user_id"), status=201)
    async def follow(self, user_id: str, followee_id: str) -> Follow:
        """Follow somebody."""
        if followee_id == user_id:
            raise Invalid("followeeId", "you cannot follow yourself")
        edge = Follow(follower_id=user_id, followee_id=followee_id)
        followee = UserProfile.key(user_id=followee_id)
        try:
            return await self._add(edge, followee, between=(followee_id, user_id))
        except AlreadyExists:
            raise Conflict("You follow them already.", code="ALREADY_FOLLOWING") from None

    @mutation(
        "/users/{user_id}/following/{followee_id}",
        name="unfollow",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def unfollow(self, user_id: str, followee_id: str) -> None:
        """Stop following somebody."""
        edge = Follow.key(follower_id=user_id, followee_id=followee_id)
        await self.db.delete(edge, must_exist=True)

    @query("/users/{user_id}/followers", allow=authenticated)
    async def followers(self, user_id: str, page: PageRequest) -> Page[Follow]:
        """Who follows somebody."""
        return await followers.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/following", allow=authenticated)
    async def following(self, user_id: str, page: PageRequest) -> Page[Follow]:
        """Whom somebody follows."""
        return await following.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation("/users/{user_id}/blocks", name="block", allow=itself("user_id"), status=201)
    async def block(self, user_id: str, blocked_id: str) -> Block:
        """Keep somebody away: they neither follow you nor like or comment what you post."""
        if blocked_id == user_id:
            raise Invalid("blockedId", "you cannot block yourself")
        results = await self.db.transact(
            put(Block(user_id=user_id, blocked_id=blocked_id)),
            delete(Follow.key(follower_id=blocked_id, followee_id=user_id)),
            delete(Follow.key(follower_id=user_id, followee_id=blocked_id)),
            check(UserProfile.key(user_id=user_id)),
            check(UserProfile.key(user_id=blocked_id)),
        )
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

    async def _add(self, new: E, target: Ref[Any], *, between: tuple[str, str]) -> E:
        """Write something of the second user's about the first's, if it is there and they may."""
        first, second = between
        pairs = dict.fromkeys([(first, second), (second, first)])
        blocks = [Block.key(user_id=one, blocked_id=other) for one, other in pairs]
        try:
            results = await self.db.transact(
                create(new),
                check(target),
                check(UserProfile.key(user_id=second)),
                *(check(block, where=lambda b: missing(b.user_id)) for block in blocks),
            )
        except ConditionFailed:
            raise NotAllowed("One of you has blocked the other.", code="BLOCKED") from None
        made: E = results[0]
        return made
