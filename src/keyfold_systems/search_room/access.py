"""Who may do what in a room."""

from __future__ import annotations

from typing import Protocol

from keyfold import AsyncDb
from keyfold.api import Arguments, Identity, rule
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.patterns import membership


class Opened(Protocol):
    """Whatever has the database open."""

    @property
    def db(self) -> AsyncDb: ...


@rule
async def member(service: Opened, caller: Identity, arguments: Arguments) -> bool:
    return await membership(service.db, arguments["room_id"], caller.id) is not None


@rule
async def owner(service: Opened, caller: Identity, arguments: Arguments) -> bool:
    found = await membership(service.db, arguments["room_id"], caller.id)
    return found is not None and found.role == Role.OWNER
