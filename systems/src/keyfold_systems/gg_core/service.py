"""The service: `keyfold api keyfold_systems.gg_core.service`."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.media import MediaStore
from keyfold_systems.gg_core.operations.chat import Chat
from keyfold_systems.gg_core.operations.feed import Feeds
from keyfold_systems.gg_core.operations.goals import Goals
from keyfold_systems.gg_core.operations.people import People


class GgCore(People, Feeds, Goals, Chat):
    """Goals, groups, quests, chat and a feed."""

    title: ClassVar[str] = "gg_core"
    design: ClassVar[Design] = design


def service(db: AsyncDb) -> GgCore:
    made = GgCore(db)
    made.store = MediaStore.from_environment()
    return made
