"""The operations of Inviter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

from keyfold import (
    AsyncDb,
    Design,
    Page,
    Timestamp,
    add,
    check,
    create,
    new_ulid,
    put,
    remove,
    update,
)
from keyfold.api import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    Service,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)
from keyfold.errors import AlreadyExists, ConditionFailed
from keyfold.runtime import Intent
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_INVITED,
    MOST_GROUPS_OF_A_USER,
    MOST_USERS_INVITED,
    Answer,
    Group,
    GroupHangout,
    Hangout,
    Membership,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.patterns import (
    group_feed,
    group_upcoming,
    groups_of_user,
    members_of_group,
    membership,
    responses_to,
    user_upcoming,
)
from keyfold_systems.inviter.payloads import Guests, HangoutCard, HangoutChange, NewHangout, Stated

LONGEST_HANGOUT = timedelta(days=14)


@rule
async def member(service: Inviter, caller: Identity, arguments: Arguments) -> bool:
    return await membership(service.db, arguments["group_id"], caller.id) is not None


@rule
async def group_owner(service: Inviter, caller: Identity, arguments: Arguments) -> bool:
    group = await service.db.find(Group.key(group_id=arguments["group_id"]))
    return group is not None and group.owner_id == caller.id


@rule
async def host(service: Inviter, caller: Identity, arguments: Arguments) -> bool:
    hangout = await service.db.find(Hangout.key(hangout_id=arguments["hangout_id"]))
    return hangout is not None and hangout.host_id == caller.id


@rule
async def guest(service: Inviter, caller: Identity, arguments: Arguments) -> bool:
    """The host, somebody invited, or a member of an invited group."""
    hangout = await service.db.find(Hangout.key(hangout_id=arguments["hangout_id"]))
    if hangout is None:
        return False
    if caller.id == hangout.host_id or caller.id in hangout.user_ids:
        return True
    keys = [Membership.key(group_id=g, user_id=caller.id) for g in sorted(hangout.group_ids)]
    return any(await service.db.get_many(keys))


class Inviter(Service):
    """Hangouts, groups and who comes."""

    design: ClassVar[Design] = design
    idempotent = True

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    @mutation("/users/{user_id}", method="PUT", allow=itself("user_id"), example={"name": "Ada"})
    async def save_user(self, user_id: str, name: Stated) -> User:
        """Create your profile, or rename yourself."""
        try:
            return await self.db.create(User(user_id=user_id, name=name))
        except AlreadyExists:
            return await self.db.update(User.key(user_id=user_id), name=name)

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str) -> User:
        """A user's profile."""
        return await self.db.get(User.key(user_id=user_id))

    @mutation("/users/{user_id}", method="DELETE", allow=itself("user_id"))
    async def delete_user(self, user_id: str) -> None:
        """Leave Inviter: memberships, answers, invitations and hosted hangouts go too.

        The profile goes first, so that nothing new is made for it, and a few things of each kind
        with it; the stream removes the others. It can be called again after an interruption.
        """
        if await self.db.find(User.key(user_id=user_id)) is not None:
            try:
                await self.db.delete(User.key(user_id=user_id), where=lambda u: u.owned_groups == 0)
            except ConditionFailed:
                raise Conflict("Delete the groups you own first.", code="OWNER") from None
        invited = UserHangout.key.query(user_id=user_id).consistent()
        while pointers := (await self.db.read(invited)).items:
            for pointer in pointers:
                ref = Hangout.key(hangout_id=pointer.hangout_id)
                await self.db.update(ref, user_ids=remove({user_id}))

    @mutation("/groups", allow=authenticated, status=201, example={"name": "Sunday runners"})
    async def create_group(self, name: Stated, caller: Identity) -> Group:
        """Found a group; you own it and are its first member."""
        founder = await self.db.get(User.key(user_id=caller.id))
        group = Group(group_id=new_ulid(), name=name, owner_id=caller.id)
        made: Group = (await self.db.transact(create(group), create(_member(group, founder))))[0]
        return await self.db.get(made.ref())

    @query("/groups/{group_id}", allow=member)
    async def group(self, group_id: str) -> Group:
        """A group."""
        return await self.db.get(Group.key(group_id=group_id))

    @mutation("/groups/{group_id}", method="PATCH", allow=group_owner)
    async def rename_group(self, group_id: str, name: Stated) -> Group:
        """Rename a group; every member's list follows."""
        return await self.db.update(Group.key(group_id=group_id), name=name)

    @mutation("/groups/{group_id}", method="DELETE", allow=group_owner)
    async def delete_group(self, group_id: str) -> None:
        """Close a group: nobody can join any more, then everything of it goes.

        It can be called again after an interruption, and then goes on.
        """
        ref = Group.key(group_id=group_id)
        await self.db.update(ref, closing=True)
        while pointers := (await group_feed(self.db, group_id, limit=50)).items:
            for pointer in pointers:
                hangout = Hangout.key(hangout_id=pointer.hangout_id)
                await self.db.update(hangout, group_ids=remove({group_id}))
        await self.db.delete(ref)

    @mutation("/groups/{group_id}/members", allow=authenticated, status=201)
    async def join_group(self, group_id: str, caller: Identity) -> Membership:
        """Join a group."""
        group = await self.db.get(Group.key(group_id=group_id))
        user = await self.db.get(User.key(user_id=caller.id))
        joins = (
            create(_member(group, user)),
            check(group.ref(), where=_is_open),
            check(user.ref(), where=lambda u: u.groups < MOST_GROUPS_OF_A_USER),
        )
        try:
            made: Membership = (await self.db.transact(*joins))[0]
        except AlreadyExists:
            raise Conflict("You are a member already.", code="ALREADY_MEMBER") from None
        except ConditionFailed:
            if user.groups >= MOST_GROUPS_OF_A_USER:
                raise Conflict(
                    "You are in too many groups; leave one first.", code="TOO_MANY"
                ) from None
            raise Conflict("The group is being closed.", code="CLOSING") from None
        return made

    @mutation("/groups/{group_id}/members/{user_id}", method="DELETE", allow=itself("user_id"))
    async def leave_group(self, group_id: str, user_id: str) -> None:
        """Leave a group."""
        group = await self.db.get(Group.key(group_id=group_id))
        if group.owner_id == user_id:
            raise Conflict("The owner cannot leave; delete the group.", code="OWNER")
        await self.db.delete(Membership.key(group_id=group_id, user_id=user_id), must_exist=True)

    @query("/groups/{group_id}/members", allow=member)
    async def members(self, group_id: str, page: PageRequest) -> Page[Membership]:
        """The members of a group."""
        return await members_of_group.after(page.cursor)(self.db, group_id, limit=page.limit)

    @query("/users/{user_id}/groups", allow=itself("user_id"))
    async def groups(self, user_id: str, page: PageRequest) -> Page[Membership]:
        """The groups you are in."""
        return await groups_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/groups/{group_id}/feed", allow=member)
    async def group_feed(self, group_id: str, page: PageRequest) -> Page[GroupHangout]:
        """A group's feed, from pointers alone."""
        return await group_feed.after(page.cursor)(self.db, group_id, limit=page.limit)

    @query("/groups/{group_id}/upcoming", allow=member)
    async def group_upcoming(self, group_id: str, page: PageRequest) -> Page[GroupHangout]:
        """What a group has before it, by time; running hangouts are part of it."""
        now = self.db.context.now()
        return await group_upcoming.after(page.cursor)(
            self.db, group_id, now - LONGEST_HANGOUT, now, limit=page.limit
        )

    @query("/users/{user_id}/hangouts", allow=itself("user_id"))
    async def my_hangouts(self, user_id: str, page: PageRequest) -> Page[HangoutCard]:
        """All you have before you, by time: your invitations and those of all your groups."""
        now = self.db.context.now()
        groups = await groups_of_user(self.db, user_id)
        found = await user_upcoming.after(page.cursor)(
            self.db,
            user_id,
            [one.group_id for one in groups],
            now - LONGEST_HANGOUT,
            now,
            limit=page.limit,
        )
        return Page([_card(pointer) for pointer in found], found.cursor)

    @mutation(
        "/hangouts",
        allow=authenticated,
        status=201,
        example={
            "input": {
                "title": "Sunday run",
                "startsAt": "2030-01-06T10:00:00Z",
                "endsAt": "2030-01-06T11:00:00Z",
                "groupIds": ["groupId"],
            }
        },
    )
    async def create_hangout(self, input: NewHangout, caller: Identity) -> Hangout:
        """Invite people to a hangout."""
        _check_times(input.starts_at, input.ends_at)
        there = await self._guests_there(input.group_ids, input.user_ids, caller)
        hangout = Hangout(hangout_id=new_ulid(), host_id=caller.id, **dict(input))
        host = check(User.key(user_id=caller.id))
        made: Hangout = (await self._invited(create(hangout), host, *there))[0]
        return made

    @query("/hangouts/{hangout_id}", allow=guest)
    async def hangout(self, hangout_id: str) -> Hangout:
        """One hangout's page."""
        return await self.db.get(Hangout.key(hangout_id=hangout_id))

    @mutation("/hangouts/{hangout_id}", method="PATCH", allow=host)
    async def update_hangout(
        self, hangout_id: str, input: HangoutChange, expected_version: int | None = None
    ) -> Hangout:
        """Change a hangout; every list that shows it follows."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        if expected_version is not None:
            hangout = hangout.model_copy(update={"version": expected_version})
        changes = input.model_dump(exclude_none=True)
        _check_times(
            changes.get("starts_at", hangout.starts_at), changes.get("ends_at", hangout.ends_at)
        )
        return await self.db.update(hangout, **changes) if changes else hangout

    @mutation("/hangouts/{hangout_id}", method="DELETE", allow=host)
    async def delete_hangout(self, hangout_id: str) -> None:
        """Delete a hangout with its answers and pointers."""
        await self.db.delete(Hangout.key(hangout_id=hangout_id))

    @mutation("/hangouts/{hangout_id}/guests", allow=host)
    async def invite(self, hangout_id: str, input: Guests, caller: Identity) -> Hangout:
        """Invite more groups and users."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        new_groups = input.group_ids - hangout.group_ids
        new_users = input.user_ids - hangout.user_ids
        there = await self._guests_there(new_groups, new_users, caller)
        if len(hangout.group_ids | input.group_ids) > MOST_GROUPS_INVITED:
            raise Invalid("groupIds", f"more than {MOST_GROUPS_INVITED} groups would be invited")
        if len(hangout.user_ids | input.user_ids) > MOST_USERS_INVITED:
            raise Invalid("userIds", f"more than {MOST_USERS_INVITED} users would be invited")
        changes = _set_changes(add, Guests(group_ids=new_groups, user_ids=new_users))
        if not changes:
            return hangout
        changed: Hangout = (await self._invited(update(hangout, **changes), *there))[0]
        return changed

    @mutation("/hangouts/{hangout_id}/withdrawals", allow=host)
    async def withdraw(self, hangout_id: str, input: Guests) -> Hangout:
        """Take invitations back."""
        ref = Hangout.key(hangout_id=hangout_id)
        changes = _set_changes(remove, input)
        return await self.db.update(ref, **changes) if changes else await self.db.get(ref)

    @mutation("/hangouts/{hangout_id}/response", method="PUT", allow=guest)
    async def respond(self, hangout_id: str, answer: Answer, caller: Identity) -> Response:
        """Say whether you come; the counts on every list follow."""
        response = Response(hangout_id=hangout_id, user_id=caller.id, answer=answer)
        there = (check(Hangout.key(hangout_id=hangout_id)), check(User.key(user_id=caller.id)))
        given: Response = (await self.db.transact(put(response), *there))[0]
        return given

    @query("/hangouts/{hangout_id}/responses", allow=guest)
    async def responses(self, hangout_id: str, page: PageRequest) -> Page[Response]:
        """Who answered what."""
        return await responses_to.after(page.cursor)(self.db, hangout_id, limit=page.limit)

    async def _guests_there(
        self, group_ids: set[str], user_ids: set[str], caller: Identity
    ) -> list[Intent]:
        """The caller is in every invited group, and every invited user is there.

        What is given back checks it again in the transaction that invites them.
        """
        groups = sorted(group_ids)
        mine = await self.db.get_many(
            [Membership.key(group_id=group, user_id=caller.id) for group in groups]
        )
        strange = [group for group, found in zip(groups, mine, strict=True) if found is None]
        if strange:
            raise Invalid("groupIds", f"you are not in {', '.join(strange)}")
        users = sorted(user_ids)
        known = await self.db.get_many([User.key(user_id=user) for user in users])
        unknown = [user for user, found in zip(users, known, strict=True) if found is None]
        if unknown:
            raise Invalid("userIds", f"there is no {', '.join(unknown)}")
        return [
            *(check(Group.key(group_id=group), where=_is_open) for group in groups),
            *(check(User.key(user_id=user)) for user in users),
        ]

    async def _invited(self, *intents: Intent) -> list[Any]:
        try:
            return list(await self.db.transact(*intents))
        except ConditionFailed:
            raise Conflict("An invited group is being closed.", code="CLOSING") from None


def service(db: AsyncDb) -> Inviter:
    return Inviter(db)


def _member(group: Group, user: User) -> Membership:
    return Membership(
        group_id=group.group_id, user_id=user.user_id, group_name=group.name, user_name=user.name
    )


def _is_open(group: Any) -> Any:
    return group.closing == False  # noqa: E712 - recorded


def _card(pointer: GroupHangout | UserHangout) -> HangoutCard:
    return HangoutCard.model_validate(pointer.model_dump(include=set(HangoutCard.model_fields)))


def _set_changes(operation: Callable[[set[str]], Any], guests: Guests) -> dict[str, Any]:
    given = {"group_ids": guests.group_ids, "user_ids": guests.user_ids}
    return {name: operation(ids) for name, ids in given.items() if ids}


def _check_times(starts_at: Timestamp, ends_at: Timestamp) -> None:
    if ends_at <= starts_at:
        raise Invalid("endsAt", "a hangout ends after it starts")
    if ends_at - starts_at > LONGEST_HANGOUT:
        raise Invalid("endsAt", f"a hangout lasts at most {LONGEST_HANGOUT.days} days")
