"""Item collections: the items of one partition with their local index entries.

DynamoDB limits the size of a collection. The size of each collection of a table with local indexes
is stored beside the items and updated with them.
"""

from __future__ import annotations

from typing import Any

from keyfold_engine import limits
from keyfold_engine.engine.indexes import EntryChange
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition, partition_of
from keyfold_engine.errors import CollectionTooLarge
from keyfold_engine.values import Item


def grow(
    session: Session, table: TableDefinition, place: bytes, growth: int, entries: list[EntryChange]
) -> None:
    """Add a change of an item's size and entries; refuse one that exceeds the limit."""
    growth += sum([change.growth() for change in entries if change.index.is_local])
    if not growth:
        return
    size = session.grow_collection(table.id, partition_of(place), growth)
    # A collection over the limit may still shrink.
    if growth > 0 and size > limits.ITEM_COLLECTION_BYTES:
        raise CollectionTooLarge("Collection size exceeded.")


def metrics(session: Session, table: TableDefinition, item: Item) -> dict[str, Any]:
    """The size of the item's collection, as the range of gigabytes that DynamoDB returns."""
    gigabytes = session.collection_size(table.id, table.schema.partition_place(item)) // limits.GB
    (name,) = table.schema.partition
    return {
        "ItemCollectionKey": {name: item[name]},
        "SizeEstimateRangeGB": [float(gigabytes), float(gigabytes + 1)],
    }
