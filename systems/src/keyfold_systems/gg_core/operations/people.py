"""Profiles, and who follows or blocks whom."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from keyfold import Page, check, missing, new_ulid, put, update
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound, UniqueTaken
from keyfold_systems.gg_core.entities import (
    Block,
    Follow,
    FollowersCounter,
    FollowingCounter,
    Tier,
    User,
    home,
)
from keyfold_systems.gg_core.operations.access import Part, blocks_between, registered
from keyfold_systems.gg_core.patterns import (
    blocked_users,
    followers,
    followers_count,
    following,
    following_count,
    user_by_email,
    user_by_nickname,
)
from keyfold_systems.gg_core.payloads import (
    Blocked,
    Counts,
    Followed,
    NewUser,
    Note,
    Person,
    Profile,
    UserChange,
)

ATTEMPTS = 5


class People(Part):
    """Profiles and follows."""

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in makes the profile, if the issuer knows an address."""
        email = caller.email
        if email is None or await self.db.find(User.key(id=caller.id)) is not None:
            return
        known = str(caller.claims.get("preferred_username") or email.partition("@")[0])
        wanted = re.sub(r"[^A-Za-z0-9_.-]", "", known)[:20] or "user"
        name = str(caller.claims.get("name") or known)[:200]
        for nickname in (wanted.ljust(2, "_"), f"{wanted}-{new_ulid()[-6:].lower()}"):
            with suppress(AlreadyExists, UniqueTaken, ValidationError):
                user = User(id=caller.id, nickname=nickname, email=email, full_name=name)
                await self.db.create(user)
                return

    @mutation(
        "/users",
        name="createUser",
        allow=authenticated,
        status=201,
        example={
            "input": {"nickname": "ada", "email": "ada@example.org", "fullName": "Ada Lang"},
        },
    )
    async def create_user(self, input: NewUser, caller: Identity) -> User:
        """Make your profile; nickname and email are yours alone."""
        try:
            return await self.db.create(User(id=caller.id, **dict(input)))
        except AlreadyExists:
            raise Conflict("You have a profile already.", code="ALREADY_REGISTERED") from None

    @mutation(
        "/users/{user_id}",
        name="updateUser",
        method="PATCH",
        allow=itself("user_id"),
        example={"input": {"tags": ["running"]}},
    )
    async def update_user(self, user_id: str, input: UserChange) -> User:
        """Change your profile."""
        ref = User.key(id=user_id)
        changed = input.given()
        return await self.db.update(ref, **changed) if changed else await self.db.get(ref)

    @mutation("/users/{user_id}/tier", name="changeTier", method="PUT", allow=admin)
    async def change_tier(
        self, user_id: str, tier: Tier, caller: Identity, note: Note = ""
    ) -> User:
        """Put somebody on another plan."""
        user = await self.present(user_id)
        entry = self.audited(caller, f"tier {tier}", f"user {user_id}", note)
        await self.db.transact(update(user.ref(), tier=tier), entry)
        return await self.db.get(user.ref())

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str, caller: Identity) -> Profile:
        """A profile, as everybody sees it, and how you stand to each other."""
        refs: list[Any] = [
            User.key(id=user_id),
            FollowersCounter.key(user_id=user_id),
            FollowingCounter.key(user_id=user_id),
            Follow.key(follower_id=caller.id, followee_id=user_id),
            Follow.key(follower_id=user_id, followee_id=caller.id),
            Block.key(user_id=caller.id, blocked_id=user_id),
        ]
        user, theirs, ours, mine, back, block = await self.db.get_many(refs)
        if user is None:
            raise Missing.of("user", user_id)
        return Profile(
            **dict(person_view(user)),
            followers=theirs.count if theirs else 0,
            following=ours.count if ours else 0,
            followed_by_me=mine is not None,
            follows_me=back is not None,
            blocked_by_me=block is not None,
        )

    @query("/users/{user_id}/account", allow=itself("user_id"))
    async def account(self, user_id: str) -> User:
        """Your own profile, with what only you see."""
        return await self.db.get(User.key(id=user_id))

    @query("/nicknames/{nickname}", allow=authenticated)
    async def user_by_nickname(self, nickname: str) -> Person:
        """A profile by nickname."""
        return person_view(_first(await user_by_nickname(self.db, nickname), nickname))

    @query("/emails/{email}", allow=admin)
    async def user_by_email(self, email: str) -> User:
        """A profile by email."""
        return _first(await user_by_email(self.db, email), email)

    @mutation("/following/{followee_id}", name="followUser", allow=registered, status=201)
    async def follow_user(self, followee_id: str, caller: Identity) -> Follow:
        """Follow somebody; their recent activities come into your feed."""
        if followee_id == caller.id:
            raise Invalid("followeeId", "you cannot follow yourself")
        await self.present(followee_id)
        edge = Follow(follower_id=caller.id, followee_id=followee_id)
        guards = [
            check(block, where=lambda b: missing(b.user_id))
            for block in blocks_between(caller.id, followee_id)
        ]
        try:
            made: Follow = (await self.db.transact(*home.following(edge), *guards))[0]
        except AlreadyExists:
            raise Conflict("You follow them already.", code="ALREADY_FOLLOWING") from None
        except ConditionFailed:
            raise NotAllowed("One of you blocked the other.", code="BLOCKED") from None
        return made

    @mutation("/following/{followee_id}", name="unfollowUser", method="DELETE", allow=registered)
    async def unfollow_user(self, followee_id: str, caller: Identity) -> None:
        """Stop following somebody; their activities leave your feed at once."""
        edge = Follow(follower_id=caller.id, followee_id=followee_id)
        try:
            await self.db.transact(*home.unfollowing(edge))
        except NotFound:
            raise Missing("You do not follow them.") from None

    @mutation("/blocks/{blocked_id}", name="blockUser", allow=registered, status=201)
    async def block_user(self, blocked_id: str, caller: Identity) -> Block:
        """Neither of you follows the other any more, until you unblock them."""
        if blocked_id == caller.id:
            raise Invalid("blockedId", "you cannot block yourself")
        await self.present(blocked_id)
        block = Block(user_id=caller.id, blocked_id=blocked_id)
        for _ in range(ATTEMPTS):
            apart = [
                *await self._apart(caller.id, blocked_id),
                *await self._apart(blocked_id, caller.id),
            ]
            try:
                made: Block = (await self.db.transact(put(block), *apart))[0]
                return made
            except (ConditionFailed, NotFound):
                continue
        raise Conflict("Somebody follows and unfollows all the time; try again.")

    @mutation("/blocks/{blocked_id}", name="unblockUser", method="DELETE", allow=registered)
    async def unblock_user(self, blocked_id: str, caller: Identity) -> None:
        """Let somebody follow you again."""
        ref = Block.key(user_id=caller.id, blocked_id=blocked_id)
        try:
            await self.db.delete(ref, must_exist=True)
        except NotFound:
            raise Missing("You have not blocked them.") from None

    @query("/users/{user_id}/blocks", allow=itself("user_id"))
    async def blocks(self, user_id: str, page: PageRequest) -> Page[Blocked]:
        """Whom you have blocked."""
        found = await blocked_users.after(page.cursor)(self.db, user_id, limit=page.limit)
        people = await self.users(one.blocked_id for one in found)
        return Page(
            [
                Blocked(
                    blocked_id=one.blocked_id,
                    created_at=one.created_at,
                    person=person_of(people, one.blocked_id),
                )
                for one in found
            ],
            found.cursor,
        )

    @query("/users/{user_id}/following", allow=authenticated)
    async def following(self, user_id: str, page: PageRequest, caller: Identity) -> Page[Followed]:
        """Who somebody follows."""
        found = await following.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await self._followed(found, [one.followee_id for one in found], caller)

    @query("/users/{user_id}/followers", allow=authenticated)
    async def followers(self, user_id: str, page: PageRequest, caller: Identity) -> Page[Followed]:
        """Who follows somebody."""
        found = await followers.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await self._followed(found, [one.follower_id for one in found], caller)

    @query("/users/{user_id}/counts", allow=authenticated)
    async def counts(self, user_id: str) -> Counts:
        """How many follow somebody, and how many they follow."""
        theirs = await followers_count(self.db, user_id)
        ours = await following_count(self.db, user_id)
        return Counts(followers=theirs.count if theirs else 0, following=ours.count if ours else 0)

    async def _followed(
        self, edges: Page[Follow], others: list[str], caller: Identity
    ) -> Page[Followed]:
        """Edges with who is at the other end, and whether the caller follows them."""
        people = await self.users(others)
        mine = await self.db.get_many(
            [Follow.key(follower_id=caller.id, followee_id=one) for one in others]
        )
        rows = [
            Followed(
                follower_id=edge.follower_id,
                followee_id=edge.followee_id,
                created_at=edge.created_at,
                person=person_of(people, other),
                followed_by_me=followed is not None,
            )
            for edge, other, followed in zip(edges, others, mine, strict=True)
        ]
        return Page(rows, edges.cursor)

    async def _apart(self, follower_id: str, followee_id: str) -> list[Any]:
        """Writes after which one does not follow the other, whatever happens meanwhile."""
        edge = Follow(follower_id=follower_id, followee_id=followee_id)
        if await self.db.find(edge.ref()) is None:
            return [check(edge.ref(), where=lambda f: missing(f.follower_id))]
        return home.unfollowing(edge)


def person_view(user: User) -> Person:
    return Person.model_validate(user.model_dump(include=set(Person.model_fields)))


def person_of(people: dict[str, User], user_id: str) -> Person | None:
    user = people.get(user_id)
    return None if user is None else person_view(user)


def _first(page: Page[User], name: str) -> User:
    if not page.items:
        raise Missing.of("user", name)
    return page.items[0]
