"""How somebody comes into a room: an owner asks them by name, or gives them a link."""

from __future__ import annotations

from secrets import token_urlsafe
from typing import Annotated, Any

from pydantic import Field

from keyfold import Page, check, create, delete, missing, put, update
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    NotAllowed,
    PageRequest,
    Refused,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member, owner
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    AskedRoom,
    FormerRoom,
    Invitation,
    InvitationLink,
    InvitationStatus,
    Member,
    Role,
    Room,
    UserInvitation,
)
from keyfold_systems.search_room.patterns import (
    invitation,
    invitation_link,
    membership,
    room_invitations,
    room_links,
    user_invitations,
)
from keyfold_systems.search_room.people import named_one, named_page
from keyfold_systems.search_room.removal import no_profile, staying, stays
from keyfold_systems.search_room.rooms import RoomOperations

UserId = Annotated[str, Field(min_length=1, max_length=120)]


class InvitationOperations(RoomOperations):
    """Asking, joining, declining, withdrawing; links for those who are not here yet."""

    @mutation("/rooms/{room_id}/invitations", allow=owner, status=201, example={"user_id": "jonas"})
    async def invite(
        self, room_id: str, user_id: UserId, caller: Identity, role: Role = Role.MEMBER
    ) -> Invitation:
        """Ask somebody who has a profile; who declined, or let it expire, may be asked again."""
        room = await self.db.get(Room.key(room_id=room_id))
        if user_id == caller.id:
            raise _member_already()
        now = self._now()
        asked = Invitation(
            room_id=room_id,
            user_id=user_id,
            role=role,
            room_name=room.name,
            invited_by=caller.id,
            invited_at=now,
        )
        note = self._activity(room_id, "MemberInvited", caller.id, about=user_id)
        outside = check(
            Member.key(room_id=room_id, user_id=user_id), where=lambda m: missing(m.user_id)
        )
        sent = put(asked, where=lambda i: missing(i.user_id) | ~_open(i, now))
        writes: list[Intent] = [sent, create(note), outside, *staying(user_id)]
        if await self.db.find(FormerRoom.key(user_id=user_id, room_id=room_id)) is None:
            writes.append(put(AskedRoom(user_id=user_id, room_id=room_id, asked_at=now)))
        try:
            made: Invitation = (await self._written(room_id, caller, *writes))[0]
        except (ConditionFailed, NotFound):
            if not await stays(self.db, user_id):
                raise Missing("Nobody here has this id; give them a link.", code="NOBODY") from None
            if await membership(self.db, room_id, user_id) is not None:
                raise _member_already() from None
            raise Conflict("They are invited already.", code="ALREADY_INVITED") from None
        return await named_one(self.db, made, user_name="user_id", invited_by_name="invited_by")

    @query("/rooms/{room_id}/invitations", allow=member)
    async def invitations(self, room_id: str, page: PageRequest) -> Page[Invitation]:
        """Who is asked into a room, and who declined."""
        found = await room_invitations.after(page.cursor)(self.db, room_id, limit=page.limit)
        return await named_page(self.db, found, user_name="user_id", invited_by_name="invited_by")

    @mutation("/rooms/{room_id}/invitations/{user_id}", method="DELETE", allow=owner)
    async def withdraw(self, room_id: str, user_id: str, caller: Identity) -> None:
        """Take an invitation back that is not answered yet."""
        ref = Invitation.key(room_id=room_id, user_id=user_id)
        now = self._now()
        note = self._activity(room_id, "InvitationWithdrawn", caller.id, about=user_id)
        try:
            withdrawn = delete(ref, where=lambda i: _open(i, now))
            await self._written(room_id, caller, withdrawn, create(note))
        except (ConditionFailed, NotFound):
            raise Missing("They have no open invitation to this room.") from None

    @query("/users/{user_id}/invitations", allow=itself("user_id"))
    async def my_invitations(self, user_id: str, page: PageRequest) -> Page[UserInvitation]:
        """The rooms that you are asked into."""
        found = await user_invitations.after(page.cursor)(self.db, user_id, limit=page.limit)
        return await named_page(self.db, found, invited_by_name="invited_by")

    @mutation("/users/{user_id}/invitations/{room_id}", method="DELETE", allow=itself("user_id"))
    async def decline(self, user_id: str, room_id: str) -> None:
        """Say that you do not come."""
        ref = Invitation.key(room_id=room_id, user_id=user_id)
        now = self._now()
        said = update(ref, status=InvitationStatus.DECLINED, where=lambda i: _open(i, now))
        note = self._activity(room_id, "InvitationDeclined", user_id)
        try:
            await self.db.transact(said, create(note))
        except (ConditionFailed, NotFound):
            raise Missing("You have no open invitation to this room.") from None

    @mutation("/rooms/{room_id}/members", allow=authenticated, status=201)
    async def join(self, room_id: str, caller: Identity) -> Member:
        """Accept an invitation."""
        asked = await invitation(self.db, room_id, caller.id)
        room = await self.db.find(Room.key(room_id=room_id))
        if asked is None or asked.status != InvitationStatus.PENDING or room is None:
            raise await self._refusal(room_id, caller)
        joined = Member(room_id=room_id, user_id=caller.id, role=asked.role, room_name=room.name)
        note = self._activity(room_id, "MemberJoined", caller.id)
        place = check(room.ref(), where=lambda r: r.member_count < MOST_MEMBERS)
        now = self._now()
        accepted = delete(asked.ref(), where=lambda i: _open(i, now))
        try:
            made = await self.db.transact(
                create(joined), accepted, create(note), place, *_traces(room_id, caller.id)
            )
        except (AlreadyExists, NotFound, ConditionFailed):
            raise await self._refusal(room_id, caller) from None
        new_member: Member = made[0]
        return await named_one(self.db, new_member, user_name="user_id")

    @mutation("/rooms/{room_id}/links", allow=owner, status=201)
    async def create_link(self, room_id: str, caller: Identity) -> InvitationLink:
        """Make a link by which whoever has it can join, until it expires or is taken back."""
        room = await self.db.get(Room.key(room_id=room_id))
        link = InvitationLink(
            room_id=room_id,
            link_id=token_urlsafe(16),
            room_name=room.name,
            invited_by=caller.id,
            invited_at=self._now(),
        )
        note = self._activity(room_id, "LinkCreated", caller.id)
        made: InvitationLink = (await self._written(room_id, caller, create(link), create(note)))[0]
        return await named_one(self.db, made, invited_by_name="invited_by")

    @query("/rooms/{room_id}/links", allow=owner)
    async def links(self, room_id: str, page: PageRequest) -> Page[InvitationLink]:
        """The links into a room."""
        found = await room_links.after(page.cursor)(self.db, room_id, limit=page.limit)
        return await named_page(self.db, found, invited_by_name="invited_by")

    @query("/rooms/{room_id}/links/{link_id}", allow=authenticated)
    async def link(self, room_id: str, link_id: str) -> InvitationLink:
        """What a link leads to; nobody guesses one."""
        found = await invitation_link(self.db, room_id, link_id)
        if found is None:
            raise _no_link()
        return await named_one(self.db, found, invited_by_name="invited_by")

    @mutation("/rooms/{room_id}/links/{link_id}", method="DELETE", allow=owner)
    async def revoke_link(self, room_id: str, link_id: str, caller: Identity) -> None:
        """Take a link back; who has joined by it stays."""
        found = await invitation_link(self.db, room_id, link_id)
        if found is None:
            raise _no_link()
        note = self._activity(room_id, "LinkRevoked", caller.id)
        await self._written(room_id, caller, delete(found.ref()), create(note))

    @mutation("/rooms/{room_id}/links/{link_id}/members", allow=authenticated, status=201)
    async def join_by_link(self, room_id: str, link_id: str, caller: Identity) -> Member:
        """Join a room by a link that somebody gave you."""
        found = await invitation_link(self.db, room_id, link_id)
        room = await self.db.find(Room.key(room_id=room_id))
        if found is None or room is None:
            raise _no_link()
        now = self._now()
        asked = Invitation.key(room_id=room_id, user_id=caller.id)
        joined = Member(room_id=room_id, user_id=caller.id, room_name=room.name)
        note = self._activity(room_id, "MemberJoined", caller.id)
        valid = check(found.ref(), where=lambda x: _valid(x, now))
        place = check(room.ref(), where=lambda r: r.member_count < MOST_MEMBERS)
        writes = create(joined), delete(asked), create(note), valid, place
        try:
            made = await self.db.transact(
                *writes, *_traces(room_id, caller.id), *staying(caller.id)
            )
        except (AlreadyExists, NotFound, ConditionFailed):
            if await membership(self.db, room_id, caller.id) is not None:
                raise _you_are_in() from None
            if await invitation_link(self.db, room_id, link_id) is None:
                raise _no_link() from None
            if not await stays(self.db, caller.id):
                raise no_profile() from None
            raise _full() from None
        new_member: Member = made[0]
        return await named_one(self.db, new_member, user_name="user_id")

    async def _refusal(self, room_id: str, caller: Identity) -> Refused:
        """Why somebody cannot join: they have just done so, the room is full, nobody asked them."""
        if await membership(self.db, room_id, caller.id) is not None:
            return _you_are_in()
        asked = await invitation(self.db, room_id, caller.id)
        room = await self.db.find(Room.key(room_id=room_id))
        if asked is None or asked.status != InvitationStatus.PENDING or room is None:
            # The same for rooms that are not there: nobody learns which rooms there are.
            return NotAllowed(
                "You are not invited to this room, or not any more; ask an owner.",
                code="NOT_INVITED",
            )
        return _full()


def _traces(room_id: str, user_id: str) -> list[Intent]:
    """Somebody's room of before is now among those that they are in."""
    before = (AskedRoom.key, FormerRoom.key)
    return [delete(key(user_id=user_id, room_id=room_id)) for key in before]


def _open(one: Any, now: Any) -> Any:
    """Recorded: it waits for an answer. One that has expired may still be stored for a while."""
    return (one.status == InvitationStatus.PENDING) & _valid(one, now)


def _valid(one: Any, now: Any) -> Any:
    return one.expires_at > now


def _full() -> Conflict:
    return Conflict(f"A room has at most {MOST_MEMBERS} members.", code="FULL")


def _no_link() -> Missing:
    # The same for rooms that are not there: nobody learns which rooms there are.
    return Missing("This link leads nowhere, or not any more; ask an owner.", code="NO_LINK")


def _member_already() -> Conflict:
    return Conflict("They are a member already.", code="ALREADY_MEMBER")


def _you_are_in() -> Conflict:
    return Conflict("You are a member already.", code="ALREADY_MEMBER")
