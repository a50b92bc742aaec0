"""Inviter as a service: `keyfold api keyfold_systems.inviter.service`."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.operations import Operations


class Inviter(Operations):
    """Hangouts of groups of friends."""

    design: ClassVar[Design] = design


def service(db: AsyncDb) -> Inviter:
    return Inviter(db)
