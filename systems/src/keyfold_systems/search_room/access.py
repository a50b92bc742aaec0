"""Who may do what in a room."""

from __future__ import annotations

from typing import Protocol

from keyfold import AsyncDb
from keyfold_web import Arguments, Identity, rule
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.patterns import membership, room_by_id

COPILOT_GROUP = "ai_copilot"
"""The group of tokens that copilots have."""


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


@rule
async def copilot(service: Opened, caller: Identity, arguments: Arguments) -> bool:
    """A copilot, in a room whose owners let it in."""
    if COPILOT_GROUP not in caller.groups:
        return False
    found = await room_by_id(service.db, arguments["room_id"])
    return found is not None and found.has_copilot


reader = member | copilot
