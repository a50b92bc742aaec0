"""Who people are: their profiles, and their names beside their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from keyfold import AsyncDb, Entity, Page
from keyfold_web import Identity, itself, mutation, query
from keyfold.errors import AlreadyExists, NotFound
from keyfold_systems.search_room.entities import Person
from keyfold_systems.search_room.patterns import people, person
from keyfold_systems.search_room.payloads import Stated

E = TypeVar("E", bound=Entity)


class PeopleOperations:
    """Profiles: who has one can be asked into rooms."""

    db: AsyncDb

    @mutation("/users/{user_id}", method="PUT", allow=itself("user_id"), example={"name": "Mia"})
    async def save_profile(self, user_id: str, name: Stated) -> Person:
        """Say how you are called; every list follows."""
        ref = Person.key(user_id=user_id)
        try:
            return await self.db.update(ref, name=name)
        except NotFound:
            return await self.db.create(Person(user_id=user_id, name=name))

    @query("/users/{user_id}", allow=itself("user_id"))
    async def profile(self, user_id: str) -> Person:
        """Your profile, with how many notifications you have not read."""
        return await self.db.get(Person.key(user_id=user_id))

    async def welcome(self, caller: Identity) -> None:
        """Who comes for the first time has a profile from then on."""
        if await person(self.db, caller.id) is not None:
            return
        name = str(caller.claims.get("name") or caller.id)[:120]
        try:
            await self.db.create(Person(user_id=caller.id, name=name))
        except AlreadyExists:
            return  # on another device, at the same moment


async def named(db: AsyncDb, items: Sequence[E], **beside: str) -> list[E]:
    """Items with names: `user_name="user_id"` says which name stands beside which id."""
    ids = {getattr(item, of) for item in items for of in beside.values()} - {None}
    names = await names_of(db, ids)
    return [
        item.model_copy(update={name: names.get(getattr(item, of)) for name, of in beside.items()})
        for item in items
    ]


async def named_one(db: AsyncDb, item: E, **beside: str) -> E:
    return (await named(db, [item], **beside))[0]


async def names_of(db: AsyncDb, ids: set[str]) -> dict[str, str]:
    """Names by id, of those who have a profile."""
    if not ids:
        return {}
    found = await people(db, sorted(ids))
    return {one.user_id: one.name for one in found if one is not None}


async def named_page(db: AsyncDb, page: Page[E], **beside: str) -> Page[E]:
    return Page(await named(db, page.items, **beside), page.cursor)
