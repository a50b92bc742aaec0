"""The operations of Search Room."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

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
from keyfold.errors import ConditionFailed, UniqueTaken
from keyfold.runtime import Intent
from keyfold.serve import (
    Arguments,
    Conflict,
    Identity,
    Missing,
    PageRequest,
    Payload,
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
    user_criteria_history,
    user_rooms,
    whole_room,
)
from keyfold_systems.search_room.wishes import Mode, Voice, Wishes, combine, fit


class NewRoom(Payload):
    """What you say to open a room."""

    name: Name
    search_type: Literal["buy", "rent"]
    context: Annotated[dict[str, Any], Field(max_length=20)] = {}


class NewListing(Payload):
    """A property to save."""

    source_brand: Annotated[str, Field(min_length=1, max_length=60)]
    external_id: Annotated[str, Field(min_length=1, max_length=120)] | None = None
    title: Name
    location: Annotated[str, Field(max_length=120)] = ""


class ListingChange(Payload):
    """What changes about a listing; what is left out stays."""

    title: Name | None = None
    location: Annotated[str, Field(max_length=120)] | None = None
    status: Status | None = None


class NewCriteria(Payload):
    """What you look for, and how much each criterion matters (0 to 1)."""

    criteria: Wishes
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    source: Literal["manual", "ai_proposed"] = "manual"


class RoomView(Payload):
    """A room with everybody and everything saved in it."""

    room: Room
    members: list[Member]
    listings: list[Listing]


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
        made: Room = (await self.db.transact(create(room), create(first)))[0]
        await self._note(made.room_id, "RoomCreated", caller.id, made.name)
        return made

    @query("/rooms/{room_id}", allow=member)
    async def room(self, room_id: str) -> Room:
        """A room."""
        return await self.db.get(Room.key(room_id=room_id))

    @query("/rooms/{room_id}/view", allow=member)
    async def room_view(self, room_id: str) -> RoomView:
        """A room with its members and listings, in one query."""
        found = await whole_room(self.db, room_id)
        return RoomView(room=found.one(Room), members=found.of(Member), listings=found.of(Listing))

    @mutation("/rooms/{room_id}", method="PATCH", allow=owner)
    async def rename_room(self, room_id: str, name: Name) -> Room:
        """Rename a room; every member's list follows."""
        return await self.db.update(Room.key(room_id=room_id), name=name)

    @mutation("/rooms/{room_id}", method="DELETE", allow=owner)
    async def delete_room(self, room_id: str) -> None:
        """Delete a room with everything in it and every member's entry.

        Nobody can join from the first moment on. It can be called again after an interruption,
        and what is left then is also removed by the stream.
        """
        ref = Room.key(room_id=room_id)
        await self.db.update(ref, closing=True)
        await self.db.delete(ref)

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
        if len(await room_members(self.db, room_id)) >= MOST_MEMBERS:
            raise Conflict(f"A room has at most {MOST_MEMBERS} members.", code="FULL")
        if await membership(self.db, room_id, user_id) is not None:
            raise Conflict("They are a member already.", code="ALREADY_MEMBER")
        joined = Member(room_id=room_id, user_id=user_id, room_name=room.name)
        open_room = check(room.ref(), where=lambda r: r.closing == False)  # noqa: E712 - recorded
        try:
            made: Member = (await self.db.transact(create(joined), open_room))[0]
        except ConditionFailed:
            raise Conflict("The room is being deleted.", code="CLOSING") from None
        await self._note(room_id, "MemberJoined", user_id)
        return made

    @mutation("/rooms/{room_id}/members/{user_id}/role", method="PUT", allow=owner)
    async def change_role(self, room_id: str, user_id: str, role: Role) -> Member:
        """Make somebody an owner or a member; the last owner stays one."""
        if role != Role.OWNER:
            await self._check_other_owner(room_id, user_id)
        return await self.db.update(Member.key(room_id=room_id, user_id=user_id), role=role)

    @mutation(
        "/rooms/{room_id}/members/{user_id}", method="DELETE", allow=itself("user_id") | owner
    )
    async def leave(self, room_id: str, user_id: str) -> None:
        """Leave a room, or be taken out of it; your wishes go with you."""
        if await membership(self.db, room_id, user_id) is None:
            raise Missing("They are not in this room.")
        await self._check_other_owner(room_id, user_id)
        await self.db.transact(
            delete(Member.key(room_id=room_id, user_id=user_id)),
            delete(LatestCriteria.key(room_id=room_id, user_id=user_id)),
        )
        await self._note(room_id, "MemberLeft", user_id)

    @mutation("/rooms/{room_id}/listings", allow=member, status=201)
    async def add_listing(self, room_id: str, input: NewListing, caller: Identity) -> Listing:
        """Save a property; the same one from the same platform is in a room once."""
        listing = Listing(listing_id=new_ulid(), room_id=room_id, **dict(input))
        there = check(Room.key(room_id=room_id))
        try:
            made: Listing = (await self.db.transact(create(listing), there))[0]
        except UniqueTaken:
            raise Conflict("This listing is in the room already.", code="DUPLICATE") from None
        await self._note(room_id, "ListingPinned", caller.id, listing.title)
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
        listing = await self.db.update(ref, seen_by=add({caller.id}))
        if listing.status != Status.UNSEEN:
            return listing
        return await self.db.update(ref, status=Status.SEEN)

    @mutation("/rooms/{room_id}/listings/{listing_id}", method="DELETE", allow=member)
    async def delete_listing(self, room_id: str, listing_id: str) -> None:
        """Take a listing out of a room."""
        await self.db.delete(Listing.key(room_id=room_id, listing_id=listing_id), must_exist=True)

    @mutation("/rooms/{room_id}/criteria", allow=member, status=201)
    async def save_criteria(
        self, room_id: str, input: NewCriteria, caller: Identity
    ) -> UserCriteria:
        """Say what you look for now; what you said before is kept for a while."""
        now = self.db.context.now()
        saved = UserCriteria(
            room_id=room_id,
            user_id=caller.id,
            timestamp=now,
            criteria_id=new_ulid(),
            criteria=input.criteria,
            weights=input.weights,
            source=input.source,
        )
        latest = LatestCriteria.model_validate(saved.model_dump(exclude={"expires_at"}))
        before = await self.db.find(LatestCriteria.key(room_id=room_id, user_id=caller.id))
        there = check(Member.key(room_id=room_id, user_id=caller.id))
        writes: list[Intent] = [create(saved), there]
        if before is None:
            writes.append(create(latest))
        else:
            # Only a newer statement replaces the latest one.
            writes.append(put(latest, where=lambda c: c.timestamp < now))
            old = UserCriteria.key(
                room_id=room_id,
                user_id=caller.id,
                timestamp=before.timestamp,
                criteria_id=before.criteria_id,
            )
            writes.append(update(old, expires_at=now + timedelta(days=SUPERSEDED_CRITERIA_DAYS)))
        made: UserCriteria = (await self.db.transact(*writes))[0]
        return made

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
        voices = await self._voices(room_id)
        found = combine(voices, mode)
        combined = CombinedCriteria(
            room_id=room_id,
            timestamp=self.db.context.now(),
            combined_id=new_ulid(),
            criteria=found.wishes,
            weights=found.weights,
            from_user_ids=[voice.user_id for voice in voices],
            combine_mode=mode,
        )
        there = check(Room.key(room_id=room_id))
        made: CombinedCriteria = (await self.db.transact(create(combined), there))[0]
        left_open = f" (nothing suits everybody: {', '.join(found.conflicts)})"
        note = f"{mode}{left_open if found.conflicts else ''}"
        await self._note(room_id, "CriteriaCombined", caller.id, note)
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
        voices = await self._voices(room_id)
        found = fit(voices)
        snapshot = Compatibility(
            room_id=room_id,
            timestamp=self.db.context.now(),
            compatibility_id=new_ulid(),
            score_percent=found.percent,
            level=found.level,
            comment=found.comment,
            criteria_refs=[voice.user_id for voice in voices],
        )
        there = check(Room.key(room_id=room_id))
        made: Compatibility = (await self.db.transact(create(snapshot), there))[0]
        return made

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
        return await self._note(room_id, "ChatMessage", caller.id, text, sender_type="user")

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

    async def _note(
        self,
        room_id: str,
        kind: str,
        sender_id: str,
        text: str = "",
        sender_type: Literal["user", "ai_copilot", "system"] = "system",
    ) -> Activity:
        activity = Activity(
            room_id=room_id,
            created_at=self.db.context.now(),
            activity_id=new_ulid(),
            type=kind,
            sender_type=sender_type,
            sender_id=sender_id,
            text=text,
        )
        there = check(Room.key(room_id=room_id))
        made: Activity = (await self.db.transact(create(activity), there))[0]
        return made

    async def _voices(self, room_id: str) -> list[Voice]:
        found = (await all_users_criteria(self.db, room_id)).items
        if not found:
            raise Conflict("Nobody has said what they look for.", code="NO_CRITERIA")
        return [Voice(one.user_id, one.criteria, one.weights) for one in found]

    async def _check_other_owner(self, room_id: str, user_id: str) -> None:
        members = (await room_members(self.db, room_id)).items
        owners = {one.user_id for one in members if one.role == Role.OWNER}
        if owners == {user_id}:
            raise Conflict("The last owner stays; make somebody else one.", code="LAST_OWNER")


def service(db: AsyncDb) -> SearchRoom:
    return SearchRoom(db)
