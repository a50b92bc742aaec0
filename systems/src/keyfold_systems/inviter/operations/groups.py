"""Groups: founding, joining, asking in, handing over, closing."""

from __future__ import annotations

from typing import Any

from keyfold import Page, check, create, delete, new_ulid, not_, update
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_OF_A_USER,
    Group,
    GroupInvitation,
    Membership,
    Removal,
    User,
)
from keyfold_systems.inviter.operations.access import Part, group_owner, is_open, member, stays
from keyfold_systems.inviter.patterns import (
    groups_of_user,
    invitations_of_group,
    invitations_of_user,
    members_of_group,
    membership,
)
from keyfold_systems.inviter.payloads import GroupCard, GroupName, Stated
from keyfold_systems.inviter.removal import begin, finish


class Groups(Part):
    """Groups and who is in them."""

    @mutation("/groups", allow=authenticated, status=201, example={"name": "Sunday runners"})
    async def create_group(self, name: Stated, caller: Identity, private: bool = False) -> Group:
        """Found a group; you own it and are its first member.

        Into a private group one gets by invitation; any other can be joined by who has its id.
        """
        founder = await self.person(caller.id)
        group = Group(group_id=new_ulid(), name=name, owner_id=caller.id, private=private)
        room = check(founder.ref(), where=has_room)
        try:
            await self.db.transact(create(group), create(member_of(group, founder)), room)
        except ConditionFailed:
            raise too_many() from None
        return await self.db.get(group.ref())

    @query("/groups/{group_id}", allow=member)
    async def group(self, group_id: str) -> Group:
        """A group."""
        found = await self.db.get(Group.key(group_id=group_id))
        if found.closing:
            raise Missing("The group is being closed.")
        return found

    @query("/groups/{group_id}/link", allow=authenticated)
    async def linked_group(self, group_id: str, caller: Identity) -> GroupName:
        """A group as somebody sees it who has its link; a private one only who was asked in."""
        keys: list[Any] = [
            Group.key(group_id=group_id),
            Membership.key(group_id=group_id, user_id=caller.id),
            GroupInvitation.key(group_id=group_id, user_id=caller.id),
        ]
        group, *own = await self.db.get_many(keys)
        if group is None or group.closing:
            raise Missing.of("group", group_id)
        if group.private and not any(own):
            raise private_group()
        return GroupName(group_id=group_id, name=group.name, members=group.members)

    @mutation("/groups/{group_id}", method="PATCH", allow=group_owner)
    async def rename_group(self, group_id: str, name: Stated) -> Group:
        """Rename a group; every member's list follows."""
        return await self.db.update(Group.key(group_id=group_id), name=name)

    @mutation("/groups/{group_id}/privacy", method="PUT", allow=group_owner)
    async def set_privacy(self, group_id: str, private: bool) -> Group:
        """Let people in by invitation only, or everybody who has the group's id."""
        return await self.db.update(Group.key(group_id=group_id), private=private)

    @mutation(
        "/groups/{group_id}/owner", method="PUT", allow=group_owner, example={"userId": "ben"}
    )
    async def hand_over_group(self, group_id: str, user_id: str, caller: Identity) -> Group:
        """Make another member the owner; you stay a member."""
        if await membership(self.db, group_id, user_id) is None:
            raise Invalid("userId", f"{user_id} is not in this group")
        change = update(
            Group.key(group_id=group_id),
            owner_id=user_id,
            where=lambda g: (g.owner_id == caller.id) & is_open(g),
        )
        there = check(Membership.key(group_id=group_id, user_id=user_id))
        try:
            await self.db.transact(change, there, check(User.key(user_id=user_id), where=stays))
        except (ConditionFailed, NotFound):
            raise Conflict(
                "The group or its members changed just now; look again.", code="CHANGED"
            ) from None
        return await self.db.get(Group.key(group_id=group_id))

    @mutation("/groups/{group_id}", method="DELETE", allow=group_owner)
    async def delete_group(self, group_id: str) -> None:
        """Close a group: nobody can join any more, then everything of it goes.

        It can be called again after an interruption, and then goes on; the stream does so anyway.
        """
        removal = Removal(kind="group", removed_id=group_id)
        try:
            await self.db.transact(*begin(removal))
        except NotFound:
            return  # somebody else closed it just now
        await finish(self.db, removal)

    @mutation("/groups/{group_id}/members", allow=authenticated, status=201)
    async def join_group(self, group_id: str, caller: Identity) -> Membership:
        """Join a group; into a private one you need to be asked."""
        group = await self.db.get(Group.key(group_id=group_id))
        user = await self.person(caller.id)
        if await membership(self.db, group_id, caller.id) is not None:
            raise already_member()
        invited = GroupInvitation.key(group_id=group_id, user_id=caller.id)
        asked = await self.db.find(invited) is not None
        if group.private and not asked:
            raise private_group()
        joins: list[Any] = [
            create(member_of(group, user)),
            check(group.ref(), where=is_open if asked else is_public),
            check(user.ref(), where=has_room),
        ]
        if asked:
            joins.append(delete(invited))
        try:
            made: Membership = (await self.db.transact(*joins))[0]
        except AlreadyExists:
            raise already_member() from None
        except ConditionFailed:
            found = await self.person(caller.id)
            if found.groups >= MOST_GROUPS_OF_A_USER:
                raise too_many() from None
            raise Conflict(
                "The group is being closed, or was made private just now.", code="CLOSING"
            ) from None
        return made

    @mutation(
        "/groups/{group_id}/members/{user_id}",
        method="DELETE",
        allow=itself("user_id") | group_owner,
    )
    async def leave_group(self, group_id: str, user_id: str) -> None:
        """Leave a group, or as its owner take somebody out; their answers to its hangouts go."""
        gone = delete(Membership.key(group_id=group_id, user_id=user_id), must_exist=True)
        kept = check(Group.key(group_id=group_id), where=lambda g: g.owner_id != user_id)
        try:
            await self.db.transact(gone, kept)
        except ConditionFailed:
            raise Conflict(
                "The owner cannot leave; hand the group over or delete it.", code="OWNER"
            ) from None

    @query("/groups/{group_id}/members", allow=member)
    async def members(self, group_id: str, page: PageRequest) -> Page[Membership]:
        """The members of a group."""
        return await members_of_group.after(page.cursor)(self.db, group_id, limit=page.limit)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def groups(self, user_id: str, page: PageRequest) -> Page[GroupCard]:
        """The groups you are in."""
        found = await groups_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)
        keys = [Group.key(group_id=one.group_id) for one in found]
        groups = await self.db.get_many(keys)
        names = await self.names_of({one.owner_id for one in groups if one is not None})
        cards = [
            GroupCard(
                group_id=one.group_id,
                group_name=group.name,
                owner_id=group.owner_id,
                owner_name=names.get(group.owner_id),
                private=group.private,
                members=group.members,
                joined_at=one.joined_at,
            )
            for one, group in zip(found, groups, strict=True)
            if group is not None and not group.closing
        ]
        return Page(cards, found.cursor)

    @mutation("/groups/{group_id}/invitations", allow=member, status=201, example={"userId": "ben"})
    async def invite_to_group(
        self, group_id: str, user_id: str, caller: Identity
    ) -> GroupInvitation:
        """Ask somebody into a group."""
        group = await self.db.get(Group.key(group_id=group_id))
        mine = await self.db.get(Membership.key(group_id=group_id, user_id=caller.id))
        user = await self.db.find(User.key(user_id=user_id))
        if user is None or user.leaving:
            raise Invalid("userId", f"there is no {user_id}")
        if await membership(self.db, group_id, user_id) is not None:
            raise Conflict("They are a member already.", code="ALREADY_MEMBER")
        invitation = GroupInvitation(
            group_id=group_id,
            user_id=user_id,
            group_name=group.name,
            user_name=user.name,
            invited_by=caller.id,
            invited_by_name=mine.user_name,
        )
        there = (check(group.ref(), where=is_open), check(user.ref(), where=stays))
        try:
            made: GroupInvitation = (await self.db.transact(create(invitation), *there))[0]
        except AlreadyExists:
            raise Conflict("They were asked already.", code="ALREADY_INVITED") from None
        except ConditionFailed:
            raise Conflict(
                "The group is being closed, or they are leaving.", code="CLOSING"
            ) from None
        return made

    @mutation(
        "/groups/{group_id}/invitations/{user_id}",
        method="DELETE",
        allow=itself("user_id") | member,
    )
    async def decline_group(self, group_id: str, user_id: str) -> None:
        """Decline to join a group, or as a member take its invitation back."""
        invited = GroupInvitation.key(group_id=group_id, user_id=user_id)
        await self.db.delete(invited, must_exist=True)

    @query("/groups/{group_id}/invitations", allow=member)
    async def group_invitations(self, group_id: str, page: PageRequest) -> Page[GroupInvitation]:
        """Who was asked into a group and has not joined yet."""
        return await invitations_of_group.after(page.cursor)(self.db, group_id, limit=page.limit)

    @query("/users/{user_id}/invitations", allow=itself("user_id"))
    async def invitations(self, user_id: str, page: PageRequest) -> Page[GroupInvitation]:
        """The groups you were asked into."""
        return await invitations_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)


def already_member() -> Conflict:
    return Conflict("You are a member already.", code="ALREADY_MEMBER")


def private_group() -> NotAllowed:
    return NotAllowed("The group is private; ask a member to invite you.", code="PRIVATE")


def too_many() -> Conflict:
    return Conflict("You are in too many groups; leave one first.", code="TOO_MANY")


def is_public(group: Any) -> Any:
    """The condition that anybody may join a group."""
    return is_open(group) & not_(group.private)


def has_room(user: Any) -> Any:
    """The condition that a user stays and may be in one more group."""
    return stays(user) & (user.groups < MOST_GROUPS_OF_A_USER)


def member_of(group: Group, user: User) -> Membership:
    return Membership(
        group_id=group.group_id, user_id=user.user_id, group_name=group.name, user_name=user.name
    )
