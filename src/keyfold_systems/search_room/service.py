"""The operations of Search Room."""

from __future__ import annotations

from typing import ClassVar

from keyfold import (
    AsyncDb,
    Design,
    Page,
    add,
    check,
    create,
    delete,
    new_ulid,
    update,
)
from keyfold.api import (
    Conflict,
    Identity,
    Missing,
    PageRequest,
    Service,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import ConditionFailed, UniqueTaken
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member, owner
from keyfold_systems.search_room.criteria import CriteriaOperations
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    LatestCriteria,
    Listing,
    Member,
    Role,
    Room,
    Status,
    UserRoom,
)
from keyfold_systems.search_room.invitations import InvitationOperations
from keyfold_systems.search_room.patterns import (
    listing_by_external_id,
    listings_by_status,
    membership,
    room_listings,
    room_members,
    room_with_members,
    user_rooms,
)
from keyfold_systems.search_room.payloads import (
    ListingChange,
    NewListing,
    NewRoom,
    RoomView,
    Stated,
)


class SearchRoom(CriteriaOperations, InvitationOperations, Service):
    """Rooms in which people look for a home together."""

    design: ClassVar[Design] = design
    idempotent = True

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

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
        await self.db.transact(create(room), create(first), create(note))
        return await self.db.get(room.ref())

    @query("/rooms/{room_id}", allow=member)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/rooms/{room_id}/view", allow=member)
    async def room_view(self, room_id: str) -> RoomView:
        """A room with its members, in one query."""
        found = await room_with_members(self.db, room_id)
        return RoomView(room=found.one(Room), members=found.of(Member))

    @mutation("/rooms/{room_id}", method="PATCH", allow=owner)
    async def rename_room(self, room_id: str, name: Stated) -> Room:
        """Rename a room; every member's list follows."""
        return await self.db.update(Room.key(room_id=room_id), name=name)

    @mutation("/rooms/{room_id}", method="DELETE", allow=owner)
    async def delete_room(self, room_id: str) -> None:
        """Delete a room with everything in it and every member's entry.

        Nothing can be added to it from then on. A small room goes in one transaction; what is left
        of a larger one is removed by the stream, which goes on after an interruption.
        """
        await self.db.delete(Room.key(room_id=room_id), must_exist=True)

    @query("/users/{user_id}/rooms", allow=itself("user_id"))
    async def rooms(self, user_id: str, page: PageRequest) -> Page[UserRoom]:
        """Your rooms, with their names."""
        return await user_rooms.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/rooms/{room_id}/members", allow=member)
    async def members(self, room_id: str, page: PageRequest) -> Page[Member]:
        """Who is in a room."""
        return await room_members.after(page.cursor)(self.db, room_id, limit=page.limit)

    @mutation("/rooms/{room_id}/members/{user_id}/role", method="PUT", allow=owner)
    async def change_role(self, room_id: str, user_id: str, role: Role) -> Member:
        """Make somebody an owner or a member; the last owner stays one."""
        ref = Member.key(room_id=room_id, user_id=user_id)
        found = await self.db.get(ref)
        if found.role == role:
            return found
        remains = [] if role == Role.OWNER else [_another_owner(room_id)]
        try:
            changed: Member = (await self.db.transact(update(found, role=role), *remains))[0]
        except ConditionFailed:
            raise _last_owner() from None
        return changed

    @mutation(
        "/rooms/{room_id}/members/{user_id}", method="DELETE", allow=itself("user_id") | owner
    )
    async def leave(self, room_id: str, user_id: str) -> None:
        """Leave a room, or be taken out of it; your wishes go with you."""
        found = await membership(self.db, room_id, user_id)
        if found is None:
            raise Missing("They are not in this room.")
        note = self._activity(room_id, "MemberLeft", user_id)
        writes: list[Intent] = [delete(found, must_exist=True), create(note)]
        if found.role == Role.OWNER:
            writes.append(_another_owner(room_id))
        latest = await self.db.find(LatestCriteria.key(room_id=room_id, user_id=user_id))
        if latest is not None:
            writes += [delete(latest), self._superseded(latest)]
        try:
            await self.db.transact(*writes)
        except ConditionFailed:
            raise _last_owner() from None

    @mutation(
        "/rooms/{room_id}/listings",
        allow=member,
        status=201,
        example={
            "input": {
                "sourceBrand": "homegate",
                "externalId": "4001",
                "title": "Bright flat with a balcony",
                "location": "Bern",
            }
        },
    )
    async def add_listing(self, room_id: str, input: NewListing, caller: Identity) -> Listing:
        """Save a property; the same one from the same platform is in a room once."""
        listing = Listing(listing_id=new_ulid(), room_id=room_id, **dict(input))
        note = self._activity(room_id, "ListingPinned", caller.id, listing.title)
        try:
            made: Listing = (await self.db.transact(create(listing), create(note)))[0]
        except UniqueTaken:
            raise Conflict("This listing is in the room already.", code="DUPLICATE") from None
        return made

    @query("/rooms/{room_id}/listings", allow=member)
    async def listings(
        self, room_id: str, page: PageRequest, status: Status | None = None
    ) -> Page[Listing]:
        """A room's listings, all or by status."""
        if status is None:
            return await room_listings.after(page.cursor)(self.db, room_id, limit=page.limit)
        by_status = listings_by_status.after(page.cursor)
        return await by_status(self.db, room_id, status, limit=page.limit)

    @query("/rooms/{room_id}/listings/by-external-id", allow=member)
    async def listing_by_external_id(
        self, room_id: str, source_brand: str, external_id: str
    ) -> Listing:
        """A listing by its id on the platform it comes from."""
        found = await listing_by_external_id(self.db, room_id, source_brand, external_id)
        if found is None:
            raise Missing("There is no such listing in this room.")
        return found

    @query("/rooms/{room_id}/listings/{listing_id}", allow=member)
    async def listing(self, room_id: str, listing_id: str) -> Listing:
        """A listing."""
        return await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))

    @mutation(
        "/rooms/{room_id}/listings/{listing_id}",
        method="PATCH",
        allow=member,
        example={"input": {"status": "VISIT_PLANNED"}},
    )
    async def update_listing(
        self,
        room_id: str,
        listing_id: str,
        input: ListingChange,
        expected_version: int | None = None,
    ) -> Listing:
        """Change a listing or move it to another status."""
        listing = await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))
        if expected_version is not None:
            listing = listing.model_copy(update={"version": expected_version})
        changes = input.model_dump(exclude_none=True)
        return await self.db.update(listing, **changes) if changes else listing

    @mutation("/rooms/{room_id}/listings/{listing_id}/seen", allow=member)
    async def mark_seen(self, room_id: str, listing_id: str, caller: Identity) -> Listing:
        """Say that you have seen a listing."""
        ref = Listing.key(room_id=room_id, listing_id=listing_id)
        seen = add({caller.id})
        try:
            return await self.db.update(
                ref, seen_by=seen, status=Status.SEEN, where=lambda x: x.status == Status.UNSEEN
            )
        except ConditionFailed:
            return await self.db.update(ref, seen_by=seen)

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="DELETE", allow=member)
    async def delete_listing(self, room_id: str, listing_id: str) -> None:
        """Take a listing out of a room."""
        await self.db.delete(Listing.key(room_id=room_id, listing_id=listing_id), must_exist=True)


def service(db: AsyncDb) -> SearchRoom:
    return SearchRoom(db)


def _another_owner(room_id: str) -> Intent:
    return check(Room.key(room_id=room_id), where=lambda r: r.owner_count > 1)


def _last_owner() -> Conflict:
    return Conflict("The last owner stays; make somebody else one.", code="LAST_OWNER")
