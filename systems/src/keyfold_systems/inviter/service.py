"""The operations of Inviter."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.operations.groups import Groups
from keyfold_systems.inviter.operations.hangouts import Hangouts
from keyfold_systems.inviter.operations.inbox import News
from keyfold_systems.inviter.operations.live import Live
from keyfold_systems.inviter.operations.moderation import Moderation
from keyfold_systems.inviter.operations.people import People
from keyfold_systems.inviter.operations.relations import Relations


class Inviter(People, Groups, Hangouts, News, Moderation, Live, Relations):
    """Hangouts, groups and who comes."""

    design: ClassVar[Design] = design
    idempotent = True


def service(db: AsyncDb) -> Inviter:
    return Inviter(db)
