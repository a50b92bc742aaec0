"""The operations of gg_core, with the document's own names for its mutations."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.operations.chat import Chat
from keyfold_systems.gg_core.operations.goals import Goals
from keyfold_systems.gg_core.operations.groups import Groups
from keyfold_systems.gg_core.operations.live import Live
from keyfold_systems.gg_core.operations.moderation import Moderation
from keyfold_systems.gg_core.operations.notices import Notices
from keyfold_systems.gg_core.operations.people import People
from keyfold_systems.gg_core.operations.person import Persons
from keyfold_systems.gg_core.operations.quests import Quests
from keyfold_systems.gg_core.operations.reach import Reaches


class GgCore(People, Live, Reaches, Groups, Goals, Quests, Chat, Notices, Moderation, Persons):
    """Goals, groups, quests, chat and a feed."""

    title: ClassVar[str] = "gg_core"
    design: ClassVar[Design] = design


def service(db: AsyncDb) -> GgCore:
    return GgCore(db)
