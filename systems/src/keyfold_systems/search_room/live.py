"""What people hear of while they look at it."""

from __future__ import annotations

from keyfold_web import itself, subscription
from keyfold.streams import Change
from keyfold_systems.search_room.access import member
from keyfold_systems.search_room.activities import with_names
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
from keyfold_systems.search_room.payloads import RoomNews, UserNews
from keyfold_systems.search_room.people import PeopleOperations

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


class LiveOperations(PeopleOperations):
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
        return (await with_names(self.db, [change.new]))[0]

    @subscription(Person, UserRoom, UserInvitation, Notification, allow=itself("user_id"))
    async def my_lists_changed(
        self, change: Change[Person | UserRoom | UserInvitation | Notification], user_id: str
    ) -> UserNews:
        """Your profile, your rooms, your invitations and what you are to know."""
        return UserNews(user_id=user_id, changed=type(change.new or change.old).__name__)
