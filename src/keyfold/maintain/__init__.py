"""Secondary structures that keep themselves right: pointers, counters, edges, unique values."""

from keyfold.maintain.cascade import Cascade
from keyfold.maintain.copied import Copied
from keyfold.maintain.counter import Counter
from keyfold.maintain.edge import Edge, Mirror, Sharded, across_shards
from keyfold.maintain.pointer import Pointer
from keyfold.maintain.shards import total
from keyfold.maintain.unique import Unique

__all__ = [
    "Cascade",
    "Copied",
    "Counter",
    "Edge",
    "Mirror",
    "Pointer",
    "Sharded",
    "Unique",
    "across_shards",
    "total",
]
