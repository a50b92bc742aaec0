"""All queries on one connection."""

from __future__ import annotations

from keyfold_engine.engine.storage.documents import Documents
from keyfold_engine.engine.storage.items import Items
from keyfold_engine.engine.storage.records import Records
from keyfold_engine.engine.storage.tables import Tables


class Session(Tables, Items, Records, Documents):
    """One connection to a data file."""

    __slots__ = ()
