"""Search Room as a service: `keyfold api keyfold_systems.search_room.service`."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.operations.criteria import CriteriaOperations


class SearchRoom(CriteriaOperations):
    """Rooms in which people look for a home together."""

    design: ClassVar[Design] = design


def service(db: AsyncDb) -> SearchRoom:
    return SearchRoom(db)
