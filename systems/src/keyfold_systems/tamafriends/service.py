"""The service: `keyfold api keyfold_systems.tamafriends.service`."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.operations import Operations


class TamaFriends(Operations):
    """Pets, their people, and what they post."""

    title: ClassVar[str] = "TamaFriends"
    design: ClassVar[Design] = design


def service(db: AsyncDb) -> TamaFriends:
    return TamaFriends(db)
