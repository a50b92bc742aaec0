"""Self-maintaining structures: pointers, counters, edges, unique values and more."""

from keyfold.maintain.average import Average
from keyfold.maintain.cascade import Cascade
from keyfold.maintain.copied_field import Copied
from keyfold.maintain.counter import Counter
from keyfold.maintain.drift import Drift, DriftReport
from keyfold.maintain.edge import Edge, Mirror, Sharded, across_shards
from keyfold.maintain.extreme import Extreme, Latest
from keyfold.maintain.pointer import Pointer
from keyfold.maintain.rebuild import rebuild
from keyfold.maintain.repair import Repaired, plan, repair, repairing
from keyfold.maintain.shards import total
from keyfold.maintain.unique import Unique
from keyfold.maintain.verify import labels, verification, verify

__all__ = [
    "Average",
    "Cascade",
    "Copied",
    "Counter",
    "Drift",
    "DriftReport",
    "Edge",
    "Extreme",
    "Latest",
    "Mirror",
    "Pointer",
    "Repaired",
    "Sharded",
    "Unique",
    "across_shards",
    "labels",
    "plan",
    "rebuild",
    "repair",
    "repairing",
    "total",
    "verification",
    "verify",
]
