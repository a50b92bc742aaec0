"""All that can be asked of one connection."""

from __future__ import annotations

from keyfold.engine.storage.copies import Copies
from keyfold.engine.storage.items import Items
from keyfold.engine.storage.records import Records
from keyfold.engine.storage.tables import Tables


class Session(Tables, Items, Records, Copies):
    """One connection to a data file."""

    __slots__ = ()
