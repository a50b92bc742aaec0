"""The operations: users, groups, hangouts, and who comes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from keyfold import Page, check, create, new_ulid, put
from keyfold.errors import AlreadyExists
from keyfold.streams import Change
from keyfold_systems.inviter import patterns
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupMembership,
    Hangout,
    HangoutPointer,
    Response,
    User,
    UserHangoutPointer,
)
from keyfold_systems.inviter.views import (
    Answered,
    Changed,
    GroupView,
    GuestList,
    HangoutCard,
    HangoutChange,
    Invitation,
    NewHangout,
    Person,
    Stated,
    UserName,
    guests_of,
    names_of,
    show_answers,
    show_cards,
)
from keyfold_web import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    Service,
    authenticated,
    itself,
    mutation,
    query,
    rule,
    subscription,
)


@rule
async def member(service: Operations, caller: Identity, arguments: Arguments) -> bool:
    """A member of the group, by the membership itself and not by an index."""
    return await patterns.membership(service.db, arguments["group_id"], caller.id) is not None


@rule
async def host(service: Operations, caller: Identity, arguments: Arguments) -> bool:
    found = await patterns.hangout_detail(service.db, arguments["hangout_id"])
    return found is not None and found.host_id == caller.id


@rule
async def guest(service: Operations, caller: Identity, arguments: Arguments) -> bool:
    """The host, a user who is invited directly, or a member of an invited group."""
    found = await patterns.hangout_detail(service.db, arguments["hangout_id"])
    if found is None:
        return False
    if caller.id == found.host_id or caller.id in found.invited_users:
        return True
    return await service.group_of(found, caller.id) is not None


class Operations(Service):
    """Users, groups, hangouts, and who comes."""

    # Users

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in makes the user, under the name that the token says."""
        name = str(caller.claims.get("name") or "").strip()[:200]
        if name and await patterns.user(self.db, caller.id) is None:
            with suppress(AlreadyExists):
                await self.db.create(User(user_id=caller.id, name=name))

    @mutation("/users/{user_id}", method="PUT", allow=itself("user_id"))
    async def save_user(self, user_id: str, name: UserName) -> User:
        """Set your name; memberships follow."""
        return await self.db.upsert(User.key(user_id=user_id), name=name)

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str) -> Person:
        """A user."""
        return Person(user_id=user_id, name=(await self._user(user_id)).name)

    # Groups

    @mutation("/groups", allow=authenticated, status=201)
    async def create_group(self, name: Stated, caller: Identity) -> Group:
        """Create a group; you are its first member."""
        me, new = await self._user(caller.id), Group(group_id=new_ulid(), name=name)
        made, _ = await self.db.transact(create(new), create(membership_of(new, me)))
        return made

    @query("/groups/{group_id}", allow=authenticated)
    async def group(self, group_id: str) -> GroupView:
        """A group; everybody who has its id can see it and join."""
        return GroupView.of(await self._group(group_id))

    @mutation("/groups/{group_id}", method="PATCH", allow=member)
    async def rename_group(
        self, group_id: str, name: Stated, expected_version: int | None = None
    ) -> Group:
        """Rename a group; the memberships follow."""
        ref = Group.key(group_id=group_id)
        return await self.db.update(ref, name=name, expected_version=expected_version)

    @mutation("/groups/{group_id}/members", allow=authenticated, status=201)
    async def join_group(self, group_id: str, caller: Identity) -> GroupMembership:
        """Join a group."""
        group, me = await self._group(group_id), await self._user(caller.id)
        twice = Conflict("You are a member already.", code="ALREADY_MEMBER")
        new = create(membership_of(group, me), refuse=twice)
        made, _ = await self.db.transact(new, check(group.ref()))
        return made

    @mutation("/groups/{group_id}/members/me", method="DELETE", allow=member)
    async def leave_group(self, group_id: str, caller: Identity) -> None:
        """Leave a group."""
        ref = GroupMembership.key(group_id=group_id, user_id=caller.id)
        await self.db.delete(ref, must_exist=True)

    @query("/groups/{group_id}/members", allow=member)
    async def members(self, group_id: str, page: PageRequest) -> Page[GroupMembership]:
        """The members of a group."""
        return await page.read(self.db, patterns.members_of_group, group_id)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def groups(self, user_id: str, page: PageRequest) -> Page[GroupMembership]:
        """The groups that you belong to."""
        return await page.read(self.db, patterns.groups_of_user, user_id)

    # Lists of hangouts

    @query("/groups/{group_id}/feed", allow=member)
    async def group_feed(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[HangoutCard]:
        """A group's feed, from pointer records."""
        found = await page.read(self.db, patterns.group_feed, group_id)
        return Page(await show_cards(self.db, found.items, caller.id), found.cursor)

    @query("/groups/{group_id}/upcoming", allow=member)
    async def group_upcoming(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[HangoutCard]:
        """A group's upcoming hangouts, by time."""
        now = self.db.context.now()
        found = await page.read(self.db, patterns.group_upcoming, group_id, now)
        return Page(await show_cards(self.db, found.items, caller.id), found.cursor)

    @query("/users/{user_id}/hangouts", allow=itself("user_id"))
    async def hangouts(self, user_id: str, page: PageRequest) -> Page[HangoutCard]:
        """Your complete list: direct invitations and those of all your groups, by time."""
        pages = patterns.groups_of_user.pages(self.db, user_id)
        groups = [one.group_id async for page in pages for one in page]
        now = self.db.context.now()
        found = await page.read(self.db, patterns.user_upcoming, user_id, groups, now)
        return Page(await show_cards(self.db, found.items, user_id), found.cursor)

    # One hangout

    @mutation("/hangouts", allow=authenticated, status=201)
    async def create_hangout(self, input: NewHangout, caller: Identity) -> Hangout:
        """Plan a hangout; it is on your own list too."""
        groups, users = once(input.associated_groups), once([caller.id, *input.invited_users])
        await self._check_guests(groups, users, caller)
        given = dict(input) | {"associated_groups": groups, "invited_users": users}
        new = Hangout(hangout_id=new_ulid(), host_id=caller.id, **given)
        return await self.db.create(new)

    @query("/hangouts/{hangout_id}", allow=guest)
    async def get_hangout_detail(self, hangout_id: str) -> Hangout:
        """Full details for one hangout, from the canonical record."""
        return await self.db.get(Hangout.key(hangout_id=hangout_id))

    @mutation("/hangouts/{hangout_id}/title", method="PUT", allow=host)
    async def update_hangout_title(
        self, hangout_id: str, title: Stated, expected_version: int | None = None
    ) -> Hangout:
        """Change the title of a hangout and of all its pointers."""
        ref = Hangout.key(hangout_id=hangout_id)
        return await self.db.update(ref, title=title, expected_version=expected_version)

    @mutation("/hangouts/{hangout_id}", method="PATCH", allow=host)
    async def update_hangout(
        self, hangout_id: str, input: HangoutChange, expected_version: int | None = None
    ) -> Hangout:
        """Change a hangout and all its pointers."""
        found, changes = await self.get_hangout_detail(hangout_id), input.given()
        start = changes.get("start_timestamp", found.start_timestamp)
        end = changes.get("end_timestamp", found.end_timestamp)
        if end is not None and end <= start:
            raise Invalid("endTimestamp", "must be after startTimestamp")
        if not changes:
            return found
        return await self.db.update(found, **changes, expected_version=expected_version)

    @mutation("/hangouts/{hangout_id}", method="DELETE", allow=host)
    async def delete_hangout(self, hangout_id: str) -> None:
        """Delete a hangout with its pointers and answers."""
        await self.db.delete(Hangout.key(hangout_id=hangout_id), must_exist=True)

    # Who comes

    @query("/hangouts/{hangout_id}/guests", allow=guest)
    async def guests(self, hangout_id: str, caller: Identity) -> GuestList:
        """The guests, by name."""
        found = await self.get_hangout_detail(hangout_id)
        keys: list[Any] = [Group.key(group_id=one) for one in found.associated_groups]
        groups = await self.db.get_many(keys)
        names = await names_of(self.db, [found.host_id, *found.invited_users])
        [mine] = await patterns.answers_of(self.db, caller.id, [hangout_id])
        people = [Person(user_id=one, name=names.get(one, "")) for one in guests_of(found)]
        return GuestList(
            host=Person(user_id=found.host_id, name=names.get(found.host_id, "")),
            groups=[GroupView.of(one) for one in groups if one is not None],
            users=people,
            my_answer=None if mine is None else mine.answer,
        )

    @mutation("/hangouts/{hangout_id}/guests", method="PUT", allow=host)
    async def invite(
        self,
        hangout_id: str,
        input: Invitation,
        caller: Identity,
        expected_version: int | None = None,
    ) -> Hangout:
        """Set who is invited; pointers and answers of all others are removed."""
        found = await self.get_hangout_detail(hangout_id)
        groups, users = once(input.associated_groups), once([caller.id, *input.invited_users])
        await self._check_guests(
            [one for one in groups if one not in found.associated_groups],
            [one for one in users if one not in found.invited_users],
            caller,
        )
        return await self.db.update(
            found,
            associated_groups=groups,
            invited_users=users,
            expected_version=expected_version,
        )

    @mutation("/hangouts/{hangout_id}/answer", method="PUT", allow=guest)
    async def respond(self, hangout_id: str, answer: Answer, caller: Identity) -> Response:
        """Answer an invitation; counts on lists follow through the stream."""
        found = await self.get_hangout_detail(hangout_id)
        direct = caller.id in found.invited_users
        group_id = None if direct else await self.group_of(found, caller.id)
        if not direct and group_id is None:
            raise NotAllowed("You are not invited any more.")
        given = Response(
            hangout_id=hangout_id,
            user_id=caller.id,
            answer=answer,
            group_id=group_id,
            guest_id=caller.id if direct else None,
        )
        made, _ = await self.db.transact(put(given), check(found.ref()))
        return made

    @query("/hangouts/{hangout_id}/answers", allow=guest)
    async def answers(self, hangout_id: str, page: PageRequest) -> Page[Answered]:
        """All answers, by name."""
        found = await page.read(self.db, patterns.responses_to, hangout_id)
        return Page(await show_answers(self.db, found.items), found.cursor)

    # What changes meanwhile

    @subscription(HangoutPointer, GroupMembership, Group, allow=member)
    async def group_changed(
        self,
        change: Change[HangoutPointer | GroupMembership | Group],  # noqa: ARG002
        group_id: str,
    ) -> Changed:
        """A group's feed, its members or its name."""
        return Changed(group_id=group_id)

    @subscription(UserHangoutPointer, GroupMembership, allow=itself("user_id"))
    async def list_changed(
        self,
        change: Change[UserHangoutPointer | GroupMembership],  # noqa: ARG002
        user_id: str,
    ) -> Changed:
        """Your direct invitations and your groups."""
        return Changed(user_id=user_id)

    @subscription(Hangout, Response, allow=guest)
    async def hangout_changed(
        self,
        change: Change[Hangout | Response],  # noqa: ARG002
        hangout_id: str,
    ) -> Changed:
        """A hangout and the answers to it."""
        return Changed(hangout_id=hangout_id)

    # What several of them need

    async def group_of(self, hangout: Hangout, user_id: str) -> str | None:
        """An invited group that a user is in."""
        refs = [
            GroupMembership.key(group_id=one, user_id=user_id) for one in hangout.associated_groups
        ]
        return next((one.group_id for one in await self.db.get_many(refs) if one), None)

    async def _user(self, user_id: str) -> User:
        return Missing.unless(await patterns.user(self.db, user_id), "user", user_id)

    async def _group(self, group_id: str) -> Group:
        return Missing.unless(await patterns.group(self.db, group_id), "group", group_id)

    async def _check_guests(
        self, groups: Sequence[str], users: Sequence[str], caller: Identity
    ) -> None:
        """Only groups of the caller's own, and users who are here, are invited: one read."""
        mine = [GroupMembership.key(group_id=one, user_id=caller.id) for one in groups]
        keys: list[Any] = [*(User.key(user_id=one) for one in users), *mine]
        found = await self.db.get_many(keys)
        for one, there in zip(users, found, strict=False):
            if there is None and one == caller.id:
                raise Missing.of("user", one)
            if there is None:
                raise Invalid("invitedUsers", f"no user {one}")
        for one, there in zip(groups, found[len(users) :], strict=True):
            if there is None:
                raise Invalid("associatedGroups", f"you are not in the group {one}")


def once(ids: Sequence[str]) -> list[str]:
    """Each id once, in the given order."""
    return list(dict.fromkeys(ids))


def membership_of(group: Group, user: User) -> GroupMembership:
    """A user in a group, with the names of both."""
    return GroupMembership(
        group_id=group.group_id, user_id=user.user_id, group_name=group.name, user_name=user.name
    )
