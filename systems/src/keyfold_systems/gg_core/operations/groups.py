"""Groups: projects that end, communities that stay, and the roles in them."""

from __future__ import annotations

from typing import Any

from keyfold import Page, check, create, delete, new_ulid, update
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    NotAllowed,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold_systems.gg_core.entities import Group, GroupMember, Role, home
from keyfold_systems.gg_core.operations.access import (
    Part,
    group_admin,
    group_member,
    group_owner,
    registered,
)
from keyfold_systems.gg_core.operations.people import person_of
from keyfold_systems.gg_core.patterns import group_members, groups_of_user
from keyfold_systems.gg_core.payloads import GroupChange, Member, Membership, NewGroup


class Groups(Part):
    """Groups and who is in them."""

    @mutation(
        "/groups",
        name="createGroup",
        allow=registered,
        status=201,
        example={"input": {"name": "Early runners", "tags": ["running"]}},
    )
    async def create_group(self, input: NewGroup, caller: Identity) -> Group:
        """Found a group; you own it."""
        group = Group(group_id=new_ulid(), owner_id=caller.id, **dict(input))
        first = self._member(group, caller.id, Role.OWNER)
        await self.db.transact(create(group), *home.following(first))
        return await self.db.get(group.ref())

    @mutation("/groups/{group_id}", name="updateGroup", method="PATCH", allow=group_admin)
    async def update_group(self, group_id: str, input: GroupChange) -> Group:
        """Change a group; every member's list follows."""
        ref = Group.key(group_id=group_id)
        changed = input.given()
        return await self.db.update(ref, **changed) if changed else await self.db.get(ref)

    @query("/groups/{group_id}", allow=authenticated)
    async def group(self, group_id: str) -> Group:
        """A group."""
        return await self.db.get(Group.key(group_id=group_id))

    @query("/groups/{group_id}/members", allow=authenticated)
    async def group_members(self, group_id: str, page: PageRequest) -> Page[Member]:
        """Who is in a group."""
        found = await group_members.after(page.cursor)(self.db, group_id, limit=page.limit)
        people = await self.users(one.user_id for one in found)
        rows = [
            Member(
                group_id=one.group_id,
                user_id=one.user_id,
                role=one.role,
                joined_at=one.joined_at,
                person=person_of(people, one.user_id),
            )
            for one in found
        ]
        return Page(rows, found.cursor)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def groups(self, user_id: str, page: PageRequest) -> Page[Membership]:
        """The groups you are in, newest first; one that was just deleted is left out."""
        found = await groups_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        groups = await self.db.get_many([Group.key(group_id=one.group_id) for one in found])
        rows = [
            Membership(
                group_id=one.group_id,
                group_name=group.name,
                user_id=one.user_id,
                role=one.role,
                joined_at=one.joined_at,
                description=group.description,
                is_persistent=group.is_persistent,
                member_count=group.member_count,
            )
            for one, group in zip(found, groups, strict=True)
            if group is not None
        ]
        return Page(rows, found.cursor)

    @mutation("/groups/{group_id}/members", name="joinGroup", allow=registered, status=201)
    async def join_group(self, group_id: str, caller: Identity) -> GroupMember:
        """Join a group; what it does comes into your feed."""
        group = await self.db.get(Group.key(group_id=group_id))
        joined = self._member(group, caller.id, Role.MEMBER)
        try:
            made: GroupMember = (
                await self.db.transact(*home.following(joined), check(group.ref()))
            )[0]
        except AlreadyExists:
            raise Conflict("You are a member already.", code="ALREADY_MEMBER") from None
        return made

    @mutation(
        "/groups/{group_id}/membership", name="leaveGroup", method="DELETE", allow=group_member
    )
    async def leave_group(self, group_id: str, caller: Identity) -> None:
        """Leave a group; its last owner cannot."""
        await self._take_out(group_id, caller.id)

    @mutation(
        "/groups/{group_id}/members/{user_id}",
        name="removeMember",
        method="DELETE",
        allow=group_admin,
    )
    async def remove_member(self, group_id: str, user_id: str, caller: Identity) -> None:
        """Take somebody out of a group; only owners take out owners and admins."""
        mine, theirs = await self.role(group_id, caller.id), await self.role(group_id, user_id)
        if theirs not in (None, Role.MEMBER) and mine != Role.OWNER:
            raise NotAllowed("Only an owner may take out owners and admins.")
        await self._take_out(group_id, user_id)

    @mutation(
        "/groups/{group_id}/members/{user_id}/role",
        name="changeRole",
        method="PUT",
        allow=group_owner,
    )
    async def change_role(self, group_id: str, user_id: str, role: Role) -> GroupMember:
        """Give a member another role; an owner stays."""
        member = await self._find(group_id, user_id)
        same = update(member.ref(), role=role, where=lambda m: m.role == member.role)
        losing = member.role == Role.OWNER and role != Role.OWNER
        await self._keep_an_owner(group_id, losing, same)
        return await self.db.get(member.ref())

    @mutation("/groups/{group_id}", name="deleteGroup", method="DELETE", allow=group_owner | admin)
    async def delete_group(self, group_id: str, caller: Identity) -> None:
        """End a project; a community stays, unless an administrator ends it."""
        group = await self.db.get(Group.key(group_id=group_id))
        if group.is_persistent and not caller.is_admin:
            raise Conflict("A community stays; leave it instead.", code="PERSISTENT")
        await self.db.transact(
            delete(group.ref(), must_exist=True),
            *([self.audited(caller, "remove", f"group {group_id}")] if caller.is_admin else []),
        )

    def _member(self, group: Group, user_id: str, role: Role) -> GroupMember:
        return GroupMember(
            group_id=group.group_id,
            user_id=user_id,
            role=role,
            group_name=group.name,
            joined_at=self.db.context.now(),
        )

    async def _find(self, group_id: str, user_id: str) -> GroupMember:
        member = await self.db.find(GroupMember.key(group_id=group_id, user_id=user_id))
        if member is None:
            raise Missing("They are not in this group.")
        return member

    async def _take_out(self, group_id: str, user_id: str) -> None:
        member = await self._find(group_id, user_id)
        gone = delete(member.ref(), where=lambda m: m.role == member.role, must_exist=True)
        hidden = home.hiding(user_id, group_id)
        await self._keep_an_owner(group_id, member.role == Role.OWNER, gone, hidden)

    async def _keep_an_owner(self, group_id: str, losing: bool, *intents: Any) -> None:
        """Write what takes an owner away only where another one stays."""
        another = check(Group.key(group_id=group_id), where=lambda g: g.owners > 1)
        try:
            await self.db.transact(*intents, *([another] if losing else []))
        except ConditionFailed:
            if losing:
                raise Conflict("The last owner stays.", code="LAST_OWNER") from None
            raise Conflict("Their role changed just now; try again.") from None
        except NotFound:
            raise Missing("They are not in this group.") from None
