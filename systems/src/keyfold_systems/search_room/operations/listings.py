"""Listings of a room."""

from __future__ import annotations

from contextlib import suppress

from keyfold import Page, append, create, delete, new_ulid, update
from keyfold.conditions import contains, not_
from keyfold.errors import ConditionFailed, UniqueTaken
from keyfold_systems.search_room import patterns
from keyfold_systems.search_room.entities import (
    Listing,
    Status,
)
from keyfold_systems.search_room.operations.rooms import RoomOperations, member
from keyfold_systems.search_room.views import (
    ListingChange,
    NewListing,
    changes_of,
)
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    PageRequest,
    mutation,
    query,
)


class ListingOperations(RoomOperations):
    """Listings of a room."""

    @mutation("/rooms/{room_id}/listings", allow=member, status=201)
    async def add_listing(self, room_id: str, input: NewListing, caller: Identity) -> Listing:
        """Save a listing; one from the same platform is in a room once."""
        new = Listing(listing_id=new_ulid(), room_id=room_id, **dict(input))
        note = self._note(room_id, "ListingPinned", caller, new.title)
        try:
            made: Listing = (await self._written(caller, room_id, create(new), create(note)))[0]
        except UniqueTaken:
            raise Conflict("This listing is in the room already.", code="DUPLICATE") from None
        return made

    @query("/rooms/{room_id}/listings", allow=member)
    async def listings(
        self, room_id: str, page: PageRequest, status: Status | None = None
    ) -> Page[Listing]:
        """A room's listings, all or by status."""
        if status is not None:
            return await page.read(self.db, patterns.listings_by_status, room_id, status)
        return await page.read(self.db, patterns.room_listings, room_id)

    @query("/rooms/{room_id}/listings/by-external-id", allow=member)
    async def listing_by_external_id(
        self, room_id: str, source_brand: str, external_id: str
    ) -> Listing:
        """A listing by its id on the platform it comes from."""
        read = patterns.listing_by_external_id
        found = await read(self.db, room_id, source_brand, external_id)
        return Missing.unless(found, f"listing of {source_brand}", external_id)

    @query("/rooms/{room_id}/listings/{listing_id}", allow=member)
    async def listing(self, room_id: str, listing_id: str) -> Listing:
        """A listing."""
        return await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="PATCH", allow=member)
    async def update_listing(
        self,
        room_id: str,
        listing_id: str,
        input: ListingChange,
        caller: Identity,
        expected_version: int | None = None,
    ) -> Listing:
        """Change a listing, or move it to any other status."""
        found = await self.listing(room_id, listing_id)
        changes = changes_of(found, input.given())
        if not changes:
            return found
        kind = "ListingMoved" if "status" in changes else "ListingChanged"
        said = f"{found.title}: {changes['status']}" if "status" in changes else found.title
        note = self._note(room_id, kind, caller, said)
        change = update(found, **changes, expected_version=expected_version)
        changed: Listing = (await self._written(caller, room_id, change, create(note)))[0]
        return changed

    @mutation("/rooms/{room_id}/listings/{listing_id}/seen", allow=member)
    async def mark_seen(self, room_id: str, listing_id: str, caller: Identity) -> Listing:
        """Mark a listing as seen by you; the first time makes it SEEN."""
        ref = Listing.key(room_id=room_id, listing_id=listing_id)
        unseen = update(ref, status=Status.SEEN, where=lambda x: x.status == Status.UNSEEN)
        mine = update(
            ref, seen_by=append([caller.id]), where=lambda x: not_(contains(x.seen_by, caller.id))
        )
        for write in (mine, unseen):
            with suppress(ConditionFailed):  # it is so already
                await self._written(caller, room_id, write)
        return await self.listing(room_id, listing_id)

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="DELETE", allow=member)
    async def delete_listing(self, room_id: str, listing_id: str, caller: Identity) -> None:
        """Remove a listing from a room."""
        found = await self.listing(room_id, listing_id)
        note = self._note(room_id, "ListingRemoved", caller, found.title)
        await self._written(caller, room_id, delete(found.ref(), must_exist=True), create(note))
