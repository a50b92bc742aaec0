"""Hangouts: planning them, inviting to them, and the lists that show them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from datetime import timedelta
from typing import Any

from keyfold import Page, Timestamp, add, check, create, new_ulid, put, remove, update
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
from keyfold.errors import ConditionFailed
from keyfold.runtime import Intent
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_INVITED,
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
from keyfold_systems.inviter.operations.access import (
    Part,
    group_of,
    guest,
    host,
    is_open,
    member,
    stays,
)
from keyfold_systems.inviter.patterns import (
    group_feed,
    group_upcoming,
    groups_of_user,
    hosted_by,
    responses_to,
    user_upcoming,
)
from keyfold_systems.inviter.payloads import (
    GroupName,
    GuestList,
    Guests,
    HangoutCard,
    HangoutChange,
    InvitedPerson,
    NewHangout,
)

LONGEST_HANGOUT = timedelta(days=14)
LATEST_PLAN = timedelta(hours=1)
"""How long after its start a hangout can still be planned: people are there already."""

Listed = GroupHangout | UserHangout | Hangout


class Hangouts(Part):
    """Hangouts and who comes."""

    @query("/groups/{group_id}/feed", allow=member)
    async def group_feed(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[HangoutCard]:
        """A group's feed, newest first."""
        found = await group_feed.after(page.cursor)(self.db, group_id, limit=page.limit)
        return Page(await self._cards(found, caller.id), found.cursor)

    @query("/groups/{group_id}/upcoming", allow=member)
    async def group_upcoming(
        self, group_id: str, page: PageRequest, caller: Identity
    ) -> Page[HangoutCard]:
        """What a group has before it, by time; running hangouts are part of it."""
        now = self.db.context.now()
        found = await group_upcoming.after(page.cursor)(
            self.db, group_id, now - LONGEST_HANGOUT, now, limit=page.limit
        )
        return Page(await self._cards(found, caller.id), found.cursor)

    @query("/users/{user_id}/hangouts", allow=itself("user_id"))
    async def my_hangouts(self, user_id: str, page: PageRequest) -> Page[HangoutCard]:
        """All you have before you, by time: what you host, your invitations, all your groups'."""
        now = self.db.context.now()
        names = {one.group_id: one.group_name async for one in self._groups(user_id)}
        found = await user_upcoming.after(page.cursor)(
            self.db, user_id, sorted(names), now - LONGEST_HANGOUT, now, limit=page.limit
        )
        return Page(await self._cards(found, user_id, names), found.cursor)

    @query("/users/{user_id}/hosted", allow=itself("user_id"))
    async def hosted(self, user_id: str, page: PageRequest) -> Page[HangoutCard]:
        """The hangouts that you host and hosted, newest first."""
        found = await hosted_by.after(page.cursor)(self.db, user_id, limit=page.limit)
        return Page(await self._cards(found, user_id), found.cursor)

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
        """Invite people to a hangout; it stands on your own list too."""
        self._check_times(input.starts_at, input.ends_at, moved=True)
        invited = input.user_ids - {caller.id}
        host, there = await self._guests_there(input.group_ids, invited, caller)
        hangout = Hangout(
            hangout_id=new_ulid(),
            host_id=caller.id,
            host_name=host.name,
            **{**dict(input), "user_ids": {*invited, caller.id}},
        )
        made: Hangout = (
            await self._invited(create(hangout), check(host.ref(), where=stays), *there)
        )[0]
        return made

    @query("/hangouts/{hangout_id}", allow=guest)
    async def hangout(self, hangout_id: str) -> Hangout:
        """One hangout's page."""
        return await self.db.get(Hangout.key(hangout_id=hangout_id))

    @query("/hangouts/{hangout_id}/guests", allow=guest)
    async def guests(self, hangout_id: str, caller: Identity) -> GuestList:
        """Who is invited, by name, and what you answered."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        ids = hangout.user_ids
        keys: list[Any] = [
            *(Group.key(group_id=one) for one in sorted(hangout.group_ids)),
            *(User.key(user_id=one) for one in sorted(ids)),
            *(Response.key(hangout_id=hangout_id, user_id=one) for one in {*ids, caller.id}),
        ]
        found = await self.db.get_many(keys)
        answers = {one.user_id: one.answer for one in found if isinstance(one, Response)}
        return GuestList(
            host_id=hangout.host_id,
            host_name=hangout.host_name,
            groups=[
                GroupName(group_id=one.group_id, name=one.name, members=one.members)
                for one in found
                if isinstance(one, Group)
            ],
            users=[
                InvitedPerson(user_id=one.user_id, name=one.name, answer=answers.get(one.user_id))
                for one in found
                if isinstance(one, User)
            ],
            my_answer=answers.get(caller.id),
        )

    @mutation("/hangouts/{hangout_id}", method="PATCH", allow=host)
    async def update_hangout(
        self, hangout_id: str, input: HangoutChange, expected_version: int | None = None
    ) -> Hangout:
        """Change a hangout; every list that shows it follows."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        changes = input.given()
        if not changes:
            return hangout
        starts_at = changes.get("starts_at", hangout.starts_at)
        self._check_times(
            starts_at,
            changes.get("ends_at", hangout.ends_at),
            moved=starts_at != hangout.starts_at,
        )
        if expected_version is not None:
            hangout = hangout.model_copy(update={"version": expected_version})
        return await self.db.update(hangout, **changes)

    @mutation("/hangouts/{hangout_id}", method="DELETE", allow=host)
    async def delete_hangout(self, hangout_id: str) -> None:
        """Delete a hangout with its answers and pointers."""
        await self.db.delete(Hangout.key(hangout_id=hangout_id))

    @mutation("/hangouts/{hangout_id}/guests", allow=host)
    async def invite(self, hangout_id: str, input: Guests, caller: Identity) -> Hangout:
        """Invite more groups and users."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        self._refuse_past(hangout)
        new_groups = input.group_ids - hangout.group_ids
        new_users = input.user_ids - hangout.user_ids
        _, there = await self._guests_there(new_groups, new_users, caller)
        if len(hangout.group_ids | input.group_ids) > MOST_GROUPS_INVITED:
            raise Invalid("groupIds", f"more than {MOST_GROUPS_INVITED} groups would be invited")
        if len((hangout.user_ids | input.user_ids) - {hangout.host_id}) > MOST_USERS_INVITED:
            raise Invalid("userIds", f"more than {MOST_USERS_INVITED} users would be invited")
        changes = _set_changes(add, Guests(group_ids=new_groups, user_ids=new_users))
        if not changes:
            return hangout
        changed: Hangout = (await self._invited(update(hangout, **changes), *there))[0]
        return changed

    @mutation("/hangouts/{hangout_id}/withdrawals", allow=host)
    async def withdraw(self, hangout_id: str, input: Guests) -> Hangout:
        """Take invitations back; the answers that were given to them go too."""
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        if hangout.host_id in input.user_ids:
            raise Invalid("userIds", "the host stays; cancel or delete the hangout instead")
        changes = _set_changes(remove, input)
        return await self.db.update(hangout.ref(), **changes) if changes else hangout

    @mutation("/hangouts/{hangout_id}/response", method="PUT", allow=guest)
    async def respond(self, hangout_id: str, answer: Answer, caller: Identity) -> Response:
        """Say whether you come; the counts on every list follow in a moment.

        Nothing is written that others write who answer at the same time.
        """
        hangout = await self.db.get(Hangout.key(hangout_id=hangout_id))
        self._refuse_past(hangout)
        user = await self.person(caller.id)
        # Who is in an invited group answers as its member, also if they were invited by name.
        group_id = await group_of(self.db, hangout, caller.id)
        if group_id is None and caller.id not in hangout.user_ids:
            raise NotAllowed("You are not invited any more.")
        response = Response(
            hangout_id=hangout_id,
            user_id=caller.id,
            user_name=user.name,
            answer=answer,
            group_id=group_id,
            guest_id=caller.id if group_id is None else None,
        )
        given: Response = (await self.db.transact(put(response), check(user.ref(), where=stays)))[0]
        return given

    @query("/hangouts/{hangout_id}/responses", allow=guest)
    async def responses(self, hangout_id: str, page: PageRequest) -> Page[Response]:
        """Who answered what."""
        return await responses_to.after(page.cursor)(self.db, hangout_id, limit=page.limit)

    async def _groups(self, user_id: str) -> AsyncIterator[Membership]:
        """All groups of a user, in as many pages as there are."""
        cursor: str | None = None
        while True:
            page = await groups_of_user.after(cursor)(self.db, user_id)
            for one in page:
                yield one
            cursor = page.cursor
            if cursor is None:
                return

    async def _cards(
        self, listed: Iterable[Listed], user_id: str, names: dict[str, str] | None = None
    ) -> list[HangoutCard]:
        """Hangouts as a list shows them, with what the reader answered: one request for all.

        Names of groups that are not known already come from the reader's memberships.
        """
        found, names = list(listed), names or {}
        groups = {one.group_id for one in found if isinstance(one, GroupHangout)} - names.keys()
        keys: list[Any] = [
            *(Response.key(hangout_id=one.hangout_id, user_id=user_id) for one in found),
            *(Membership.key(group_id=one, user_id=user_id) for one in sorted(groups)),
        ]
        mine = await self.db.get_many(keys)
        answers, memberships = mine[: len(found)], mine[len(found) :]
        names |= {one.group_id: one.group_name for one in memberships if one is not None}
        return [
            _card(one, None if answer is None else answer.answer, names)
            for one, answer in zip(found, answers, strict=True)
        ]

    async def _guests_there(
        self, group_ids: set[str], user_ids: set[str], caller: Identity
    ) -> tuple[User, list[Intent]]:
        """The host, who is in every invited group, where every invited user is there.

        The checks say so again in the transaction that invites them.
        """
        groups, users = sorted(group_ids), sorted(user_ids)
        keys: list[Any] = [
            *(User.key(user_id=one) for one in (caller.id, *users)),
            *(Membership.key(group_id=one, user_id=caller.id) for one in groups),
        ]
        found = await self.db.get_many(keys)
        people = {one.user_id: one for one in found if isinstance(one, User) and not one.leaving}
        mine = {one.group_id for one in found if isinstance(one, Membership)}
        if caller.id not in people:
            raise Missing.of("user", caller.id)
        if strange := [one for one in groups if one not in mine]:
            raise Invalid("groupIds", f"you are not in {', '.join(strange)}")
        if unknown := [one for one in users if one not in people]:
            raise Invalid("userIds", f"there is no {', '.join(unknown)}")
        return people[caller.id], [
            *(check(Group.key(group_id=one), where=is_open) for one in groups),
            *(check(User.key(user_id=one), where=stays) for one in users),
        ]

    async def _invited(self, *intents: Intent) -> list[Any]:
        try:
            return list(await self.db.transact(*intents))
        except ConditionFailed:
            raise Conflict(
                "An invited group is being closed, or somebody invited leaves.", code="CLOSING"
            ) from None

    def _check_times(self, starts_at: Timestamp, ends_at: Timestamp, *, moved: bool) -> None:
        if ends_at <= starts_at:
            raise Invalid("endsAt", "a hangout ends after it starts")
        if ends_at - starts_at > LONGEST_HANGOUT:
            raise Invalid("endsAt", f"a hangout lasts at most {LONGEST_HANGOUT.days} days")
        if moved and starts_at < self.db.context.now() - LATEST_PLAN:
            raise Invalid("startsAt", "a hangout is planned before it starts")

    def _refuse_past(self, hangout: Hangout) -> None:
        """Nobody is invited to what is over or cancelled, and nobody answers."""
        if hangout.cancelled:
            raise Conflict("The hangout is cancelled.", code="CANCELLED")
        if hangout.ends_at <= self.db.context.now():
            raise Conflict("The hangout is over.", code="OVER")


def _card(listed: Listed, answer: Answer | None, names: dict[str, str]) -> HangoutCard:
    shown = set(HangoutCard.model_fields) - {"my_answer", "group_name"}
    card = listed.model_dump(include=shown)
    group_id = card.get("group_id")
    return HangoutCard(**card, group_name=names.get(group_id or ""), my_answer=answer)


def _set_changes(operation: Callable[[set[str]], Any], guests: Guests) -> dict[str, Any]:
    given = {"group_ids": guests.group_ids, "user_ids": guests.user_ids}
    return {name: operation(ids) for name, ids in given.items() if ids}
