"""All queries on one connection."""

from __future__ import annotations

from keyfold_engine.engine.storage.copies import CopyStore
from keyfold_engine.engine.storage.items import Items
from keyfold_engine.engine.storage.records import Records
from keyfold_engine.engine.storage.tables import Tables
from keyfold_engine.engine.storage.vectors import Vectors


class Session(Tables, Items, Records, CopyStore, Vectors):
    """One connection to a data file."""

    __slots__ = ()
