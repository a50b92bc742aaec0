"""How somebody comes into a room: an owner asks, and who is asked joins or declines."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from keyfold import Page, check, create, delete, missing, put, update
from keyfold.api import (
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
from keyfold_systems.search_room.access import member, owner
from keyfold_systems.search_room.activities import ActivityOperations
from keyfold_systems.search_room.entities import (
    MOST_MEMBERS,
    Invitation,
    InvitationStatus,
    Member,
    Role,
    Room,
    UserInvitation,
)
from keyfold_systems.search_room.patterns import (
    invitation,
    membership,
    room_invitations,
    user_invitations,
)

UserId = Annotated[str, Field(min_length=1, max_length=120)]


class InvitationOperations(ActivityOperations):
    """Asking, joining, declining, withdrawing."""

    @mutation("/rooms/{room_id}/invitations", allow=owner, status=201, example={"user_id": "jonas"})
    async def invite(
        self, room_id: str, user_id: UserId, caller: Identity, role: Role = Role.MEMBER
    ) -> Invitation:
        """Ask somebody into a room; who declined, or let it expire, may be asked again."""
        room = await self.db.get(Room.key(room_id=room_id))
        now = self._now()
        asked = Invitation(
            room_id=room_id,
            user_id=user_id,
            role=role,
            room_name=room.name,
            invited_by=caller.id,
            invited_at=now,
        )
        note = self._activity(room_id, "MemberInvited", caller.id, user_id)
        outside = check(
            Member.key(room_id=room_id, user_id=user_id), where=lambda m: missing(m.user_id)
        )
        sent = put(asked, where=lambda i: missing(i.user_id) | ~_open(i, now))
        try:
            made: Invitation = (await self.db.transact(sent, create(note), outside))[0]
        except ConditionFailed:
            if await membership(self.db, room_id, user_id) is not None:
                raise _member_already() from None
            raise Conflict("They are invited already.", code="ALREADY_INVITED") from None
        return made

    @query("/rooms/{room_id}/invitations", allow=member)
    async def invitations(self, room_id: str, page: PageRequest) -> Page[Invitation]:
        """Who is asked into a room, and who declined."""
        return await room_invitations.after(page.cursor)(self.db, room_id, limit=page.limit)

    @mutation("/rooms/{room_id}/invitations/{user_id}", method="DELETE", allow=owner)
    async def withdraw(self, room_id: str, user_id: str, caller: Identity) -> None:
        """Take an invitation back that is not answered yet."""
        ref = Invitation.key(room_id=room_id, user_id=user_id)
        now = self._now()
        note = self._activity(room_id, "InvitationWithdrawn", caller.id, user_id)
        try:
            await self.db.transact(delete(ref, where=lambda i: _open(i, now)), create(note))
        except (ConditionFailed, NotFound):
            raise Missing("They have no open invitation to this room.") from None

    @query("/users/{user_id}/invitations", allow=itself("user_id"))
    async def my_invitations(self, user_id: str, page: PageRequest) -> Page[UserInvitation]:
        """The rooms that you are asked into."""
        return await user_invitations.after(page.cursor)(self.db, user_id, limit=page.limit)

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
            made = await self.db.transact(create(joined), accepted, create(note), place)
        except (AlreadyExists, NotFound, ConditionFailed):
            raise await self._refusal(room_id, caller) from None
        new_member: Member = made[0]
        return new_member

    async def _refusal(self, room_id: str, caller: Identity) -> Refused:
        """Why somebody cannot join: they have just done so, the room is full, nobody asked them."""
        if await membership(self.db, room_id, caller.id) is not None:
            return _member_already()
        asked = await invitation(self.db, room_id, caller.id)
        room = await self.db.find(Room.key(room_id=room_id))
        if asked is None or asked.status != InvitationStatus.PENDING or room is None:
            # The same for rooms that are not there: nobody learns which rooms there are.
            return NotAllowed(
                "You are not invited to this room, or not any more; ask an owner.",
                code="NOT_INVITED",
            )
        return Conflict(f"A room has at most {MOST_MEMBERS} members.", code="FULL")


def _open(one: Any, now: Any) -> Any:
    """Recorded: it waits for an answer. One that has expired may still be stored for a while."""
    return (one.status == InvitationStatus.PENDING) & (one.expires_at > now)


def _member_already() -> Conflict:
    return Conflict("They are a member already.", code="ALREADY_MEMBER")
