"""What people hear of while they look at it."""

from __future__ import annotations

from keyfold.api import Identity, itself, related, subscription
from keyfold.streams import Change
from keyfold_systems.search_room.access import member
from keyfold_systems.search_room.entities import (
    Activity,
    CombinedCriteria,
    Compatibility,
    Invitation,
    LatestCriteria,
    Listing,
    Member,
    Notification,
    Person,
    Room,
    UserInvitation,
    UserRoom,
)
from keyfold_systems.search_room.listings import ListingOperations
from keyfold_systems.search_room.patterns import listings_by_id, rooms_by_id
from keyfold_systems.search_room.payloads import RoomNews, UserNews
from keyfold_systems.search_room.people import named

InRoom = (
    Room
    | Member
    | Invitation
    | Listing
    | LatestCriteria
    | CombinedCriteria
    | Compatibility
    | Activity
)


class LiveOperations(ListingOperations):
    """Subscriptions: each says what changed, and whoever shows it reads it again."""

    @subscription(
        Room,
        Member,
        Invitation,
        Listing,
        LatestCriteria,
        CombinedCriteria,
        Compatibility,
        Activity,
        allow=member,
    )
    async def room_changed(self, change: Change[InRoom], room_id: str) -> RoomNews:
        """A room and everything in it."""
        found = change.new or change.old
        id = found.listing_id if isinstance(found, Listing) else None
        return RoomNews(room_id=room_id, changed=type(found).__name__, id=id)

    @subscription(Activity, allow=member)
    async def activity_added(self, change: Change[Activity], room_id: str) -> Activity | None:  # noqa: ARG002
        """What is said and what happens in a room."""
        if change.new is None or change.old is not None:
            return None
        return (await named(self.db, [change.new], sender_name="sender_id"))[0]

    @subscription(Person, UserRoom, UserInvitation, Notification, allow=itself("user_id"))
    async def my_lists_changed(
        self, change: Change[Person | UserRoom | UserInvitation | Notification], user_id: str
    ) -> UserNews:
        """Your profile, your rooms, your invitations and what you are to know."""
        return UserNews(user_id=user_id, changed=type(change.new or change.old).__name__)

    @related(UserRoom, name="room")
    async def rooms_of_entries(self, parents: list[UserRoom]) -> list[Room | None]:
        """The room itself."""
        return await rooms_by_id(self.db, [one.room_id for one in parents])

    @related(Activity, name="listing")
    async def listings_of_activities(
        self, parents: list[Activity], caller: Identity
    ) -> list[Listing | None]:
        """The listing that it is about, if it is about one and that is there."""
        addresses = {(one.room_id, one.about) for one in parents if one.about}
        rooms = {room for room, _ in addresses}
        found: dict[str, Listing] = {}
        for room_id in sorted(rooms):
            ids = sorted(about for room, about in addresses if room == room_id and about)
            there = [one for one in await listings_by_id(self.db, room_id, ids) if one is not None]
            found |= {one.listing_id: one for one in await self._shown(there, caller)}
        return [found.get(one.about or "") for one in parents]
