"""gg_core: goals, groups, quests, chat and a hybrid feed."""

# Entities are declared in one order, whichever module of the package is imported first.
from keyfold_systems.gg_core import design

__all__ = ["design"]
