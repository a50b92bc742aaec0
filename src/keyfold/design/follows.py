"""What follows from a write, as data: one record for each structure that a design keeps right.

Cost, documents, permissions, checks, exports and migrations read these, and nothing else, to know
what a change of an item brings about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from keyfold.design.source import NOWHERE, Place
from keyfold.expressions.ast import Condition
from keyfold.limits import TRANSACTION_ITEMS

FactKind = Choice["copy", "amount", "claim", "need", "shown", "best", "job"]
"""What must hold because of an item: a copy of it somewhere, an amount on a holder, a value that
only it has, an item that must be there, a value shown from elsewhere, the best of many; a job is
work over many items."""

Event = Choice["INSERT", "MODIFY", "REMOVE"]
EVENTS: tuple[Event, ...] = ("INSERT", "MODIFY", "REMOVE")
COPIES_AT_ONCE = TRANSACTION_ITEMS // 2 - 1
"""The copies of one transaction of the consumer's: each may have a copy that joins."""
ITEMS_AT_ONCE = 20
"""The items that a job writes in one transaction, with a check of what they follow."""
FITS = 40
"""So many items are deleted in their parent's own transaction."""
SUPPORT_TABLE = "keyfold_streams"
"""Where consumers keep their markers, events and dead letters."""


@dataclass(frozen=True)
class Follows:
    """What a change of one entity's items brings about."""

    name: str
    """Its label, as verify shows it: `counter Group.members`."""
    kind: str
    """For words only: pointer, edge, counter, unique, orphan, cascade, copied, feed."""
    source: str
    """The entity whose change it follows."""
    target: str
    """The entity that is written or looked at; nothing for a marker."""
    fact: FactKind
    fields: tuple[str, ...] = ()
    """The source's fields whose change concerns it."""
    writes: tuple[str, ...] = ()
    """The target's fields that it writes."""
    adds: tuple[str, ...] = ()
    """Those of them that move by amounts."""
    via: tuple[tuple[str, str], ...] = ()
    """The target's key field (for a job: the source's), and the field that holds it."""
    each: str = ""
    """The source's field that lists its targets."""
    when: Condition | None = None
    sums: str = ""
    by: str = ""
    """The source's field that says which of many is the best: the largest, or the smallest."""
    smallest: bool = False
    shows: tuple[tuple[str, str], ...] = ()
    """The target's field that shows one of the best's, and that one."""
    normalise: str = ""
    creates: bool = False
    """The first count makes the target."""
    shards: int = 1
    sync: Choice["transaction", "stream", "none"] = "transaction"
    overflow: Choice["refuse", "stream"] = "refuse"
    expires: bool = False
    """The source has a time to live: what expiry leaves behind, the stream takes up."""
    on: tuple[Event, ...] = EVENTS
    found: str | None = None
    """The index by which a job finds its items; empty for the table's own key."""
    at_once: int = 1
    """The items of one step of the consumer's."""
    fits: int | None = None
    """So many of a job's items join the transaction of the source."""
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def by_stream(self) -> bool:
        """Whether a consumer of the source's table has work with it."""
        return self.sync == "stream" or (
            self.sync == "transaction" and (self.overflow == "stream" or self.expires)
        )

    @property
    def deletes(self) -> bool:
        """Whether it is a job that deletes each of its items."""
        return self.fact == "job" and self.found is not None and self.on == ("REMOVE",)

    @property
    def joins(self) -> bool:
        """Whether it joins the transaction of the change."""
        return self.sync == "transaction"
