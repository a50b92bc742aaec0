"""The operations of TamaFriends."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.operations.belongings import Belongings
from keyfold_systems.tamafriends.operations.live import Live
from keyfold_systems.tamafriends.operations.moderation import Moderation
from keyfold_systems.tamafriends.operations.notifications import Notifications
from keyfold_systems.tamafriends.operations.posts import Posts
from keyfold_systems.tamafriends.operations.profiles import Profiles
from keyfold_systems.tamafriends.operations.relations import Relations


class TamaFriends(Moderation, Profiles, Posts, Relations, Notifications, Live, Belongings):
    """Posts, comments, likes and follows."""

    title: ClassVar[str] = "TamaFriends"
    design: ClassVar[Design] = design
    idempotent = True
    own_accounts = True


def service(db: AsyncDb) -> TamaFriends:
    return TamaFriends(db)
