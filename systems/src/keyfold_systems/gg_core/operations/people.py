"""Profiles, follows and groups."""

from __future__ import annotations

from keyfold import Page, check, create, new_ulid
from keyfold.fields import one_spelling
from keyfold_systems.gg_core import patterns
from keyfold_systems.gg_core.entities import (
    Follow,
    FollowersCounter,
    FollowingCounter,
    Goal,
    Group,
    GroupMember,
    Quest,
    Role,
    Task,
    User,
)
from keyfold_systems.gg_core.operations.access import Part, group_member, profile_of
from keyfold_systems.gg_core.views import (
    Counts,
    Member,
    Membership,
    NewGroup,
    NewUser,
    Owned,
    Person,
    Profile,
    UserChange,
)
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
)


class People(Part):
    """Users, whom they follow, and the groups they are in."""

    # Users

    @mutation("/users", allow=authenticated, status=201)
    async def create_user(self, input: NewUser, caller: Identity) -> User:
        """Create your profile; nickname and email are yours alone."""
        new = User(user_id=caller.id, created_at=self.db.context.now(), **dict(input))
        there = Conflict("You have a profile.", code="PROFILE_EXISTS")
        return await self.db.create(new, refuse=there)

    @mutation("/users/{user_id}", method="PATCH", allow=itself("user_id"))
    async def update_user(self, user_id: str, input: UserChange) -> User:
        """Change your profile."""
        return await self.db.update(User.key(user_id=user_id), **input.given())

    @query("/users/{user_id}/account", allow=itself("user_id"))
    async def account(self, user_id: str) -> User:
        """Your own profile, with the email."""
        return await self.db.get(User.key(user_id=user_id))

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str, caller: Identity) -> Profile:
        """A user, with the counts, and whether you follow."""
        user = await self.db.get(User.key(user_id=user_id))
        mine = await self.db.find(Follow.key(follower_id=caller.id, followee_id=user_id))
        counts = await self.counts(user_id)
        return Profile.of(user, **dict(counts), followed_by_me=mine is not None)

    @query("/nicknames/{nickname}", allow=authenticated)
    async def user_by_nickname(self, nickname: str) -> Person:
        """A user by nickname."""
        found = await patterns.user_by_nickname(self.db, nickname)
        found = found or await patterns.user_by_nickname(self.db, one_spelling(nickname))
        return Person.of(Missing.unless(found, "user", nickname))

    @query("/emails/{email}", allow=admin)
    async def user_by_email(self, email: str) -> User:
        """A user by email."""
        found = await patterns.user_by_email(self.db, email)
        found = found or await patterns.user_by_email(self.db, one_spelling(email))
        return Missing.unless(found, "user", email)

    @query("/users/{user_id}/timeline", allow=itself("user_id"))
    async def timeline(self, user_id: str, page: PageRequest) -> Page[Owned]:
        """Your profile, groups, goals and quests by creation, and tasks by due time."""
        found = await page.read(self.db, patterns.timeline, user_id)
        return Page([_owned(one) for one in found.items], found.cursor)

    # Follows

    @mutation("/following/{followee_id}", allow=authenticated, status=201)
    async def follow_user(self, followee_id: str, caller: Identity) -> Follow:
        """Follow a user; their activities are in your feed."""
        if followee_id == caller.id:
            raise Invalid("followeeId", "is your own")
        twice = Conflict("You follow this user already.", code="ALREADY_FOLLOWED")
        edge = create(Follow(follower_id=caller.id, followee_id=followee_id), refuse=twice)
        made, *_ = await self.db.transact(edge, profile_of(followee_id), profile_of(caller.id))
        return made

    @mutation("/following/{followee_id}", method="DELETE", allow=authenticated)
    async def unfollow_user(self, followee_id: str, caller: Identity) -> None:
        """Unfollow a user; their activities leave your feed at once."""
        edge = Follow.key(follower_id=caller.id, followee_id=followee_id)
        await self.db.delete(edge, must_exist=True)

    @query("/users/{user_id}/following", allow=authenticated)
    async def following(self, user_id: str, page: PageRequest) -> Page[Person]:
        """The users whom a user follows."""
        found = await page.read(self.db, patterns.who_i_follow, user_id)
        people = await self.people(one.followee_id for one in found)
        return Page(list(people.values()), found.cursor)

    @query("/users/{user_id}/followers", allow=authenticated)
    async def followers(self, user_id: str, page: PageRequest) -> Page[Person]:
        """The followers of a user."""
        found = await page.read(self.db, patterns.who_follows_me, user_id)
        people = await self.people(one.follower_id for one in found)
        return Page(list(people.values()), found.cursor)

    @query("/users/{user_id}/counts", allow=authenticated)
    async def counts(self, user_id: str) -> Counts:
        """A user's follower and following counts."""
        refs = (FollowersCounter.key(user_id=user_id), FollowingCounter.key(user_id=user_id))
        theirs, own = await self.db.get_many(list(refs))
        return Counts(
            followers=theirs.count if theirs else 0,  # type: ignore[attr-defined]
            following=own.count if own else 0,  # type: ignore[attr-defined]
        )

    # Groups

    @mutation("/groups", allow=authenticated, status=201)
    async def create_group(self, input: NewGroup, caller: Identity) -> Group:
        """Create a group; you own it."""
        group = Group(group_id=new_ulid(), owner_id=caller.id, **dict(input))
        owner = self._member(group.group_id, caller.id, Role.OWNER)
        made, *_ = await self.db.transact(create(group), create(owner), profile_of(caller.id))
        return made

    @query("/groups/{group_id}", allow=authenticated)
    async def group(self, group_id: str) -> Group:
        """A group."""
        return await self.db.get(Group.key(group_id=group_id))

    @query("/groups/{group_id}/members", allow=group_member)
    async def members(self, group_id: str, page: PageRequest) -> Page[Member]:
        """The members of one of your groups."""
        found = await page.read(self.db, patterns.members, group_id)
        people = await self.people(one.user_id for one in found)
        listed = [one for one in found if one.user_id in people]
        return Page([Member.of(one, person=people[one.user_id]) for one in listed], found.cursor)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def my_groups(self, user_id: str, page: PageRequest) -> Page[Membership]:
        """Your groups."""
        found = await page.read(self.db, patterns.my_groups, user_id)
        names = await self.names(one.group_id for one in found)
        listed = [one for one in found if one.group_id in names]
        return Page([Membership.of(one, name=names[one.group_id]) for one in listed], found.cursor)

    @mutation("/groups/{group_id}/members", allow=authenticated, status=201)
    async def join_group(self, group_id: str, caller: Identity) -> GroupMember:
        """Join a group; its activities are in your feed."""
        twice = Conflict("You are in this group already.", code="ALREADY_JOINED")
        new = create(self._member(group_id, caller.id, Role.MEMBER), refuse=twice)
        group = check(Group.key(group_id=group_id))
        made, *_ = await self.db.transact(new, group, profile_of(caller.id))
        return made

    @mutation("/groups/{group_id}/members/me", method="DELETE", allow=authenticated)
    async def leave_group(self, group_id: str, caller: Identity) -> None:
        """Leave a group; its owner stays."""
        member = await self.db.get(GroupMember.key(group_id=group_id, user_id=caller.id))
        owner = Conflict("The owner of a group stays.", code="OWNER")
        await self.db.delete(member.ref(), where=lambda m: m.role != Role.OWNER, refuse=owner)

    def _member(self, group_id: str, user_id: str, role: Role) -> GroupMember:
        now = self.db.context.now()
        return GroupMember(group_id=group_id, user_id=user_id, role=role, joined_at=now)


def _owned(item: User | GroupMember | Goal | Task | Quest) -> Owned:
    match item:
        case User():
            return Owned(type="User", id=item.user_id, title=item.full_name, at=item.created_at)
        case GroupMember():
            return Owned(type="Group", id=item.group_id, title=item.role, at=item.joined_at)
        case Goal():
            return Owned(type="Goal", id=item.goal_id, title=item.title, at=item.created_at)
        case Task():
            assert item.due_at is not None, "only tasks that are due are listed"
            return Owned(type="Task", id=item.task_id, title=item.title, at=item.due_at)
    return Owned(type="Quest", id=item.quest_id, title=item.title, at=item.created_at)
