"""The operations of Search Room."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from keyfold import (
    AsyncDb,
    Design,
    Page,
    Timestamp,
    add,
    check,
    create,
    delete,
    new_ulid,
    put,
    update,
)
from keyfold.errors import AlreadyExists, ConditionFailed, UniqueTaken
from keyfold.runtime import Intent
from keyfold.serve import (
    Arguments,
    Conflict,
    Identity,
    Missing,
    PageRequest,
    Service,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)
from keyfold_systems.search_room.design import (
    MOST_MEMBERS,
    SUPERSEDED_CRITERIA_DAYS,
    Activity,
    CombinedCriteria,
    Compatibility,
    LatestCriteria,
    Listing,
    Member,
    Name,
    Role,
    Room,
    Status,
    UserCriteria,
    UserRoom,
    activities_after,
    all_users_criteria,
    combined_criteria,
    compatibility_history,
    design,
    latest_compatibility,
    listing_by_external_id,
    listings_by_status,
    membership,
    room_activities,
    room_listings,
    room_members,
    room_with_members,
    user_criteria_history,
    user_rooms,
)
from keyfold_systems.search_room.payloads import (
    ListingChange,
    NewCriteria,
    NewListing,
    NewRoom,
    RoomView,
)
from keyfold_systems.search_room.wishes import Mode, Voice, combine, fit

ATTEMPTS = 5


@rule
async def member(service: SearchRoom, caller: Identity, arguments: Arguments) -> bool:
    return await membership(service.db, arguments["room_id"], caller.id) is not None


@rule
async def owner(service: SearchRoom, caller: Identity, arguments: Arguments) -> bool:
    found = await membership(service.db, arguments["room_id"], caller.id)
    return found is not None and found.role == Role.OWNER


class SearchRoom(Service):
    """Rooms in which people look for a home together."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    @mutation("/rooms", allow=authenticated, status=201)
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
    async def rename_room(self, room_id: str, name: Name) -> Room:
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

    @mutation("/rooms/{room_id}/members", allow=owner, status=201)
    async def invite(self, room_id: str, user_id: str) -> Member:
        """Take somebody into a room."""
        room = await self.db.get(Room.key(room_id=room_id))
        joined = Member(room_id=room_id, user_id=user_id, room_name=room.name)
        note = self._activity(room_id, "MemberJoined", user_id)
        place = check(room.ref(), where=lambda r: r.member_count < MOST_MEMBERS)
        try:
            made: Member = (await self.db.transact(create(joined), create(note), place))[0]
        except AlreadyExists:
            raise Conflict("They are a member already.", code="ALREADY_MEMBER") from None
        except ConditionFailed:
            raise Conflict(f"A room has at most {MOST_MEMBERS} members.", code="FULL") from None
        return made

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

    @mutation("/rooms/{room_id}/listings", allow=member, status=201)
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
        return await by_status(self.db, room_id, status.value, limit=page.limit)

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

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="PATCH", allow=member)
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

    @mutation("/rooms/{room_id}/criteria", allow=member, status=201)
    async def save_criteria(
        self, room_id: str, input: NewCriteria, caller: Identity
    ) -> UserCriteria:
        """Say what you look for now; what you said before is kept for a while."""
        said = UserCriteria(
            room_id=room_id,
            user_id=caller.id,
            timestamp=self._now(),
            criteria_id=new_ulid(),
            criteria=input.criteria,
            weights=input.weights,
            source=input.source,
        )
        latest = LatestCriteria.model_validate(said.model_dump(exclude={"expires_at"}))
        there = check(Member.key(room_id=room_id, user_id=caller.id))
        for _ in range(ATTEMPTS):
            before = await self.db.find(latest.ref())
            if before is None:
                replaces: list[Intent] = [create(latest)]
            elif (before.timestamp, before.criteria_id) < (said.timestamp, said.criteria_id):
                replaces = [_replaced(before, latest), self._superseded(before)]
            else:
                said = said.model_copy(update={"expires_at": self._end_of_superseded()})
                replaces = []
            try:
                made: UserCriteria = (await self.db.transact(create(said), there, *replaces))[0]
            except (AlreadyExists, ConditionFailed):
                continue  # they said something else at the same time
            return made
        raise Conflict("Your criteria change all the time; try again.", code="BUSY")

    @query("/rooms/{room_id}/criteria", allow=member)
    async def criteria(self, room_id: str) -> list[LatestCriteria]:
        """What everybody looks for now."""
        return (await all_users_criteria(self.db, room_id)).items

    @query("/rooms/{room_id}/criteria/{user_id}", allow=member)
    async def criteria_history(
        self, room_id: str, user_id: str, page: PageRequest
    ) -> Page[UserCriteria]:
        """What somebody looked for, newest first."""
        history = user_criteria_history.after(page.cursor)
        return await history(self.db, room_id, user_id, limit=page.limit)

    @mutation("/rooms/{room_id}/combined-criteria", allow=member, status=201)
    async def combine_criteria(
        self, room_id: str, mode: Mode, caller: Identity
    ) -> CombinedCriteria:
        """Merge what everybody looks for."""
        criteria = await self._stated(room_id)
        found = combine(_voices(criteria), mode)
        combined = CombinedCriteria(
            room_id=room_id,
            timestamp=self._now(),
            combined_id=new_ulid(),
            criteria=found.wishes,
            weights=found.weights,
            from_user_ids=[one.user_id for one in criteria],
            combine_mode=mode,
        )
        left_open = f" (nothing suits everybody: {', '.join(found.conflicts)})"
        text = f"{mode}{left_open if found.conflicts else ''}"
        note = self._activity(room_id, "CriteriaCombined", caller.id, text)
        made: CombinedCriteria = (await self.db.transact(create(combined), create(note)))[0]
        return made

    @query("/rooms/{room_id}/combined-criteria", allow=member)
    async def combined(self, room_id: str) -> CombinedCriteria:
        """What the room looks for, as last merged."""
        found = await combined_criteria(self.db, room_id)
        if found is None:
            raise Missing("Nothing has been combined yet.")
        return found

    @mutation("/rooms/{room_id}/compatibility", allow=member, status=201)
    async def compute_compatibility(self, room_id: str) -> Compatibility:
        """Compute how well the members' wishes fit."""
        criteria = await self._stated(room_id)
        found = fit(_voices(criteria))
        snapshot = Compatibility(
            room_id=room_id,
            timestamp=self._now(),
            compatibility_id=new_ulid(),
            score_percent=found.percent,
            level=found.level,
            comment=found.comment,
            criteria_refs=[one.criteria_id for one in criteria],
        )
        return await self.db.create(snapshot)

    @query("/rooms/{room_id}/compatibility", allow=member)
    async def compatibility(self, room_id: str) -> Compatibility:
        """The latest score."""
        found = await latest_compatibility(self.db, room_id)
        if found is None:
            raise Missing("Nothing has been computed yet.")
        return found

    @query("/rooms/{room_id}/compatibility/history", allow=member)
    async def compatibility_history(self, room_id: str, page: PageRequest) -> Page[Compatibility]:
        """Scores over time, newest first."""
        history = compatibility_history.after(page.cursor)
        return await history(self.db, room_id, limit=page.limit)

    @mutation("/rooms/{room_id}/messages", allow=member, status=201)
    async def say(
        self,
        room_id: str,
        text: Annotated[str, Field(min_length=1, max_length=4000)],
        caller: Identity,
    ) -> Activity:
        """Say something in a room."""
        return await self.db.create(
            self._activity(room_id, "ChatMessage", caller.id, text, sender_type="user")
        )

    @query("/rooms/{room_id}/activities", allow=member)
    async def activities(
        self, room_id: str, page: PageRequest, since: Timestamp | None = None
    ) -> Page[Activity]:
        """What happened: newest first, or what came after a moment, in order."""
        if since is None:
            newest = room_activities.after(page.cursor)
            return await newest(self.db, room_id, limit=page.limit)
        later = activities_after.after(page.cursor)
        return await later(self.db, room_id, since, limit=page.limit)

    def _now(self) -> datetime:
        """This moment, as exact as it is stored."""
        now = self.db.context.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def _activity(
        self,
        room_id: str,
        kind: str,
        sender_id: str,
        text: str = "",
        sender_type: Literal["user", "ai_copilot", "system"] = "system",
    ) -> Activity:
        return Activity(
            room_id=room_id,
            created_at=self._now(),
            activity_id=new_ulid(),
            type=kind,
            sender_type=sender_type,
            sender_id=sender_id,
            text=text,
        )

    def _superseded(self, latest: LatestCriteria) -> Intent:
        """The entry of the history that was the latest one expires from now on."""
        entry = UserCriteria.key(
            room_id=latest.room_id,
            user_id=latest.user_id,
            timestamp=latest.timestamp,
            criteria_id=latest.criteria_id,
        )
        return update(entry, expires_at=self._end_of_superseded())

    def _end_of_superseded(self) -> datetime:
        return self._now() + timedelta(days=SUPERSEDED_CRITERIA_DAYS)

    async def _stated(self, room_id: str) -> list[LatestCriteria]:
        found = (await all_users_criteria(self.db, room_id)).items
        if not found:
            raise Conflict("Nobody has said what they look for.", code="NO_CRITERIA")
        return found


def service(db: AsyncDb) -> SearchRoom:
    return SearchRoom(db)


def _voices(criteria: list[LatestCriteria]) -> list[Voice]:
    return [Voice(one.user_id, one.criteria, one.weights) for one in criteria]


def _another_owner(room_id: str) -> Intent:
    return check(Room.key(room_id=room_id), where=lambda r: r.owner_count > 1)


def _last_owner() -> Conflict:
    return Conflict("The last owner stays; make somebody else one.", code="LAST_OWNER")


def _replaced(before: LatestCriteria, latest: LatestCriteria) -> Intent:
    return put(latest, where=lambda c: c.criteria_id == before.criteria_id)
