"""Global tables: replicas of a table in several regions, and the changes that go between them.

accounts   the regions of several accounts
changes    what a write leaves for the other regions, and what they do with it
members    which regions a table is in: the rules of UpdateTable's ReplicaUpdates
regions    the engines of several regions in one process
"""

from __future__ import annotations

from keyfold.engine.replication.accounts import Accounts
from keyfold.engine.replication.regions import Regions

__all__ = ["Accounts", "Regions"]
