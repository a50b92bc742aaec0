"""Self-maintaining structures: pointers, counters, edges, unique values and more."""

from keyfold.maintain.average import Average as Average
from keyfold.maintain.cascade import Cascade as Cascade
from keyfold.maintain.copied_field import Copied as Copied
from keyfold.maintain.counter import Counter as Counter
from keyfold.maintain.drift import Drift as Drift
from keyfold.maintain.drift import DriftReport as DriftReport
from keyfold.maintain.edge import Edge as Edge
from keyfold.maintain.edge import Mirror as Mirror
from keyfold.maintain.edge import Sharded as Sharded
from keyfold.maintain.edge import across_shards as across_shards
from keyfold.maintain.extreme import Extreme as Extreme
from keyfold.maintain.extreme import Latest as Latest
from keyfold.maintain.pointer import Pointer as Pointer
from keyfold.maintain.rebuild import rebuild as rebuild
from keyfold.maintain.repair import Repaired as Repaired
from keyfold.maintain.repair import plan as plan
from keyfold.maintain.repair import repair as repair
from keyfold.maintain.repair import repairing as repairing
from keyfold.maintain.shards import total as total
from keyfold.maintain.unique import Unique as Unique
from keyfold.maintain.verify import labels as labels
from keyfold.maintain.verify import verification as verification
from keyfold.maintain.verify import verify as verify
