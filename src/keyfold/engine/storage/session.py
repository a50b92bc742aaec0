"""All queries on one connection."""

from __future__ import annotations

from keyfold.engine.storage.copies import CopyStore
from keyfold.engine.storage.items import Items
from keyfold.engine.storage.records import Records
from keyfold.engine.storage.tables import Tables
from keyfold.engine.storage.vectors import Vectors


class Session(Tables, Items, Records, CopyStore, Vectors):
    """One connection to a data file."""

    __slots__ = ()
