"""Leaving for good, and taking along what is kept of oneself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from keyfold import Page, Query
from keyfold.api import Invalid, PageRequest, itself, mutation, query
from keyfold.errors import AlreadyExists
from keyfold_systems.search_room.entities import (
    Activity,
    FormerRoom,
    Listing,
    Notification,
    Person,
    Removal,
    UserCriteria,
    UserInvitation,
    UserRoom,
)
from keyfold_systems.search_room.payloads import ExportedItem
from keyfold_systems.search_room.people import PeopleOperations
from keyfold_systems.search_room.removal import concerns, finish


class DepartureOperations(PeopleOperations):
    """Export and deletion of one person."""

    @query("/users/{user_id}/export", allow=itself("user_id"))
    async def export(self, user_id: str, page: PageRequest) -> Page[ExportedItem]:
        """All that is kept of you, page after page; a cursor goes on at any later time."""
        wanted, _, inner = (page.cursor or "").partition(".")
        begun = not wanted
        async for name, asked in self._kept(user_id):
            if not begun and name != wanted:
                continue
            found: Page[Any] = await self.db.read(
                asked.limit(page.limit), cursor=None if begun else inner or None
            )
            begun = True
            if found.cursor is not None:
                return Page(_exported(found), f"{name}.{found.cursor}")
            if found.items:
                return Page(_exported(found), await self._after(user_id, name))
        if not begun:
            raise Invalid("cursor", "goes on in a room that you are not in any more; begin anew")
        return Page([])

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

    async def _after(self, user_id: str, name: str) -> str | None:
        """The cursor at the beginning of what comes next."""
        here = False
        async for other, _ in self._kept(user_id):
            if here:
                return f"{other}."
            here = other == name
        return None

    async def _kept(self, user_id: str) -> AsyncIterator[tuple[str, Query[Any]]]:
        """What there is of somebody: their own lists, then each of their rooms."""
        for entity in (Person, UserRoom, FormerRoom, UserInvitation, Notification):
            yield entity.__name__, entity.key.query(user_id=user_id)
        lists: tuple[Query[Any], ...] = (
            UserRoom.key.query(user_id=user_id),
            FormerRoom.key.query(user_id=user_id),
        )
        for kept in lists:
            async for entry in self.db.iterate(kept):
                room_id: str = entry.room_id
                yield (
                    f"UserCriteria:{room_id}",
                    UserCriteria.key.query(room_id=room_id, user_id=user_id),
                )
                yield (
                    f"Activity:{room_id}",
                    Activity.key.query(room_id=room_id).where(lambda x: x.sender_id == user_id),
                )
                yield (
                    f"Listing:{room_id}",
                    Listing.key.query(room_id=room_id).where(lambda x: concerns(x, user_id)),
                )


def _exported(page: Page[Any]) -> list[ExportedItem]:
    return [
        ExportedItem(kind=type(one).__name__, item=one.model_dump(mode="json", by_alias=True))
        for one in page
    ]
