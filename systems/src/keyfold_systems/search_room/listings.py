"""The properties of a room: saved once, moved from status to status, seen and voted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field

from keyfold import Page, Query, add, contains, create, delete, new_ulid, remove, update
from keyfold_web import Conflict, Identity, Missing, PageRequest, mutation, query
from keyfold.errors import ConditionFailed, StepRefused, UniqueTaken, ValueRefused
from keyfold_systems.search_room.access import member, reader
from keyfold_systems.search_room.activities import ActivityOperations
from keyfold_systems.search_room.entities import Amount, Listing
from keyfold_systems.search_room.patterns import listing_by_external_id, room_members
from keyfold_systems.search_room.payloads import ListingChange, NewListing
from keyfold_systems.search_room.people import named
from keyfold_systems.search_room.status import STEPS, Status
from keyfold_systems.search_room.versions import at_version, changes_of

Word = Annotated[str, Field(min_length=1, max_length=120)]
Vote = Literal["like", "dislike"]


class ListingOperations(ActivityOperations):
    """Saving, changing, moving, seeing, voting and removing."""

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
                "price": 2150,
                "link": "https://www.homegate.ch/rent/4001",
            }
        },
    )
    async def add_listing(self, room_id: str, input: NewListing, caller: Identity) -> Listing:
        """Save a property; the same one from the same platform is in a room once."""
        listing = Listing(listing_id=new_ulid(), room_id=room_id, added_by=caller.id, **dict(input))
        note = self._activity(
            room_id, "ListingPinned", caller.id, listing.title, about=listing.listing_id
        )
        try:
            written = await self._written(room_id, caller, create(listing), create(note))
        except UniqueTaken:
            raise Conflict("This listing is in the room already.", code="DUPLICATE") from None
        made: Listing = written[0]
        return (await self._listing_views([made], caller))[0]

    @query("/rooms/{room_id}/listings", allow=reader)
    async def listings(
        self,
        room_id: str,
        page: PageRequest,
        caller: Identity,
        status: Status | None = None,
        min_price: Amount | None = None,
        max_price: Amount | None = None,
        min_rooms: Amount | None = None,
        min_surface: Amount | None = None,
        location: Word | None = None,
        text: Word | None = None,
    ) -> Page[Listing]:
        """A room's listings, newest first: all, by status, or those that fit what is asked for.

        A listing that does not say its price fits no price. A word of a title is found as it is
        written, in small letters, in capitals, or with a capital.
        """
        wanted: Query[Listing] = Listing.key.query(room_id=room_id)
        if status is not None:
            wanted = Listing.by_status.query(room_id=room_id, status=status)
        bounds = (("price", min_price), ("rooms", min_rooms), ("surface", min_surface))
        for field, bound in bounds:
            wanted = wanted if bound is None else wanted.where(_at_least(field, bound))
        if max_price is not None:
            wanted = wanted.where(_at_most("price", max_price))
        if location is not None:
            wanted = wanted.where(lambda x: x.location == location)
        if text is not None:
            wanted = wanted.where(_has_word(text))
        read = wanted.descending().limit(page.limit)
        found = await self.db.read(read, cursor=page.cursor)
        return Page(await self._listing_views(found.items, caller), found.cursor)

    @query("/rooms/{room_id}/listings/by-external-id", allow=reader)
    async def listing_by_external_id(
        self, room_id: str, source_brand: str, external_id: str, caller: Identity
    ) -> Listing:
        """A listing by its id on the platform it comes from."""
        found = await listing_by_external_id(self.db, room_id, source_brand, external_id)
        if found is None:
            raise Missing.of(f"listing of {source_brand}", external_id)
        return (await self._listing_views([found], caller))[0]

    @query("/rooms/{room_id}/listings/{listing_id}", allow=reader)
    async def listing(self, room_id: str, listing_id: str, caller: Identity) -> Listing:
        """A listing."""
        found = await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))
        return (await self._listing_views([found], caller))[0]

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
        caller: Identity,
        expected_version: int | None = None,
    ) -> Listing:
        """Change a listing or move it to another status."""
        found = await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))
        listing = at_version(found, expected_version)
        changes = changes_of(listing, input.given())
        if not changes:
            return (await self._listing_views([listing], caller))[0]
        notes = []
        if changes.keys() - {"status"}:
            title = changes.get("title", listing.title)
            notes.append(self._activity(room_id, "ListingChanged", caller.id, title, listing_id))
        if status := changes.get("status"):
            notes.append(self._activity(room_id, "ListingMoved", caller.id, status, listing_id))
        try:
            written = await self._written(
                room_id, caller, update(listing, **changes), *map(create, notes)
            )
        except StepRefused as refused:
            raise _wrong_step(refused.state or listing.status) from None
        changed: Listing = written[0]
        return (await self._listing_views([changed], caller))[0]

    @mutation("/rooms/{room_id}/listings/{listing_id}/seen", allow=member)
    async def mark_seen(self, room_id: str, listing_id: str, caller: Identity) -> Listing:
        """Say that you have seen a listing; the first look moves it on."""
        ref = Listing.key(room_id=room_id, listing_id=listing_id)
        first = update(
            ref,
            seen_by=add({caller.id}),
            status=Status.SEEN,
            where=lambda x: x.status == Status.UNSEEN,
        )
        note = self._activity(
            room_id, "ListingMoved", caller.id, Status.SEEN.value, about=listing_id
        )
        try:
            await self._written(room_id, caller, first, create(note))
            seen = await self.db.get(ref)
        except (ConditionFailed, StepRefused, ValueRefused):
            seen = await self._marked(room_id, listing_id, caller, seen_by=True)
        return (await self._listing_views([seen], caller))[0]

    @mutation(
        "/rooms/{room_id}/listings/{listing_id}/vote",
        method="PUT",
        allow=member,
        example={"vote": "like"},
    )
    async def vote(
        self, room_id: str, listing_id: str, caller: Identity, vote: Vote | None = None
    ) -> Listing:
        """Say that you like a listing or do not, or take back what you said."""
        marked = await self._marked(
            room_id,
            listing_id,
            caller,
            liked_by=vote == "like",
            disliked_by=vote == "dislike",
        )
        return (await self._listing_views([marked], caller))[0]

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="DELETE", allow=member)
    async def delete_listing(self, room_id: str, listing_id: str, caller: Identity) -> None:
        """Take a listing out of a room."""
        listing = await self.db.get(Listing.key(room_id=room_id, listing_id=listing_id))
        note = self._activity(room_id, "ListingRemoved", caller.id, listing.title, about=listing_id)
        await self._written(room_id, caller, delete(listing.ref(), must_exist=True), create(note))

    async def _marked(
        self, room_id: str, listing_id: str, caller: Identity, **marks: bool
    ) -> Listing:
        """The caller among some people of a listing, or not; nobody's edit is refused for it."""
        ref = Listing.key(room_id=room_id, listing_id=listing_id)
        changes: dict[str, Any] = {
            name: add({caller.id}) if there else remove({caller.id})
            for name, there in marks.items()
        }
        try:
            await self._written(room_id, caller, update(ref, **changes))
        except ValueRefused:
            # There are as many as members at most, so some of them have left the room.
            members = {one.user_id for one in await room_members(self.db, room_id)}
            found = await self.db.get(ref)
            gone: dict[str, Any] = {name: remove(getattr(found, name) - members) for name in marks}
            await self.db.update(ref, **gone)
            await self._written(room_id, caller, update(ref, **changes))
        return await self.db.get(ref)

    async def _listing_views(self, listings: Sequence[Listing], caller: Identity) -> list[Listing]:
        """Listings with who added them, what the caller did with each, and what can follow."""
        return [
            one.model_copy(
                update={
                    "seen": caller.id in one.seen_by,
                    "vote": _vote_of(one, caller.id),
                    "next_steps": [Status(step) for step in STEPS.after(one.status)],
                }
            )
            for one in await named(self.db, listings, added_by_name="added_by")
        ]


def _at_least(field: str, bound: float) -> Callable[[Any], object]:
    return lambda listing: getattr(listing, field) >= bound


def _at_most(field: str, bound: float) -> Callable[[Any], object]:
    return lambda listing: getattr(listing, field) <= bound


def _has_word(text: str) -> Callable[[Any], object]:
    spellings = {text, text.lower(), text.upper(), text.capitalize(), text.title()}
    return lambda listing: reduce(or_, (contains(listing.title, one) for one in sorted(spellings)))


def _vote_of(listing: Listing, user_id: str) -> Vote | None:
    if user_id in listing.liked_by:
        return "like"
    return "dislike" if user_id in listing.disliked_by else None


def _wrong_step(status: object) -> Conflict:
    steps = ", ".join(STEPS.after(status)) or "nothing else"
    return Conflict(f"A listing that is {status} can become: {steps}.", code="WRONG_STEP")
