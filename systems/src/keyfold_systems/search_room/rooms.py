"""Rooms and who is in them."""

from __future__ import annotations

from typing import Any

from pydantic.alias_generators import to_camel

from keyfold import Page, check, create, delete, missing, new_ulid, put, update
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    PageRequest,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member, owner, reader
from keyfold_systems.search_room.criteria import CriteriaOperations
from keyfold_systems.search_room.entities import (
    FormerRoom,
    LatestCriteria,
    Member,
    Role,
    Room,
    UserRoom,
)
from keyfold_systems.search_room.patterns import (
    latest_user_criteria,
    membership,
    room_by_id,
    room_members,
    room_with_members,
    rooms_by_id,
    user_rooms,
)
from keyfold_systems.search_room.payloads import NewRoom, RoomChange, RoomView
from keyfold_systems.search_room.people import named, named_one, named_page
from keyfold_systems.search_room.removal import another_owner, no_profile, staying
from keyfold_systems.search_room.versions import at_version, changes_of

ATTEMPTS = 5


class RoomOperations(CriteriaOperations):
    """Opening, changing, leaving and deleting rooms."""

    @mutation(
        "/rooms",
        allow=authenticated,
        status=201,
        example={"input": {"name": "Flat in Bern", "searchType": "rent"}},
    )
    async def create_room(self, input: NewRoom, caller: Identity) -> Room:
        """Open a room; you own it."""
        room = Room(room_id=new_ulid(), created_by_user_id=caller.id, **dict(input))
        first = Member(
            room_id=room.room_id, user_id=caller.id, role=Role.OWNER, room_name=room.name
        )
        note = self._activity(room.room_id, "RoomCreated", caller.id, room.name)
        try:
            await self.db.transact(create(room), create(first), create(note), *staying(caller.id))
        except (NotFound, ConditionFailed):
            raise no_profile() from None
        return await self.db.get(room.ref())

    @query("/rooms/{room_id}", allow=reader)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/rooms/{room_id}/view", allow=member)
    async def room_view(self, room_id: str) -> RoomView:
        """A room with its members, in one query."""
        found = await room_with_members(self.db, room_id)
        members = await named(self.db, found.of(Member), user_name="user_id")
        return RoomView(room=found.one(Room), members=members)

    @mutation(
        "/rooms/{room_id}",
        method="PATCH",
        allow=owner,
        example={"input": {"name": "Our first home"}},
    )
    async def update_room(
        self,
        room_id: str,
        input: RoomChange,
        caller: Identity,
        expected_version: int | None = None,
    ) -> Room:
        """Change a room's name, what it is for, its context, or whether a copilot is let in."""
        room = at_version(await self.db.get(Room.key(room_id=room_id)), expected_version)
        changes = changes_of(room, input.given())
        if not changes:
            return room
        notes = []
        if "name" in changes:
            notes.append(self._activity(room_id, "RoomRenamed", caller.id, changes["name"]))
        if others := sorted(map(to_camel, changes.keys() - {"name"})):
            notes.append(self._activity(room_id, "RoomChanged", caller.id, ", ".join(others)))
        writes: list[Intent] = [update(room, **changes), *map(create, notes)]
        changed: Room = (await self._written(room_id, caller, *writes))[0]
        return changed

    @mutation("/rooms/{room_id}", method="DELETE", allow=owner)
    async def delete_room(self, room_id: str) -> None:
        """Delete a room with everything in it and every member's entry.

        Nothing can be added to it from then on. A small room goes in one transaction; what is left
        of a larger one is removed by the stream, which goes on after an interruption.
        """
        await self.db.delete(Room.key(room_id=room_id), must_exist=True)

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[UserRoom]:
        """Your rooms, with their names and how many members and listings each has."""
        found = await user_rooms.after(page.cursor)(self.db, user_id, limit=page.limit)
        if not found.items:
            return found
        of = {
            room.room_id: room
            for room in await rooms_by_id(self.db, [one.room_id for one in found])
            if room is not None
        }
        shown = ("search_type", "member_count", "listing_count")
        return Page(
            [
                one.model_copy(update={x: getattr(of.get(one.room_id), x, None) for x in shown})
                for one in found
            ],
            found.cursor,
        )

    @query("/rooms/{room_id}/members", allow=reader)
    async def members(self, room_id: str, page: PageRequest) -> Page[Member]:
        """Who is in a room."""
        found = await room_members.after(page.cursor)(self.db, room_id, limit=page.limit)
        return await named_page(self.db, found, user_name="user_id")

    @mutation("/rooms/{room_id}/members/{user_id}/role", method="PUT", allow=owner)
    async def change_role(self, room_id: str, user_id: str, role: Role, caller: Identity) -> Member:
        """Make somebody an owner or a member; the last owner stays one."""
        ref = Member.key(room_id=room_id, user_id=user_id)
        found = await self.db.get(ref)
        if found.role == role:
            return await named_one(self.db, found, user_name="user_id")
        note = self._activity(room_id, "RoleChanged", caller.id, role.value, about=user_id)
        writes: list[Intent] = [update(found, role=role), create(note)]
        if role != Role.OWNER:
            writes.append(another_owner(room_id))
        try:
            changed: Member = (await self._about(user_id, room_id, caller, *writes))[0]
        except ConditionFailed:
            raise _last_owner() from None
        return await named_one(self.db, changed, user_name="user_id")

    @mutation(
        "/rooms/{room_id}/members/{user_id}", method="DELETE", allow=itself("user_id") | owner
    )
    async def leave(self, room_id: str, user_id: str, caller: Identity) -> None:
        """Leave a room, or be taken out of it; your wishes go with you."""
        left = caller.id == user_id
        kind = "MemberLeft" if left else "MemberRemoved"
        note = self._activity(room_id, kind, caller.id, about=None if left else user_id)
        trace = FormerRoom(user_id=user_id, room_id=room_id, left_at=self._now())
        for _ in range(ATTEMPTS):
            found = await membership(self.db, room_id, user_id)
            if found is None:
                raise Missing("They are not in this room.")
            writes: list[Intent] = [delete(found, must_exist=True), create(note), put(trace)]
            if found.role == Role.OWNER:
                writes.append(another_owner(room_id))
            try:
                writes += await self._wishes_end(room_id, user_id)
                await self._about(user_id, room_id, caller, *writes)
            except ConditionFailed:
                room = await room_by_id(self.db, room_id)
                if found.role == Role.OWNER and room is not None and room.owner_count < 2:
                    raise _last_owner() from None
                continue  # they said what they look for at the same time
            except NotFound:
                continue  # they are out already
            return
        raise Conflict("This member is changing all the time; try again.", code="BUSY")

    async def _about(
        self, user_id: str, room_id: str, caller: Identity, *writes: Intent
    ) -> list[Any]:
        """Writes about a member, by another one or by themselves."""
        if caller.id == user_id:
            return list(await self.db.transact(*writes))
        return await self._written(room_id, caller, *writes)

    async def _wishes_end(self, room_id: str, user_id: str) -> list[Intent]:
        """What somebody looks for goes with them, and nothing that they say meanwhile stays."""
        latest = await latest_user_criteria(self.db, room_id, user_id)
        if latest is None:
            nothing = LatestCriteria.key(room_id=room_id, user_id=user_id)
            return [check(nothing, where=lambda c: missing(c.user_id))]
        said = latest.criteria_id
        gone = delete(latest.ref(), where=lambda c: c.criteria_id == said)
        return [gone, self._superseded(latest)]


def _last_owner() -> Conflict:
    return Conflict("The last owner stays; make somebody else one.", code="LAST_OWNER")
