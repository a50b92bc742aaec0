"""Global tables: replicas of a table in several regions, and the changes that go between them.

accounts      the regions of several accounts
changes       what a write leaves for the other regions, and what they do with it
consistency   groups that are always in step
group         requests on tables of several regions
members       which regions a table is in: UpdateTable's members about replicas
membership    how a region joins a group, and leaves it
regions       the engines of several regions in one process
rules         what the regions of a table may be
"""

from __future__ import annotations

from keyfold.engine.replication.accounts import Accounts
from keyfold.engine.replication.regions import Regions

__all__ = ["Accounts", "Regions"]
