"""Global tables: replicas of a table in several regions, and the changes between them.

accounts      the regions of several accounts
changes       what a write sends to the other regions, and how they apply it
consistency   strongly consistent groups
members       the regions of a table: UpdateTable's replica members
membership    how a region joins and leaves a group
regions       the engines of several regions in one process, and requests on tables of several
rules         which regions a table may have
"""

from __future__ import annotations

from keyfold_engine.features.replicas.accounts import Accounts
from keyfold_engine.features.replicas.regions import Regions

__all__ = ["Accounts", "Regions"]
