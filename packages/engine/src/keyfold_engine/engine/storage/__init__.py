"""The data file: every SQL statement of keyfold, on apsw.

Each DynamoDB table has its own table of items, and each index its own table of entries:

    items_<table>            place (unique), size, expires, body
    index_<table>_<index>    place (primary key), size, row of the item
    vectors_<table>_<index>  entries of a vector index: its partition, 32-bit floats
    collections_<table>      place of a partition, size; for tables with local indexes

A place is the order-preserving bytes of a key (see `tables.Schema`). An item is stored once, as
wire JSON; index entries refer to its row and are projected when they are read.
"""

from __future__ import annotations

from keyfold_engine.engine.storage.file import SchemaMoved, connect, is_read_only, translated
from keyfold_engine.engine.storage.items import Row, StoredItem
from keyfold_engine.engine.storage.session import Session

__all__ = ["Row", "SchemaMoved", "Session", "StoredItem", "connect", "is_read_only", "translated"]
