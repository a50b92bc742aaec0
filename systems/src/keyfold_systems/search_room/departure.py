"""Leaving for good, and taking along what is kept of oneself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from keyfold import Query
from keyfold_web import Belonging, Identity, PersonalData, itself, mutation
from keyfold.errors import AlreadyExists
from keyfold_systems.search_room.entities import (
    AskedRoom,
    FormerRoom,
    Listing,
    Person,
    Removal,
    UserCriteria,
    UserInvitation,
    UserRoom,
)
from keyfold_systems.search_room.notifications import inbox
from keyfold_systems.search_room.oversight import Suspension, trail
from keyfold_systems.search_room.people import PeopleOperations
from keyfold_systems.search_room.removal import activities_of, concerns, finish


async def depart(service: DepartureOperations, person: Person, _: Identity) -> None:
    """Leave, with all that follows."""
    await service.delete_person(person.user_id)


def _criteria(entry: UserRoom | FormerRoom) -> Query[Any]:
    return UserCriteria.key.query(room_id=entry.room_id, user_id=entry.user_id)


def _activities(entry: UserRoom | FormerRoom | AskedRoom) -> Query[Any]:
    return activities_of(entry.room_id, entry.user_id)


def _listings(entry: UserRoom | FormerRoom) -> Query[Any]:
    listings = Listing.key.query(room_id=entry.room_id)
    return listings.where(lambda x: concerns(x, entry.user_id))


_IN_ROOM = (
    Belonging("UserCriteria", _criteria),
    Belonging("Activity", _activities),
    Belonging("Listing", _listings),
)


_ASKED = (Belonging("Activity", _activities),)


class DepartureOperations(PersonalData, PeopleOperations):
    """Export and deletion of one person."""

    # The profile takes everything else along; it stays until nothing else is left.
    personal: ClassVar[Sequence[Belonging]] = (
        Belonging("Person", lambda id: Person.key(user_id=id), leave=depart),
        Belonging(
            "UserRoom", lambda id: UserRoom.key.query(user_id=id), kept=True, inside=_IN_ROOM
        ),
        Belonging(
            "FormerRoom", lambda id: FormerRoom.key.query(user_id=id), kept=True, inside=_IN_ROOM
        ),
        Belonging(
            "AskedRoom", lambda id: AskedRoom.key.query(user_id=id), kept=True, inside=_ASKED
        ),
        Belonging("UserInvitation", lambda id: UserInvitation.key.query(user_id=id), kept=True),
        inbox.belonging(),
        Belonging("suspension", lambda id: Suspension.key(user_id=id), kept=True),
        Belonging("Report", trail.reported_by, kept=True),
    )

    @mutation("/users/{user_id}", method="DELETE", allow=itself("user_id"))
    async def delete_person(self, user_id: str) -> None:
        """Leave for good: rooms are handed over or go, and nothing of yours stays.

        What is cut off is taken up by the stream, or by asking again.
        """
        removal = Removal(user_id=user_id)
        try:
            removal = await self.db.create(removal)
        except AlreadyExists:
            removal = await self.db.get(removal.ref())
        await finish(self.db, removal)
